package alertmanager_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// An alert is what the API takes:
// https://github.com/prometheus/alertmanager/blob/v0.33.0/api/v2/openapi.yaml
type alert struct {
	Labels, Annotations map[string]string
	StartsAt, EndsAt    time.Time
	GeneratorURL        string
}

// A fake is an Alertmanager that takes nothing that the real one refuses, in
// its version 2 API, with names of labels as before UTF-8 was allowed in them.
type fake struct {
	t   *testing.T
	url string

	mu sync.Mutex
	// broken answers in place of the fake when it is set.
	broken http.HandlerFunc
	// filter returns the status with which a filter in front of the fake refuses a body, or 0.
	filter func(body string) int
	alerts map[string]alert
	sizes  []int
	auth   string
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{t: t, alerts: map[string]alert{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken != nil {
		f.broken(w, r)
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/api/v2/alerts" || r.Header.Get("Content-Type") != "application/json" {
		f.t.Errorf("%s %s with %s", r.Method, r.URL, r.Header.Get("Content-Type"))
	}
	f.auth = r.Header.Get("Authorization")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	if f.filter != nil && f.filter(string(body)) != 0 {
		w.WriteHeader(f.filter(string(body)))
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var alerts []alert
	if err := decoder.Decode(&alerts); err != nil || alerts == nil {
		f.t.Errorf("the body is no list of alerts: %v", err)
	}
	f.sizes = append(f.sizes, len(alerts))
	for _, a := range alerts {
		if err := a.validate(); err != nil {
			f.t.Errorf("the alert %v is not valid: %v", a, err)
		}
		f.alerts[fmt.Sprint(a.Labels)] = a
	}
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// validate is alert.Validate of the real one, and what it does to be kind.
func (a *alert) validate() error {
	switch page, err := url.Parse(a.GeneratorURL); {
	case a.StartsAt.IsZero() || a.EndsAt.IsZero():
		return fmt.Errorf("from %s to %s", a.StartsAt, a.EndsAt)
	case a.EndsAt.Before(a.StartsAt):
		return fmt.Errorf("start time must be before end time")
	case a.Labels["alertname"] == "":
		return fmt.Errorf("no name")
	case err != nil || a.GeneratorURL != "" && page.Host == "":
		return fmt.Errorf("generator %q", a.GeneratorURL)
	}
	for _, set := range []map[string]string{a.Labels, a.Annotations} {
		for name, value := range set {
			if !labelName.MatchString(name) || value == "" || !utf8.ValidString(value) || len(value) > 5000 {
				return fmt.Errorf("%s=%q", name, value)
			}
		}
	}
	return nil
}

// firing lists the findings whose alerts fire at that time, sorted.
func (f *fake) firing(now time.Time) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []string
	for _, a := range f.alerts {
		if a.EndsAt.After(now) {
			ids = append(ids, a.Labels["finding"])
		}
	}
	slices.Sort(ids)
	return ids
}

// failing makes the fake answer with a status, or as it should with 0.
func (f *fake) failing(code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	if code == 0 {
		f.broken = nil
	}
}

// one returns the only alert.
func (f *fake) one() alert {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.alerts) != 1 {
		f.t.Fatalf("%d alerts, want one", len(f.alerts))
	}
	for _, a := range f.alerts {
		return a
	}
	return alert{}
}
