package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// targets returns pages that respond with the secrets of the fixture removed.
func targets() []string {
	return []string{
		"/api/v1/report",
		"/api/v1/report?source=edge&hidden=true",
		"/api/v1/findings?verdict=changed,missing&resolved=true&hidden=true",
		"/api/v1/findings?since=90m&source=prod&source=edge",
		"/api/v1/findings/f00d01",
		"/api/v1/history?key=Deployment.apps/shop/web",
		"/api/v1/history?key=prod/kubernetes/ConfigMap/shop/web",
		"/api/v1/history?key=Service/shop/web",
		"/api/v1/diff?from=90m&to=now",
		"/api/v1/diff?source=edge&from=2026-03-01T10:30:00Z",
		"/api/v1/runs?limit=1",
		"/api/v1/status",
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	h := api(t).Handler()
	var all strings.Builder
	for _, target := range targets() {
		status, body := get(t, h, http.MethodGet, target)
		var indented bytes.Buffer
		if err := json.Indent(&indented, []byte(body), "", " "); err != nil {
			t.Fatalf("GET %s: %v: %s", target, err, body)
		}
		fmt.Fprintf(&all, "GET %s\n%d\n%s\n", target, status, indented.String())
	}
	size := regexp.MustCompile(`"store_bytes": \d+`)
	golden(t, "answers.golden", size.ReplaceAllString(all.String(), `"store_bytes": 0`))
}

func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	a := api(t)
	digests := []string{sealer().Seal("hunter2").Text(), sealer().Seal("hunter3").Text()}
	a.Scanner = scanner(func(context.Context, []string) (model.Report, error) {
		findings, err := a.Store.Findings(store.Filter{})
		return model.Report{Findings: findings}, err
	})
	h := a.Handler()
	check := func(method, target string) {
		status, body := get(t, h, method, target)
		if status != http.StatusOK {
			t.Errorf("%s %s = %d: %s", method, target, status, body)
		}
		for _, digest := range digests {
			if strings.Contains(body, digest) {
				t.Errorf("%s %s shows the digest of a secret", method, target)
			}
		}
		if strings.Contains(body, "u0000secret") {
			t.Errorf("%s %s shows the mark of a secret", method, target)
		}
	}
	for _, target := range targets() {
		check(http.MethodGet, target)
	}
	check(http.MethodPost, "/api/v1/scan")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	full, empty := api(t), api(t)
	empty.Store = emptyStore(t)
	tests := map[string]struct {
		reason  string
		handler http.Handler
		method  string
		target  string
		status  int
		message string
	}{
		"no scan yet":       {reason: "an empty store has no report", handler: empty.Handler(), target: "/api/v1/report", status: 404, message: "nothing has been scanned yet"},
		"unknown parameter": {reason: "a typo is not ignored", handler: full.Handler(), target: "/api/v1/report?snce=1h", status: 400, message: `unknown parameter "snce"`},
		"no parameters":     {reason: "some pages have none", handler: full.Handler(), target: "/api/v1/status?x=1", status: 400, message: `unknown parameter "x"`},
		"bad encoding":      {reason: "a query may be malformed", handler: full.Handler(), target: "/api/v1/report?since=%zz", status: 400, message: "the query is malformed"},
		"bad since":         {reason: "a time in no known form", handler: full.Handler(), target: "/api/v1/report?since=soon", status: 400, message: `since: time "soon"`},
		"bad verdict":       {reason: "verdicts are a closed list", handler: full.Handler(), target: "/api/v1/findings?verdict=bad", status: 400, message: `unknown verdict "bad"`},
		"bad flag":          {reason: "yes is no boolean", handler: full.Handler(), target: "/api/v1/findings?resolved=yes", status: 400, message: `resolved="yes"`},
		"bad limit":         {reason: "an answer is bounded", handler: full.Handler(), target: "/api/v1/runs?limit=1001", status: 400, message: `limit="1001"`},
		"unknown source":    {reason: "an empty answer to a typo looks like good news", handler: full.Handler(), target: "/api/v1/report?source=prd", status: 404, message: `unknown source "prd"`},
		"unmatched sources": {reason: "so does one to a pattern", handler: full.Handler(), target: "/api/v1/report?source=prod,x*", status: 404, message: `unknown source "x*"`},
		"unknown diff":      {reason: "so does an empty difference", handler: full.Handler(), target: "/api/v1/diff?source=prd", status: 404, message: `unknown source "prd"`},
		"after all years":   {reason: "no answer could be written", handler: full.Handler(), target: "/api/v1/diff?to=9999-12-31T23:59:59-23:59", status: 400, message: "not in the years 1 to 9999"},
		"before all years":  {reason: "no answer could be written", handler: full.Handler(), target: "/api/v1/diff?from=0000-12-31", status: 400, message: "not in the years 1 to 9999"},
		"backwards":         {reason: "time has a direction", handler: full.Handler(), target: "/api/v1/diff?from=now&to=1h", status: 400, message: "from is after to"},
		"unknown finding":   {reason: "an id may be wrong", handler: full.Handler(), target: "/api/v1/findings/dead", status: 404, message: "not found"},
		"ambiguous finding": {reason: "an id may be too short", handler: full.Handler(), target: "/api/v1/findings/f00d", status: 409, message: "f00d01, f00d02"},
		"no key":            {reason: "a history is of something", handler: full.Handler(), target: "/api/v1/history", status: 400, message: "no key"},
		"unknown key":       {reason: "a key may be wrong", handler: full.Handler(), target: "/api/v1/history?key=Pod/x", status: 404, message: `no resource matches "Pod/x"`},
		"ambiguous key":     {reason: "a key may be too short", handler: full.Handler(), target: "/api/v1/history?key=ConfigMap/shop/web", status: 409, message: `"edge/kubernetes/ConfigMap/shop/web","prod/kubernetes/ConfigMap/shop/web"`},
		"no page":           {reason: "a page may be wrong", handler: full.Handler(), target: "/api/v2/report", status: 404, message: "page not found"},
		"no metrics":        {reason: "a command has no metrics", handler: full.Handler(), target: "/metrics", status: 404, message: "page not found"},
		"no daemon":         {reason: "no daemon can scan", handler: full.Handler(), method: http.MethodPost, target: "/api/v1/scan", status: 503, message: "no daemon runs here"},
		"scan over TCP":     {reason: "TCP is for reading", handler: viewed(t, full), method: http.MethodPost, target: "/api/v1/scan", status: 403, message: "needs the role operator"},
		"scan by link":      {reason: "a link starts no scan", handler: full.Handler(), target: "/api/v1/scan", status: 405, message: "use POST"},
		"write":             {reason: "nothing is written by HTTP", handler: full.Handler(), method: http.MethodDelete, target: "/api/v1/findings/f00d01", status: 405, message: "use GET"},
		"write nowhere":     {reason: "what is not there takes nothing", handler: full.Handler(), method: http.MethodPost, target: "/api/v1/nothing", status: 404, message: "page not found"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method := http.MethodGet
			if tt.method != "" {
				method = tt.method
			}
			status, body := get(t, tt.handler, method, tt.target)
			var e Error
			if err := json.Unmarshal([]byte(body), &e); err != nil || e.Message == "" {
				t.Fatalf("%s: %s %s = %d, no JSON error: %s", tt.reason, method, tt.target, status, body)
			}
			if status != tt.status || !strings.Contains(body, tt.message) && !strings.Contains(e.Message, tt.message) {
				t.Errorf("%s: %s %s = %d %s; want %d %s", tt.reason, method, tt.target, status, body, tt.status, tt.message)
			}
		})
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	a := api(t)
	var asked []string
	a.Scanner = scanner(func(_ context.Context, sources []string) (model.Report, error) {
		asked = sources
		if len(sources) == 1 {
			return model.Report{}, &Error{Status: http.StatusNotFound, Message: "unknown source", Hint: "want prod or edge"}
		}
		return model.Report{Version: 1}, nil
	})
	h := a.Handler()
	status, body := get(t, h, http.MethodPost, "/api/v1/scan?source=prod,edge")
	if status != http.StatusOK || strings.Join(asked, " ") != "prod edge" || strings.Contains(body, "null") {
		t.Errorf("scan = %d of %v: %s", status, asked, body)
	}
	if status, body = get(t, h, http.MethodPost, "/api/v1/scan?source=foo"); status != http.StatusNotFound {
		t.Errorf("scan of an unknown source = %d: %s", status, body)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	a := api(t)
	waiting := []string{"source prod: not scanned yet"}
	a.Waiting = func() []string { return waiting }
	a.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := io.WriteString(w, "driftd_findings 1\n"); err != nil {
			t.Error(err)
		}
	})
	h := viewed(t, a)
	check := func(target string, wantStatus int, want string) {
		if status, body := get(t, h, http.MethodGet, target); status != wantStatus || body != want {
			t.Errorf("GET %s = %d %q, want %d %q", target, status, body, wantStatus, want)
		}
	}
	check("/healthz", 200, "ok\n")
	check("/readyz", 503, "waiting for:\nsource prod: not scanned yet\n")
	check("/metrics", 200, "driftd_findings 1\n")
	waiting = nil
	check("/readyz", 200, "ready\n")
}

