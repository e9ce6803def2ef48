package match

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// part is an unreadable part that may declare only extents.
func part(extents ...model.Extent) model.Problem {
	return model.Problem{Address: "part", Reason: "broken", Bounded: true, Extents: extents}
}

// unknownPart returns an unreadable part that may declare anything.
func unknownPart() model.Problem { return model.Problem{Address: "part", Reason: "broken"} }

// places returns scopes that govern places.
func places(names ...string) []model.Scope {
	var scopes []model.Scope
	for _, name := range names {
		scopes = append(scopes, model.Scope{Place: name})
	}
	return scopes
}

// judged returns a word for each subject by ID: "silent d" if d should declare it, "held d
// part" or, if it is not counted, "doubted d part" for an unreadable part, or "older d".
func judged(subjects []model.Subject) map[string]string {
	got := map[string]string{}
	for i := range subjects {
		s := &subjects[i]
		switch u := s.Unjudged; {
		case u == nil && s.UndeclaredBy == nil:
		case u == nil:
			got[s.ID] = fmt.Sprint("silent ", s.UndeclaredBy)
		case u.Older && u.Expected:
			got[s.ID] = "older " + u.Declaration
		case u.Expected:
			got[s.ID] = "held " + u.Declaration + " " + u.Address
		default:
			got[s.ID] = "doubted " + u.Declaration + " " + u.Address
		}
	}
	return got
}

// TestUnreadablePartWithholdsJudgement checks the undeclared objects p/a and q/a of one kind,
// and p/b of another, where d governs p and e governs q.
func TestUnreadablePartWithholdsJudgement(t *testing.T) {
	t.Parallel()
	other := resource("p/b")
	other.Kind = "test/Other.group"
	const silentD, silentE = "silent [[d]]", "silent [[e]]"
	for reason, tc := range map[string]struct {
		d, e []model.Problem
		want map[string]string
	}{
		"nothing is broken": {nil, nil, map[string]string{"p/a": silentD, "p/b": silentD, "q/a": silentE}},
		"a part that may declare anything its declaration governs": {[]model.Problem{unknownPart()}, nil,
			map[string]string{"p/a": "held d part", "p/b": "held d part", "q/a": silentE}},
		"a part that declares nothing": {[]model.Problem{part()}, nil,
			map[string]string{"p/a": silentD, "p/b": silentD, "q/a": silentE}},
		"a part with a place": {[]model.Problem{part(model.Extent{Place: "p"})}, nil,
			map[string]string{"p/a": "held d part", "p/b": "held d part", "q/a": silentE}},
		"a part with a place that another declaration governs": {[]model.Problem{part(model.Extent{Place: "q"})}, nil,
			map[string]string{"p/a": silentD, "p/b": silentD, "q/a": "held d part"}},
		"a part with a kind": {[]model.Problem{part(model.Extent{Kind: kind})}, nil,
			map[string]string{"p/a": "held d part", "p/b": silentD, "q/a": silentE}},
		"a part with a kind of any group": {[]model.Problem{part(model.Extent{Kind: "test/Other.*"})}, nil,
			map[string]string{"p/a": silentD, "p/b": "held d part", "q/a": silentE}},
		"a part with the beginning of a kind": {[]model.Problem{part(model.Extent{Kind: "test/Oth.*"})}, nil,
			map[string]string{"p/a": silentD, "p/b": silentD, "q/a": silentE}},
		"a part with kind and place": {[]model.Problem{part(model.Extent{Kind: kind, Place: "p"})}, nil,
			map[string]string{"p/a": "held d part", "p/b": silentD, "q/a": silentE}},
		"a part with a name": {[]model.Problem{part(model.Extent{Name: "b"})}, nil,
			map[string]string{"p/a": silentD, "p/b": "held d part", "q/a": silentE}},
		"a part with placeless objects": {[]model.Problem{part(model.Extent{Placeless: true})}, nil,
			map[string]string{"p/a": silentD, "p/b": silentD, "q/a": silentE}},
		"both are broken": {[]model.Problem{part(model.Extent{Name: "b"})}, []model.Problem{unknownPart()},
			map[string]string{"p/a": silentD, "p/b": "held d part", "q/a": "held e part"}},
		"the second of two parts": {[]model.Problem{part(), part(model.Extent{Kind: kind})}, nil,
			map[string]string{"p/a": "held d part", "p/b": silentD, "q/a": silentE}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("p/a"), other, resource("q/a")}}
			declarations := []model.Declaration{
				{Name: "d", Governs: []string{"s"}, Scopes: places("p"), Problems: tc.d},
				{Name: "e", Governs: []string{"s"}, Scopes: places("q"), Problems: tc.e},
			}
			if diff := cmp.Diff(tc.want, judged(Match(snapshot, declarations))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPartOfDeclarationWithoutScopes checks that an unreadable part of a declaration without
// scopes may declare objects in places that others govern.
func TestPartOfDeclarationWithoutScopes(t *testing.T) {
	t.Parallel()
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("p/a")}}
	declarations := []model.Declaration{
		{Name: "d", Governs: []string{"s"}, Scopes: places("p")},
		{Name: "e", Governs: []string{"s"}, Problems: []model.Problem{unknownPart()}},
	}
	want := map[string]string{"p/a": "held e part"}
	if diff := cmp.Diff(want, judged(Match(snapshot, declarations))); diff != "" {
		t.Error(diff)
	}
}

