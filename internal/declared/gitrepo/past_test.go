package gitrepo_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// content returns the content of the file "a" at the commit c, or "" if it is absent.
func content(t testing.TB, c *gitrepo.LogCommit) string {
	t.Helper()
	data, err := fs.ReadFile(c.Files, "a")
	if err != nil {
		return ""
	}
	return string(data)
}

// past returns the spans of the file "a", as "content from-until branch", and the gap. Commits
// are numbers: their positions in hashes, from 1.
func past(t testing.TB, r *gitrepo.Repository, ref, revision string, hashes []string) (head string, spans []string, gap string) {
	t.Helper()
	names := map[string]string{"": "-"}
	for i, hash := range hashes {
		names[hash] = fmt.Sprint(i + 1)
	}
	head, err := r.History(t.Context(), gitrepo.Query{Ref: ref, Revision: revision, MaxFile: 1 << 20}, func(l gitrepo.Log) error {
		spans, gap = nil, l.Gap
		for _, s := range gitrepo.Spans(l, func(c *gitrepo.LogCommit) []string { return []string{content(t, c)} }) {
			spans = append(spans, strings.TrimSpace(fmt.Sprintf("%s %s-%s %s", s.State, names[s.From.Hash], names[s.Until.Hash], s.Branch)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return head, spans, gap
}

func a(content string) map[string]string { return map[string]string{"a": content} }

var other = map[string]string{"other": "x"}

func TestSpans(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		steps  []step
		refs   map[string]int
		want   []string
	}{
		"Plain": {
			"a value is replaced; before the first one the file is absent",
			[]step{{files: other}, {files: a("v")}, {files: map[string]string{"b": "1"}}, {files: a("w")}}, nil,
			[]string{"w 4--", "v 2-4", "1-2"},
		},
		"Again": {
			"a revert makes two spans of one value",
			[]step{{files: a("v")}, {files: a("w")}, {files: a("v")}, {files: a("x")}}, nil,
			[]string{"x 4--", "v 3-4", "w 2-3", "v 1-2"},
		},
		"Deleted": {
			"absence is a value",
			[]step{{files: a("v")}, {files: a("")}, {files: a("v")}}, nil,
			[]string{"v 3--", "2-3", "v 1-2"},
		},
		"Merge": {
			"a state replaced before the merge has its own span; the merged state begins at the merge",
			[]step{{files: a("v")}, {files: a("s")}, {files: a("w")}, {from: []int{1}, files: other}, {from: []int{4, 3}, files: a("w")}}, nil,
			[]string{"w 5--", "v 1-5", "s 2-3"},
		},
		"Lost in the merge": {
			"the merge replaces the state of the branch",
			[]step{{files: a("v")}, {files: a("s")}, {from: []int{1}, files: other}, {from: []int{3, 2}}}, nil,
			[]string{"v 1--", "s 2-4"},
		},
		"Replaced after the merge": {
			"a merged state belongs to the ref from the merge on",
			[]step{{files: a("v")}, {files: a("w")}, {from: []int{1}, files: other}, {from: []int{3, 2}, files: a("w")}, {files: a("z")}}, nil,
			[]string{"z 5--", "w 4-5", "v 1-4"},
		},
		"Merged twice": {
			"of two replacing commits the one nearer to the head counts",
			[]step{{files: a("v")}, {files: a("s")}, {files: a("w")}, {from: []int{1}, files: other}, {from: []int{4, 2}, files: a("v")}, {from: []int{5, 3}, files: a("v")}}, nil,
			[]string{"v 1--", "w 3-6", "s 2-5"},
		},
		"Stale branch": {
			"a branch that kept the old value until the merge does not extend its span",
			[]step{{files: a("v")}, {files: other}, {from: []int{1}, files: a("w")}, {from: []int{3, 2}}}, nil,
			[]string{"w 3--", "v 1-3"},
		},
		"Foxtrot": {
			"the former ref comes second in the merge",
			[]step{{files: a("v")}, {files: a("x")}, {files: a("y")}, {from: []int{1}, files: other}, {from: []int{4, 3}, files: a("z")}}, nil,
			[]string{"z 5--", "y 3-5", "v 1-5", "x 2-3"},
		},
		"Two roots": {
			"histories without a common commit",
			[]step{{files: a("v")}, {from: []int{}, clear: true, files: a("r")}, {from: []int{1, 2}, files: a("w")}}, nil,
			[]string{"w 3--", "v 1-3", "r 2-3"},
		},
		"Branch": {
			"a branch has spans only for states that the ref never had",
			[]step{{files: a("v")}, {files: a("b")}, {files: a("c")}, {files: a("v")}, {from: []int{1}, files: a("w")}},
			map[string]int{"heads/feature/x": 4},
			[]string{"w 5--", "v 1-5", "c 3-4 feature/x", "b 2-3 feature/x"},
		},
		"Head of a branch": {
			"a value that the branch has now was not replaced",
			[]step{{files: a("v")}, {files: a("b")}, {files: other}, {from: []int{1}, files: a("w")}},
			map[string]int{"heads/feature": 3},
			[]string{"w 4--", "v 1-4", "b 2-- feature"},
		},
		"Requests": {
			"pull and merge requests are named by their numbers",
			[]step{{files: a("v")}, {files: a("b"), at: 1_800_000_000}, {from: []int{1}, files: a("c"), at: 1_700_000_000}, {from: []int{1}, files: a("w")}},
			map[string]int{"pull/12/head": 2, "pull/12/merge": 2, "merge-requests/7/head": 3},
			[]string{"w 4--", "v 1-4", "b 2-- pull request 12", "c 3-- merge request 7"},
		},
		"No branches": {
			"tags, notes and the server's own refs are not branches",
			[]step{{files: a("v")}, {files: a("b")}, {from: []int{1}, files: a("w")}},
			map[string]int{"tags/v1": 2, "notes/x": 2, "pull/0/head": 2, "pull/x/head": 2, "pull/1/merge": 2},
			[]string{"w 3--", "v 1-3"},
		},
		"Merged branch": {
			"a branch that the ref contains has no spans",
			[]step{{files: a("v")}, {files: a("b")}, {files: a("w")}},
			map[string]int{"heads/done": 2},
			[]string{"w 3--", "b 2-3", "v 1-2"},
		},
		"Dates": {
			"dates in the future do not change the order",
			[]step{{files: a("v"), at: 9_000_000_000}, {files: a("w"), at: 1}, {files: a("x"), at: 5_000_000_000}}, nil,
			[]string{"x 3--", "w 2-3", "v 1-2"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGit(t)
			hashes := g.commit(tc.steps...)
			for ref, at := range tc.refs {
				g.run("", "update-ref", "refs/"+ref, hashes[at-1])
			}
			last := hashes[len(hashes)-1]
			for filter, where := range map[string]*gitrepo.Repository{
				"local":     local(t, g, 500),
				"no filter": open(t, gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", CacheDir: t.TempDir(), History: 500}),
				"no cache":  open(t, gitrepo.Settings{URL: newGitServer(t, g).URL + "/r.git", History: 500}),
			} {
				head, spans, gap := past(t, where, "main", last, hashes)
				if diff := cmp.Diff(tc.want, spans); diff != "" || gap != "" || head != last {
					t.Errorf("%s: %s: head %s, gap %q (-want +got):\n%s", tc.reason, filter, head, gap, diff)
				}
			}
		})
	}
}

// TestSpansCut proves that a merged branch with a truncated history does not extend a span of
// the ref.
func TestSpansCut(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(
		step{files: a("v")}, step{files: a("w")}, step{files: map[string]string{"b": "1"}},
		step{from: []int{1}, files: other}, step{from: []int{3, 4}, files: a("w")})
	want := []string{"w 2--"}
	if _, spans, gap := past(t, local(t, g, 4), "main", hashes[4], hashes); !cmp.Equal(want, spans) || gap != "history is cut at 4 commits" {
		t.Errorf("got %q, gap %q, want %q", spans, gap, want)
	}
	want = []string{"w 2--", "v 1-2"}
	if _, spans, gap := past(t, local(t, g, 5), "main", hashes[4], hashes); !cmp.Equal(want, spans) || gap != "" {
		t.Errorf("whole: got %q, gap %q, want %q", spans, gap, want)
	}
}

// TestSpansUnknown proves that a commit without a known state ends a span, and that a commit
// can have several states.
func TestSpansUnknown(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	hashes := g.commit(step{files: a("v")}, step{files: a("?")}, step{files: a("v")}, step{files: a("v w")}, step{files: a("w")})
	var got []string
	_, err := local(t, g, 10).History(t.Context(), gitrepo.Query{Ref: "main", Revision: hashes[4]}, func(l gitrepo.Log) error {
		for _, s := range gitrepo.Spans(l, func(c *gitrepo.LogCommit) []string {
			return strings.Fields(strings.ReplaceAll(content(t, c), "?", ""))
		}) {
			got = append(got, fmt.Sprintf("%s %d-%d", s.State, slices.Index(hashes, s.From.Hash)+1, slices.Index(hashes, s.Until.Hash)+1))
		}
		return nil
	})
	if want := []string{"w 4-0", "v 3-5", "v 1-2"}; err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
