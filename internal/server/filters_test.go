package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/filter"
)

// TestFilterLists verifies that values that are separated by commas are those of repeated parameters.
func TestFilterLists(t *testing.T) {
	t.Parallel()
	h := rich(t).Handler()
	kinds := map[string]bool{}
	found := func(query string) []string {
		t.Helper()
		var list Outlines
		status, body := get(t, h, http.MethodGet, "/api/v1/outlines?hidden=true&resolved=true"+query)
		if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
			t.Fatalf("%s = %d %s: %v", query, status, body, err)
		}
		var ids []string
		for _, o := range list.Outlines {
			ids, kinds[o.Kind] = append(ids, o.ID), true
		}
		return ids
	}
	found("")
	two := slices.Sorted(func(yield func(string) bool) {
		for kind := range kinds {
			if !yield(kind) {
				return
			}
		}
	})[:2]
	repeated := found("&kind=" + two[0] + "&kind=" + two[1])
	if diff := cmp.Diff(repeated, found("&kind="+strings.Join(two, ","))); diff != "" || len(repeated) == 0 {
		t.Errorf("%d findings (-repeated +with a comma):\n%s", len(repeated), diff)
	}
	if got := found("&kind=" + url.QueryEscape(two[0]+`\,`+two[1])); len(got) > 0 {
		t.Errorf("one value with a comma selects %q", got)
	}
}

func TestFilterBounds(t *testing.T) {
	t.Parallel()
	h := rich(t).Handler()
	for name, tc := range map[string]struct{ reason, query, want string }{
		"empty":         {"an empty pattern matches everything", "kind=", "a filter has an empty value"},
		"empty part":    {"a list may end with a comma", "owner=a,", "a filter has an empty value"},
		"many":          {"each is compared with all findings", "resource=" + strings.Repeat("a,", filter.MaxPatterns) + "a", "the filters have 101 values"},
		"many sources":  {"each is compared with all findings", "source=" + strings.Repeat("a,", filter.MaxPatterns) + "a", "the filters have 101 values"},
		"long":          {"it is compared with all findings", "actor=" + strings.Repeat("a", filter.MaxPattern+1), "is longer than 512"},
		"bytes of many": {"a header is bounded", "actor=" + strings.Repeat(strings.Repeat("a", filter.MaxPattern)+",", 13) + "a", "encoded bytes"},
	} {
		for _, page := range []string{"findings", "outlines"} {
			if status, body := get(t, h, http.MethodGet, "/api/v1/"+page+"?"+tc.query); status != http.StatusBadRequest || !strings.Contains(body, tc.want) {
				t.Errorf("%s: %s: got %d %s, want %q", name, tc.reason, status, body, tc.want)
			}
		}
	}
}

// TestFilterEnds verifies that a filter does not go on for a client that does not wait.
func TestFilterEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := rich(t).selectedOutlines(ctx, selection{hidden: true, filter: filter.Filter{Owners: []string{"a"}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestLargestFilterIsServed verifies that the header of a request has room for the largest filter.
func TestLargestFilterIsServed(t *testing.T) {
	t.Parallel()
	q := Query{Filter: filter.Filter{}}
	for i := range filter.MaxPatterns {
		q.Resources = append(q.Resources, fmt.Sprintf("%02d%s", i, strings.Repeat("ä", 9)))
	}
	q.Sources = q.Resources
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	if n := len(q.values().Encode()); n > maxHeaderBytes-1024 {
		t.Errorf("%d bytes of at most %d", n, maxHeaderBytes)
	}
}

func TestJoinablePatternsAreSplitAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		patterns := rapid.SliceOfN(rapid.StringMatching(`([a,*\[\]]|\\[a,\\*])*`), 1, 4).Draw(t, "patterns")
		var joined []string
		for _, p := range patterns {
			joined = append(joined, joinable(p))
		}
		var want []string
		for _, p := range patterns {
			want = append(want, withoutEscapedCommas(p))
		}
		if diff := cmp.Diff(want, splitList(strings.Join(joined, ","))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// withoutEscapedCommas returns an equal pattern without backslashes before commas.
func withoutEscapedCommas(p string) string {
	var parts []string
	for _, part := range strings.Split(p, `\\`) {
		parts = append(parts, strings.ReplaceAll(part, `\,`, ","))
	}
	return strings.Join(parts, `\\`)
}

// TestDaemonOfAnotherVersion verifies that a page that the daemon does not have yet leads to its restart.
func TestDaemonOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, status, want string }{
		"older":    {"it has a status", `{"version":"0.4.0"}`, "the running daemon is version 0.4.0 of driftd and does not support this command (outlines): restart it"},
		"very old": {"it may have none", "", "the running daemon is another version of driftd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mux := http.NewServeMux()
			if tc.status != "" {
				mux.HandleFunc("GET /api/v1/status", func(w http.ResponseWriter, _ *http.Request) {
					if _, err := w.Write([]byte(tc.status)); err != nil {
						t.Error(err)
					}
				})
			}
			mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNotFound)
				if _, err := w.Write([]byte(`{"error":"page not found","hint":"see /metrics"}`)); err != nil {
					t.Error(err)
				}
			})
			if _, err := client(mux).Outlines(t.Context(), Query{}); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
