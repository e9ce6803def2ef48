package httpclient

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

func TestDiscreet(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, header, value string
		status                int
		said, want            string
	}{
		"a token":               {"a proxy quotes the request", "Authorization", "Token hunter2x", 403, "no Token hunter2x here", "no Token … here"},
		"a token of Proxmox":    {"the secret stands behind the last =", "Authorization", "PVEAPIToken=a@pve!b=hunter2x", 401, "bad hunter2x of a@pve!b", "bad … of a@pve!b"},
		"a password":            {"Basic is decoded", "Authorization", "Basic dTpodW50ZXIyeA==", 401, "u:hunter2x dTpodW50ZXIyeA==", "u:… …"},
		"an escaped one":        {"as a link has it", "X-Auth-Token", "hunter/2x", 500, "?token=hunter%2F2x", "?token=…"},
		"a success":             {"it is data, and not quoted", "X-Auth-Token", "hunter2x", 200, "hunter2x", "hunter2x"},
		"no credential":         {"an ordinary header", "Accept", "hunter2x", 404, "not hunter2x", "not hunter2x"},
		"too short to be one":   {"it would spoil the answer", "X-Auth-Token", "a", 404, "a page", "a page"},
		"a redirection":         {"its body is quoted, too", "Cookie", "s=hunter2x", 302, "to hunter2x", "to …"},
		"the name of a scheme":  {"it is no secret", "Authorization", "Bearer hunter2x", 401, "Bearer realm", "Bearer realm"},
		"nothing to be secret":  {"an empty header", "Authorization", "", 401, "who are you", "who are you"},
		"padding of base64":     {"nothing is behind the last =", "X-Api-Key", "aHVudGVyMg==", 401, "a=b aHVudGVyMg==", "a=b …"},
		"a header of an answer": {"Location", "Authorization", "Token hunter2x", 302, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := answers(func(r *http.Request) (*http.Response, error) {
				header := http.Header{"Location": {"/?said=" + r.Header.Get(test.header)}}
				return &http.Response{StatusCode: test.status, Header: header, Body: io.NopCloser(strings.NewReader(test.said)), Request: r}, nil
			})
			header, body := asked(t, Discreet(next), test.header, test.value)
			if body != test.want {
				t.Errorf("%s: the answer is %q, want %q", test.reason, body, test.want)
			}
			if where := header.Get("Location"); test.status != 200 && test.header == "Authorization" && strings.Contains(where, "hunter2x") {
				t.Errorf("%s: a header is %q", test.reason, where)
			}
		})
	}
}

// TestDiscreetBody checks that a login request is hidden in the answer that quotes it.
func TestDiscreetBody(t *testing.T) {
	t.Parallel()
	for reason, test := range map[string]struct{ body, answer, want string }{
		"a form":                     {"username=a%40pve&password=hunter%2F2x", "a@pve: hunter/2x, hunter%2F2x", "a@pve: …, …"},
		"a document":                 {`{"auth":{"user":{"name":"alice","password":"hunter2x"},"secrets":["hunter3x"]}}`, "alice hunter2x hunter3x", "alice … …"},
		"a document that breaks off": {`{"password":"hunter2x"`, "a page", "a page"},
	} {
		next := answers(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(test.answer)), Request: r}, nil
		})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org", strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Discreet(next).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		if err != nil || answer.Body.Close() != nil || string(got) != test.want {
			t.Errorf("%s: got %q, %v, want %q", reason, got, err, test.want)
		}
		if sent, err := io.ReadAll(r.Body); err != nil || string(sent) != test.body {
			t.Errorf("%s: the body of the request was read: %q, %v", reason, sent, err)
		}
	}
}

// TestDiscreetStatusLine holds that a status line, which may become a message, has no
// credential either.
func TestDiscreetStatusLine(t *testing.T) {
	t.Parallel()
	next := answers(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusUnauthorized, Status: "401 no ticket hunter2x", Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.org", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer hunter2x")
	answer, err := Discreet(next).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if status := NewStatus(answer, API{}); status.Line != "no ticket …" || answer.Body.Close() != nil {
		t.Errorf("the status line is %q", status.Line)
	}
}

// TestDiscreetBroken sees that an answer that breaks off still does.
func TestDiscreetBroken(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	next := answers(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusInternalServerError, Body: io.NopCloser(io.MultiReader(strings.NewReader("a"), iotest.ErrReader(broken))), Request: r}, nil
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.org", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Discreet(next).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if string(body) != "a" || !errors.Is(err, broken) {
		t.Errorf("read %q, %v", body, err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
}

func asked(t *testing.T, transport http.RoundTripper, header, value string) (http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.org", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(header, value)
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
	return answer.Header, string(body)
}
