package collectortest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// repeatedPage tests a server whose lists do not end, because it responds to each page with the
// first one that it returned for the path. The collector must end and must not treat a repeated
// page as the rest of the list.
func (s Subject) repeatedPage(t *testing.T, whole model.Snapshot) {
	t.Helper()
	var mu sync.Mutex
	estate, first := s.Estate(rand.New(rand.NewPCG(1, 1))), map[string]*httptest.ResponseRecorder{}
	got, err := s.collect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		key := r.Method + " " + r.URL.Path
		if first[key] == nil {
			first[key] = httptest.NewRecorder()
			estate.ServeHTTP(first[key], r)
		}
		maps.Copy(w.Header(), first[key].Header())
		w.WriteHeader(first[key].Code)
		_, _ = w.Write(first[key].Body.Bytes())
	}), testTimeout)
	checkCoverage(t, whole, got, err)
}

// quotedCredentials tests a server that denies access and quotes the credentials of the request in
// its response, at all paths and then at each path alone. Neither the error nor the snapshot may
// contain them.
func (s Subject) quotedCredentials(t *testing.T, whole healthyRun) {
	t.Helper()
	for _, at := range append([]string{""}, whole.paths...) {
		var mu sync.Mutex
		var quoted []string
		estate := s.Estate(rand.New(rand.NewPCG(1, 1)))
		got, err := s.collect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if at != "" && r.URL.Path != at {
				estate.ServeHTTP(w, r)
				return
			}
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			quotes := quote(credentials(r.Header, body))
			mu.Lock()
			quoted = append(quoted, quotes...)
			mu.Unlock()
			own := httptest.NewRecorder()
			estate.ServeHTTP(own, r)
			deny(t, w, strings.HasPrefix(own.Body.String(), "<"), "denied: "+strings.Join(quotes, " "))
		}), testTimeout)
		checkCoverage(t, whole.snapshot, got, err)
		shown := fmt.Sprintf("%v %+v", err, got)
		for _, q := range quoted {
			if strings.Contains(shown, q) {
				t.Errorf("the answer at path %q quotes a credential, and so does the result of Collect(): %s", at, q)
			}
		}
	}
}

// quote puts each text in guillemets: a short credential may be part of another word.
func quote(texts []string) []string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = "«" + text + "»"
	}
	return quoted
}

// credentials returns the secrets in the header and the body of a request, without the signature of
// the request.
func credentials(header http.Header, body []byte) []string {
	var found []string
	for _, name := range []string{"Authorization", "X-Auth-Token", "X-Subject-Token", "X-Amz-Security-Token", "Cookie"} {
		value := header.Get(name)
		if value == "" || strings.HasPrefix(value, "AWS4-") {
			continue
		}
		found = append(found, value)
		last := value[strings.LastIndexAny(value, " =")+1:]
		found = append(found, last)
		if plain, err := base64.StdEncoding.DecodeString(last); err == nil {
			_, password, _ := strings.Cut(string(plain), ":")
			found = append(found, password)
		}
	}
	if form, err := url.ParseQuery(string(body)); err == nil {
		found = append(found, form.Get("password"))
	}
	var document any
	if json.Unmarshal(body, &document) == nil {
		found = append(found, secretsIn(document)...)
	}
	return slices.DeleteFunc(found, func(s string) bool { return s == "" })
}

// secretsIn returns the values of the keys password and secret in a JSON document.
func secretsIn(document any) []string {
	var found []string
	switch node := document.(type) {
	case []any:
		for _, v := range node {
			found = append(found, secretsIn(v)...)
		}
	case map[string]any:
		for name, v := range node {
			if text, ok := v.(string); ok && (name == "password" || name == "secret") {
				found = append(found, text)
			}
			found = append(found, secretsIn(v)...)
		}
	}
	return found
}

// deny responds with an error in the formats of the systems that driftd reads: one XML document, or
// one JSON document with every field that may contain a reason.
func deny(t *testing.T, w http.ResponseWriter, asXML bool, reason string) {
	t.Helper()
	if asXML {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		_ = xml.NewEncoder(w).Encode(struct {
			XMLName xml.Name `xml:"Error"`
			Code    string
			Message string
		}{Code: "AccessDenied", Message: reason})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	type status struct {
		Code    int    `json:"code"`
		Title   string `json:"title"`
		Message string `json:"message"`
	}
	body, err := json.Marshal(struct {
		Message string            `json:"message"`
		Detail  string            `json:"detail"`
		Reason  string            `json:"reason"`
		Errors  map[string]string `json:"errors"`
		Error   status            `json:"error"`
	}{reason, reason, reason, map[string]string{"field": reason}, status{http.StatusForbidden, "Forbidden", reason}})
	if err != nil {
		t.Error(err)
	}
	// The client may have closed the connection.
	_, _ = w.Write(body)
}