// TestUngovernedPlace checks that an object in a place that no declaration governs is not
// judged and not counted if an unreadable part may govern the place.
func TestUngovernedPlace(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		problem model.Problem
		want    map[string]string
	}{
		"it may declare anything": {unknownPart(), map[string]string{"q/a": "doubted d part"}},
		"it may declare its kind": {part(model.Extent{Kind: kind}), map[string]string{"q/a": "doubted d part"}},
		"it cannot declare it":    {part(model.Extent{Place: "p"}), map[string]string{}},
	} {
		snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("q/a")}}
		d := model.Declaration{Name: "d", Governs: []string{"s"}, Scopes: places("p"), Problems: []model.Problem{tc.problem}}
		if diff := cmp.Diff(tc.want, judged(Match(snapshot, []model.Declaration{d}))); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", reason, diff)
		}
	}
}

// TestClaimOutweighsUnreadablePart checks that a claimed object is judged although a part could
// not be read.
func TestClaimOutweighsUnreadablePart(t *testing.T) {
	t.Parallel()
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("p/a")}}
	d := model.Declaration{Name: "d", Governs: []string{"s"}, Scopes: places("p"), Claims: []model.Claim{claim("d", "p/a")}, Problems: []model.Problem{unknownPart()}}
	if got := judged(Match(snapshot, []model.Declaration{d})); len(got) > 0 {
		t.Errorf("got %v of what is declared", got)
	}
}

var firstLook = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// watchedAt returns a watched resource that was created some seconds after the first look.
func watchedAt(id string, seconds int) model.Resource {
	r := resource(id)
	r.Watched, r.Created = "it is dangerous", firstLook.Add(time.Duration(seconds)*time.Second)
	return r
}

