package match

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

const lacking = "test/not-listed"

// lister returns a resource with an inventory of a commit.
func lister(id, commit string, listed ...string) model.Resource {
	r := resource(id)
	r.Kind, r.Undecided = "test/Tool.example.org", []string{"test/z"}
	r.Violations = []model.Violation{{Check: "test/z"}}
	r.Inventory = &model.Inventory{Commit: commit, Lacks: model.Violation{Check: lacking, Path: "status"}}
	for _, name := range listed {
		r.Installs = append(r.Installs, model.Ref{Kind: kind, ID: name})
	}
	return r
}

// TestInventory checks which objects a list of everything that was applied lacks.
func TestInventory(t *testing.T) {
	t.Parallel()
	by := model.Ref{Kind: "test/Tool.example.org", ID: "p/tool"}
	of := func(declaration, id string) model.Claim {
		c := claim(declaration, id)
		c.InstalledBy = by
		return c
	}
	unchecked, optional, other := of("d", "p/b"), of("d", "p/b"), of("e", "p/b")
	unchecked.Unchecked, optional.OnlyLive = "encrypted", true
	all := []model.Claim{of("d", "p/a"), of("d", "p/b"), of("d", "p/gone")}
	for reason, tc := range map[string]struct {
		lister    model.Resource
		revision  string
		claims    []model.Claim
		want      string
		undecided bool
	}{
		"lists all that is live":      {lister("p/tool", "c1", "p/a", "p/b"), "c1", all, "", false},
		"lacks one":                   {lister("p/tool", "c1", "p/a"), "c1", all, `["Thing p/b"]`, false},
		"lacks all":                   {lister("p/tool", "c1"), "c1", all, `["Thing p/a","Thing p/b"]`, false},
		"lists more":                  {lister("p/tool", "c1", "p/a", "p/b", "p/c"), "c1", all, "", false},
		"another commit":              {lister("p/tool", "c0"), "c1", all, "", true},
		"at work":                     {lister("p/tool", ""), "c1", all, "", true},
		"a folder":                    {lister("p/tool", "c1"), "", all, "", false},
		"two commits":                 {lister("p/tool", "c1"), "c1", append(slices.Clone(all), other), "", true},
		"an object that is unchecked": {lister("p/tool", "c1", "p/a"), "c1", []model.Claim{of("d", "p/a"), unchecked}, "", false},
		"an object that is optional":  {lister("p/tool", "c1", "p/a"), "c1", []model.Claim{of("d", "p/a"), optional}, "", false},
		"no claim":                    {lister("p/tool", "c1"), "c1", nil, "", false},
	} {
		s := model.Snapshot{Source: "s", Resources: []model.Resource{resource("p/a"), resource("p/b"), tc.lister}}
		d := model.Declaration{Name: "d", Governs: []string{"s"}, Revision: tc.revision}
		e := model.Declaration{Name: "e", Governs: []string{"s"}, Revision: "c9"}
		for _, c := range tc.claims {
			if c.Declaration == "e" {
				e.Claims = append(e.Claims, c)
			} else {
				d.Claims = append(d.Claims, c)
			}
		}
		subjects := Match(s, []model.Declaration{d, e})
		at := slices.IndexFunc(subjects, func(s model.Subject) bool { return s.Kind == nil && s.Key.Kind == by.Kind })
		live := subjects[at].Live
		got := ""
		for _, v := range live.Violations {
			if v.Check == lacking {
				got = v.Value.String()
			}
		}
		if got != tc.want || slices.Contains(live.Undecided, lacking) != tc.undecided || !slices.Contains(live.Undecided, "test/z") {
			t.Errorf("%s: lacks %s, undecided %q", reason, got, live.Undecided)
		}
		if len(s.Resources[2].Violations) != 1 || len(s.Resources[2].Undecided) != 1 {
			t.Errorf("%s: the snapshot was changed", reason)
		}
		if !slices.IsSortedFunc(live.Violations, func(a, b model.Violation) int { return len(b.Check) - len(a.Check) }) {
			t.Errorf("%s: the violations are not sorted", reason)
		}
	}
}

// TestLargeInventory bounds the names in a finding.
func TestLargeInventory(t *testing.T) {
	t.Parallel()
	names := make([]string, maxListed+2)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	items := namesOf(names).Items()
	if len(items) != maxListed+1 || items[maxListed].Str() != "2 more" {
		t.Errorf("got %d items, the last is %s", len(items), items[len(items)-1])
	}
	if got := len(namesOf(names[:maxListed]).Items()); got != maxListed {
		t.Errorf("got %d items", got)
	}
}

// TestLeftBehind checks for which unclaimed resources the labels explain who applied them.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	tool := lister("p/tool", "", "p/listed")
	labelled := func(id, by string) model.Resource {
		r := resource(id)
		r.Origin.AppliedBy = model.Ref{Kind: tool.Kind, ID: by}
		return r
	}
	s := model.Snapshot{Source: "s", Resources: []model.Resource{
		labelled("p/claimed", "p/tool"), labelled("p/left", "p/tool"), labelled("p/listed", "p/tool"), labelled("p/none", "p/gone"), labelled("p/other", "p/left"), tool,
	}}
	got := map[string]string{}
	for _, subject := range Match(s, []model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{claim("d", "p/claimed")}}}) {
		if subject.LeftBy != "" {
			got[subject.Key.ID] = subject.LeftBy
		}
	}
	if diff := cmp.Diff(map[string]string{"p/left": "Tool p/tool"}, got); diff != "" {
		t.Error(diff)
	}
}
