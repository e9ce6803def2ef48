package backend

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestFetcherRetries(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		answers []int
		want    string
		asked   int
	}{
		"Once":    {"the common case", []int{200}, "", 1},
		"Busy":    {"a server that was busy", []int{503, 429, 200}, "", 3},
		"TooBusy": {"a server that stays busy", []int{500, 500, 500, 200}, "500 Internal Server Error", 3},
		"Denied":  {"an error that is not temporary", []int{403, 200}, "403 Forbidden", 1},
		"Broken":  {"a connection that broke", []int{0, 200}, "", 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				code := tc.answers[asked]
				asked++
				if code == 0 {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(code)
			}))
			defer server.Close()
			f, err := newFetcher("", nil)
			if err != nil {
				t.Fatal(err)
			}
			f.pause = time.Millisecond
			u, err := url.Parse(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			body, err := f.get(t.Context(), u)
			if body != nil {
				err = errors.Join(err, body.Close())
			}
			server.Close()
			if asked != tc.asked || (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: asked %d times, got %v", tc.reason, asked, err)
			}
		})
	}
}

func TestPattern(t *testing.T) {
	t.Parallel()
	cases := []struct {
		pattern pattern
		name    string
		want    bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/bc", false},
		{"a/*", "a/b", true},
		{"a/*", "a/", true},
		{"a/*", "a/b/c", false},
		{"a/**", "a/b/c", true},
		{"a/**.tfstate", "a/b/c.tfstate", true},
		{"a/**.tfstate", "a/b/c.tfstates", false},
		{"a?c", "abc", true},
		{"a?c", "a/c", false},
		{"a.*+(x)", "a.b+(x)", true},
		{"a.*", "axb", false},
		{"*", "new\nline", true},
	}
	for _, tc := range cases {
		if got := tc.pattern.match(tc.name); got != tc.want {
			t.Errorf("%s and %q: got %t, want %t", tc.pattern, tc.name, got, tc.want)
		}
		if tc.want && !strings.HasPrefix(tc.name, tc.pattern.prefix()) {
			t.Errorf("%s matches %q, but %q is not a prefix of it", tc.pattern, tc.name, tc.pattern.prefix())
		}
	}
}

func TestListBounded(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		page   func(n int) page
		want   string
	}{
		"Circle": {"a listing that repeats its token", func(int) page { return page{next: "x"} }, "repeats its page token"},
		"States": {"too many states", func(n int) page {
			return page{names: make([]string, 1000), next: fmt.Sprint(n)}
		}, "more than 10000 states"},
		"Pages": {"a listing without end", func(n int) page { return page{next: fmt.Sprint(n)} }, "more than 10000 pages"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			_, err := list("*", func(string) (page, error) {
				n++
				return tc.page(n), nil
			})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestChunksError(t *testing.T) {
	t.Parallel()
	gone, opened, closed := errors.New("gone"), 0, 0
	c := &chunks{next: func() (io.ReadCloser, error) {
		if opened++; opened == 3 {
			return nil, gone
		}
		return closer{strings.NewReader("ab"), &closed}, nil
	}}
	text, err := io.ReadAll(c)
	if string(text) != "abab" || !errors.Is(err, gone) || closed != 2 {
		t.Errorf("got %q, %v, closed %d of 2", text, err, closed)
	}
}

type closer struct {
	io.Reader
	closed *int
}

func (c closer) Close() error {
	*c.closed++
	return nil
}