// TestWatchedOutside checks one watched resource q/a in a place that no declaration governs,
// unless the test case has one that does.
func TestWatchedOutside(t *testing.T) {
	t.Parallel()
	whole := []model.FirstRead{{Source: "s", Scope: model.Scope{Kind: kind}, Newest: firstLook}}
	unwatched, automatic, unborn := watchedAt("q/a", 1), watchedAt("q/a", 1), watchedAt("q/a", 1)
	unwatched.Watched, automatic.SystemOwned, unborn.Created = "", "owned", time.Time{}
	d := model.Declaration{Name: "d", Governs: []string{"s"}, Scopes: places("p"), Watches: true}
	blind, governs, broken, named, far := d, d, d, d, d
	blind.Watches, governs.Scopes, far.Governs = false, places("q"), []string{"other"}
	broken.Problems, named.Problems = []model.Problem{unknownPart()}, []model.Problem{part(model.Extent{Place: "p"})}
	for reason, tc := range map[string]struct {
		resource    model.Resource
		first       []model.FirstRead
		declaration model.Declaration
		want        string
	}{
		"newer than the first look":               {watchedAt("q/a", 1), whole, d, "silent [[d]]"},
		"the newest that the first look saw":      {watchedAt("q/a", 0), whole, d, "older "},
		"older":                                   {watchedAt("q/a", -1), whole, d, "older "},
		"there was no first look":                 {watchedAt("q/a", 1), nil, d, "older "},
		"unknown creation time":                   {unborn, whole, d, "older "},
		"not watched":                             {unwatched, whole, d, ""},
		"made by the system":                      {automatic, whole, d, "silent [[d]]"},
		"no declaration watches":                  {watchedAt("q/a", 1), whole, blind, ""},
		"no declaration watches, and it is older": {watchedAt("q/a", -1), whole, blind, ""},
		"the declaration governs another source":  {watchedAt("q/a", 1), whole, far, ""},
		"it is governed anyway":                   {watchedAt("q/a", -1), whole, governs, "silent [[d]]"},
		"a part may declare it":                   {watchedAt("q/a", 1), whole, broken, "held d part"},
		"a part may declare it, and it is older":  {watchedAt("q/a", -1), whole, broken, "older d"},
		"a part declares elsewhere":               {watchedAt("q/a", 1), whole, named, "silent [[d]]"},
		"a first look at its place": {watchedAt("q/a", 1),
			[]model.FirstRead{{Scope: model.Scope{Kind: kind, Place: "q"}, Newest: firstLook}}, d, "silent [[d]]"},
		"the look at its place counts before that at the whole": {watchedAt("q/a", 1),
			append([]model.FirstRead{{Scope: model.Scope{Kind: kind}, Newest: firstLook.Add(time.Hour)}},
				model.FirstRead{Scope: model.Scope{Kind: kind, Place: "q"}, Newest: firstLook}), d, "silent [[d]]"},
		"a first look at another place": {watchedAt("q/a", 1),
			[]model.FirstRead{{Scope: model.Scope{Kind: kind, Place: "r"}, Newest: firstLook}}, d, "older "},
		"a first look at another kind": {watchedAt("q/a", 1),
			[]model.FirstRead{{Scope: model.Scope{Kind: "test/Other"}, Newest: firstLook}}, d, "older "},
		"a first look that saw nothing": {watchedAt("q/a", -1), []model.FirstRead{{Scope: model.Scope{Kind: kind}}}, d, "silent [[d]]"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{tc.resource}, FirstReads: tc.first}
			subjects := Match(snapshot, []model.Declaration{tc.declaration})
			if got := judged(subjects)["q/a"]; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			outside := tc.want == "silent [[d]]" && tc.declaration.Scopes[0].Place == "p"
			if said := subjects[0].Outside != ""; said != outside {
				t.Errorf("outside: %q, want it said: %t", subjects[0].Outside, outside)
			}
		})
	}
}