func TestPanicIsRecovered(t *testing.T) {
	t.Parallel()
	a := api(t)
	a.Compare = func(model.Key, model.Value, model.Value) []model.Change { panic("hunter2") }
	h := a.Handler()
	if status, body := get(t, h, http.MethodGet, "/api/v1/diff?from=90m"); status != 500 || strings.Contains(body, "hunter2") {
		t.Errorf("diff = %d %s", status, body)
	}
	if status, _ := get(t, h, http.MethodGet, "/healthz"); status != 200 {
		t.Errorf("healthz = %d after a panic", status)
	}
}

func TestAbortedResponse(t *testing.T) {
	t.Parallel()
	a := api(t)
	a.Metrics = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("panic = %v, want net/http's own", err)
		}
	}()
	get(t, a.Handler(), http.MethodGet, "/metrics")
}

func TestRequestsInFlightAreBounded(t *testing.T) {
	t.Parallel()
	a := api(t)
	var entered, group sync.WaitGroup
	release := make(chan struct{})
	a.Scanner = scanner(func(context.Context, []string) (model.Report, error) {
		entered.Done()
		<-release
		return model.Report{}, nil
	})
	h := a.Handler()
	entered.Add(maxInFlight)
	for range maxInFlight {
		group.Go(func() { get(t, h, http.MethodPost, "/api/v1/scan") })
	}
	entered.Wait()
	if status, body := get(t, h, http.MethodGet, "/healthz"); status != http.StatusServiceUnavailable {
		t.Errorf("one too many = %d %s", status, body)
	}
	close(release)
	group.Wait()
	if status, _ := get(t, h, http.MethodGet, "/healthz"); status != http.StatusOK {
		t.Errorf("healthz = %d afterwards", status)
	}
}

func TestClosedStoreIsAnError(t *testing.T) {
	t.Parallel()
	a := api(t)
	s := emptyStore(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	a.Store = s
	for _, target := range targets() {
		if status, body := get(t, a.Handler(), http.MethodGet, target); status != http.StatusInternalServerError {
			t.Errorf("GET %s of a closed store = %d %s", target, status, body)
		}
	}
}

func FuzzAPI(f *testing.F) {
	for _, target := range targets() {
		f.Add(target)
	}
	f.Add("/api/v1/history?key=%00")
	a := API{Store: emptyStore(f), Compare: compare, Now: now, Log: quiet()}
	f.Fuzz(func(t *testing.T, target string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/"+strings.TrimPrefix(target, "/"), http.NoBody)
		if err != nil {
			return // no client could request it
		}
		answer, err := InProcess(a.Handler()).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if body := read(t, answer); answer.StatusCode >= 500 {
			t.Errorf("GET %s = %d %s", target, answer.StatusCode, body)
		}
	})
}