func TestFirstLooks(t *testing.T) {
	t.Parallel()
	kinds := map[string]*model.Kind{kind: {Name: kind, Watched: true}, "test/Plain": {Name: "test/Plain"}}
	whole := model.Coverage{Source: "s", Kind: kind, Complete: true}
	inP := model.Coverage{Source: "s", Kind: kind, Place: "p", Complete: true}
	refused := model.Coverage{Source: "s", Kind: kind, Reason: "forbidden"}
	look := func(place string, seconds int) model.FirstRead {
		f := model.FirstRead{Source: "s", Scope: model.Scope{Kind: kind, Place: place}}
		if seconds >= 0 {
			f.Newest = firstLook.Add(time.Duration(seconds) * time.Second)
		}
		return f
	}
	for reason, tc := range map[string]struct {
		coverage []model.Coverage
		known    []model.FirstRead
		want     []model.FirstRead
	}{
		"the whole kind":               {[]model.Coverage{whole}, nil, []model.FirstRead{look("", 3)}},
		"everything":                   {[]model.Coverage{{Source: "s", Complete: true}}, nil, []model.FirstRead{look("", 3)}},
		"the whole kind and a place":   {[]model.Coverage{inP, whole}, nil, []model.FirstRead{look("", 3)}},
		"one place":                    {[]model.Coverage{inP, refused}, nil, []model.FirstRead{look("p", 2)}},
		"an empty place":               {[]model.Coverage{{Source: "s", Kind: kind, Place: "r", Complete: true}, refused}, nil, []model.FirstRead{look("r", -1)}},
		"nothing":                      {[]model.Coverage{refused}, nil, []model.FirstRead{}},
		"nothing in a place":           {[]model.Coverage{{Source: "s", Kind: kind, Place: "p"}, refused}, nil, []model.FirstRead{}},
		"known":                        {[]model.Coverage{whole}, []model.FirstRead{look("", 0)}, []model.FirstRead{}},
		"known, and now a place":       {[]model.Coverage{inP, refused}, []model.FirstRead{look("", 0)}, []model.FirstRead{}},
		"a place is known, now all":    {[]model.Coverage{whole}, []model.FirstRead{look("p", 0)}, []model.FirstRead{look("", 3)}},
		"a place is known, one is new": {[]model.Coverage{inP, {Source: "s", Kind: kind, Place: "q", Complete: true}, refused}, []model.FirstRead{look("p", 0)}, []model.FirstRead{look("q", 3)}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := model.Snapshot{Source: "s", Kinds: kinds, Coverage: tc.coverage,
				Resources: []model.Resource{watchedAt("p/a", 1), watchedAt("p/b", 2), watchedAt("q/a", 3)}}
			if diff := cmp.Diff(tc.want, FirstLooks(&s, tc.known)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFirstLooksOfSeveralKinds has two kinds that can be watched; each of two places was read
// for one of them only.
func TestFirstLooksOfSeveralKinds(t *testing.T) {
	t.Parallel()
	const second, third = "test/Second", "test/Third"
	kinds := map[string]*model.Kind{third: {Name: third, Watched: true}, second: {Name: second, Watched: true}}
	thing := func(kind, id string, seconds int) model.Resource {
		r := watchedAt(id, seconds)
		r.Kind = kind
		return r
	}
	s := model.Snapshot{Source: "s", Kinds: kinds, Coverage: []model.Coverage{
		{Source: "s", Kind: second, Place: "q", Complete: true}, {Source: "s", Kind: second, Place: "p", Complete: true}, {Source: "s", Kind: third, Place: "r", Complete: true}},
		Resources: []model.Resource{thing(second, "p/a", 9), thing(second, "p/b", 2), thing(third, "r/a", 3), thing(third, "r/b", 4)}}
	look := func(kind, place string, seconds int) model.FirstRead {
		f := model.FirstRead{Source: "s", Scope: model.Scope{Kind: kind, Place: place}}
		if seconds > 0 {
			f.Newest = firstLook.Add(time.Duration(seconds) * time.Second)
		}
		return f
	}
	want := []model.FirstRead{look(second, "p", 9), look(second, "q", 0), look(third, "r", 4)}
	if diff := cmp.Diff(want, FirstLooks(&s, nil)); diff != "" {
		t.Errorf("the newest of each place, sorted (-want +got):\n%s", diff)
	}
}

// TestWatchedWhereAnotherKindIsGoverned has a new watched resource q/a, and scopes with its
// kind or its place, but not both.
func TestWatchedWhereAnotherKindIsGoverned(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		scope model.Scope
		want  string
	}{
		"its kind elsewhere":             {model.Scope{Kind: kind, Place: "p"}, "outside"},
		"another kind in its place":      {model.Scope{Kind: "test/Other", Place: "q"}, "outside"},
		"another kind in every place":    {model.Scope{Kind: "test/Other"}, "outside"},
		"its kind in its place":          {model.Scope{Kind: kind, Place: "q"}, "governed"},
		"its kind in every place":        {model.Scope{Kind: kind}, "governed"},
		"every kind in its place":        {model.Scope{Place: "q"}, "governed"},
		"every kind in every place":      {model.Scope{}, "governed"},
		"every kind, but in other ones":  {model.Scope{Place: "p"}, "outside"},
		"a place that begins like its":   {model.Scope{Place: "qq"}, "outside"},
		"a kind that is spelled another": {model.Scope{Kind: "test/thing"}, "outside"},
	} {
		snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{watchedAt("q/a", 1)}, FirstReads: []model.FirstRead{{Scope: model.Scope{Kind: kind}, Newest: firstLook}}}
		d := model.Declaration{Name: "d", Governs: []string{"s"}, Scopes: []model.Scope{tc.scope}, Watches: true}
		s := Match(snapshot, []model.Declaration{d})[0]
		got := "governed"
		if s.Outside != "" {
			got = "outside"
		}
		if diff := cmp.Diff([][]string{{"d"}}, s.UndeclaredBy); got != tc.want || diff != "" {
			t.Errorf("%s: %s, want %s; silent (-want +got):\n%s", reason, got, tc.want, diff)
		}
	}
}

// TestUnreadablePartMayDeclareParts checks a part of a resource: an unreadable file may declare
// it in any place.
func TestUnreadablePartMayDeclareParts(t *testing.T) {
	t.Parallel()
	of := resource("q/part")
	of.Parent = model.Ref{Kind: kind, ID: "q/a"}
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("q/a"), of}}
	declarations := []model.Declaration{
		{Name: "d", Governs: []string{"s"}, Scopes: places("p"), Problems: []model.Problem{unknownPart()}},
		{Name: "e", Governs: []string{"s"}, Scopes: places("q"), Claims: []model.Claim{claim("e", "q/a")}},
	}
	want := map[string]string{"q/part": "held d part"}
	if diff := cmp.Diff(want, judged(Match(snapshot, declarations))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCoveredAndWatched has an old watched resource that a claim covers in a
// governed place: it is neither undeclared nor counted as older.
func TestCoveredAndWatched(t *testing.T) {
	t.Parallel()
	covering := claim("d", "p/b")
	covering.Covers = []model.Ref{{Kind: kind, ID: "p/a"}}
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{watchedAt("p/a", -1)}, Coverage: []model.Coverage{{Source: "s", Complete: true}}}
	d := model.Declaration{Name: "d", Governs: []string{"s"}, Scopes: places("p"), Claims: []model.Claim{covering}, Watches: true}
	if got := judged(Match(snapshot, []model.Declaration{d})); len(got) > 0 {
		t.Errorf("got %v, want nothing of what is covered", got)
	}
}

// TestWatchedWhereOnlyAnInventoryGoverns has a new watched resource in a place of
// an inventory: the tools that watch are not expected to declare it.
func TestWatchedWhereOnlyAnInventoryGoverns(t *testing.T) {
	t.Parallel()
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{watchedAt("q/a", 1)}, FirstReads: []model.FirstRead{{Scope: model.Scope{Kind: kind}, Newest: firstLook}}}
	declarations := []model.Declaration{
		{Name: "tool", Governs: []string{"s"}, Scopes: places("p"), Watches: true},
		{Name: "inventory", Governs: []string{"s"}, Scopes: places("q"), Inventory: true},
	}
	want := map[string]string{"q/a": "silent [[inventory]]"}
	if diff := cmp.Diff(want, judged(Match(snapshot, declarations))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
