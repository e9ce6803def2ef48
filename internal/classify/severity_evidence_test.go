package classify

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestEvidence separates the labels and places that the live side cannot choose from all
// that are known.
func TestEvidence(t *testing.T) {
	t.Parallel()
	gold, silver := map[string]string{"tier": "gold"}, map[string]string{"tier": "silver"}
	claim := func(place string, labels map[string]string) *model.Claim {
		return &model.Claim{Place: place, Value: labelled(labels)}
	}
	live := func(place string, labels map[string]string) *model.Resource {
		return &model.Resource{Place: place, Value: labelled(labels)}
	}
	object := &model.Kind{Namespaced: true, Labels: "metadata.labels"}
	guest := &model.Kind{Labels: "metadata.labels"}
	a, b := claim("shop", gold), claim("shop", silver)
	type labels = []map[string]string
	for _, tc := range []struct {
		reason                      string
		kind                        *model.Kind
		live                        *model.Resource
		claims                      []*model.Claim
		claim                       *model.Claim
		provenLabels, claimedLabels labels
		provenPlaces, claimedPlaces []string
	}{
		{reason: "nothing is known of it", provenLabels: nil},
		{reason: "an object that nobody declares", kind: object, live: live("shop", gold), claimedLabels: labels{gold},
			provenPlaces: []string{"shop"}, claimedPlaces: []string{"shop"}},
		{reason: "a guest that nobody declares", kind: guest, live: live("n1", gold), claimedLabels: labels{gold}, claimedPlaces: []string{"n1"}},
		{reason: "a declared object", kind: object, live: live("shop", silver), claims: []*model.Claim{a}, provenLabels: labels{gold}, claimedLabels: labels{gold, silver},
			provenPlaces: []string{"shop", "shop"}, claimedPlaces: []string{"shop", "shop"}},
		{reason: "an object whose claim has no place", kind: object, live: live("shop", nil), claims: []*model.Claim{claim("", nil)},
			provenLabels: labels{{}}, claimedLabels: labels{{}, {}}, provenPlaces: []string{"shop"}, claimedPlaces: []string{"shop"}},
		{reason: "a guest whose claim has a place", kind: guest, live: live("n2", nil), claims: []*model.Claim{claim("n1", nil)},
			provenLabels: labels{{}}, claimedLabels: labels{{}, {}}, provenPlaces: []string{"n1", "n2"}, claimedPlaces: []string{"n1", "n2"}},
		{reason: "a guest of two claims, one without a place", kind: guest, live: live("n1", nil), claims: []*model.Claim{claim("n1", nil), claim("", nil)},
			provenLabels: labels{{}, {}}, claimedLabels: labels{{}, {}, {}}, claimedPlaces: []string{"n1", "n1"}},
		{reason: "two declarations, and a finding on both", kind: object, live: live("shop", nil), claims: []*model.Claim{a, b},
			provenLabels: labels{gold, silver}, claimedLabels: labels{gold, silver, {}}, provenPlaces: []string{"shop", "shop", "shop"}, claimedPlaces: []string{"shop", "shop", "shop"}},
		{reason: "two declarations, and a finding on one", kind: object, live: live("shop", nil), claims: []*model.Claim{a, b}, claim: b,
			provenLabels: labels{silver}, claimedLabels: labels{silver, {}}, provenPlaces: []string{"shop", "shop"}, claimedPlaces: []string{"shop", "shop"}},
		{reason: "missing", kind: object, claims: []*model.Claim{a}, claim: a, provenLabels: labels{gold}, claimedLabels: labels{gold},
			provenPlaces: []string{"shop"}, claimedPlaces: []string{"shop"}},
		{reason: "a kind without labels", kind: &model.Kind{Namespaced: true}, live: live("shop", gold), claims: []*model.Claim{a}, provenLabels: labels{nil}, claimedLabels: labels{nil},
			provenPlaces: []string{"shop", "shop"}, claimedPlaces: []string{"shop", "shop"}},
		{reason: "a kind of which nothing is known", live: live("shop", gold), claims: []*model.Claim{a}, provenLabels: labels{nil}, claimedLabels: labels{nil},
			provenPlaces: []string{"shop", "shop"}, claimedPlaces: []string{"shop", "shop"}},
	} {
		w := newFindingEvidence(&model.Subject{Kind: tc.kind, Live: tc.live, Claims: tc.claims}, tc.claim)
		same := func(a, b map[string]string) bool { return len(a) == 0 && len(b) == 0 || cmp.Equal(a, b) }
		for _, side := range []struct {
			name   string
			got    evidence
			labels labels
			places []string
		}{{"proven", w.proven, tc.provenLabels, tc.provenPlaces}, {"claimed", w.claimed, tc.claimedLabels, tc.claimedPlaces}} {
			if diff := cmp.Diff(side.labels, side.got.labels, cmp.Comparer(same)); diff != "" {
				t.Errorf("%s: labels %s (-want +got):\n%s", tc.reason, side.name, diff)
			}
			if diff := cmp.Diff(side.places, side.got.places); diff != "" {
				t.Errorf("%s: places %s (-want +got):\n%s", tc.reason, side.name, diff)
			}
		}
		if !w.proven.proven || w.claimed.proven {
			t.Errorf("%s: proven %t and %t", tc.reason, w.proven.proven, w.claimed.proven)
		}
	}
}

// TestFit asks all of what is proven, and one of what is claimed.
func TestFit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason          string
		places          string
		proven, claimed bool
	}{
		{"nothing is known", "", false, false},
		{"one that fits", "a", true, true},
		{"one that does not", "b", false, false},
		{"the first of two", "a b", false, true},
		{"the second of two", "b a", false, true},
		{"both", "a a", true, true},
		{"none of two", "b c", false, false},
	} {
		isA := func(place string) bool { return place == "a" }
		if got := fit(&evidence{proven: true}, strings.Fields(tc.places), isA); got != tc.proven {
			t.Errorf("%s: proven %t", tc.reason, got)
		}
		if got := fit(&evidence{}, strings.Fields(tc.places), isA); got != tc.claimed {
			t.Errorf("%s: claimed %t", tc.reason, got)
		}
	}
}

// TestLabelsIn finds the labels of a declaration in other words, no deeper than four
// steps.
func TestLabelsIn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, value, at string
		want              map[string]string
	}{
		{"at the top", `{"tags":["a"]}`, "tags", map[string]string{"a": ""}},
		{"not there", `{"tag":["a"]}`, "tags", nil},
		{"in a block", `{"meta":[{"labels":{"a":"b"}}]}`, "meta[0].labels", map[string]string{"a": "b"}},
		{"in a block that is there twice", `{"meta":[{"labels":{"a":"b"}},{"labels":{"a":"b"}}]}`, "meta[0].labels", nil},
		{"after another field", `{"meta":[{"labels":{"a":"b"}}],"kind":{"labels":{"a":"x"}}}`, "meta[0].labels", map[string]string{"a": "b"}},
		{"a text of tags", `{"box":{"tags":"a;b"}}`, "box.tags", map[string]string{"a": "", "b": ""}},
		{"four steps", `{"a":{"b":{"c":{"d":{"x":"y"}}}}}`, "a.b.c.d", map[string]string{"x": "y"}},
		{"five steps", `{"a":{"b":{"c":{"d":{"e":{"x":"y"}}}}}}`, "a.b.c.d.e", nil},
		{"four steps, two of them blocks", `{"a":[{"b":[{"x":"y"}]}]}`, "a[0].b[0]", map[string]string{"x": "y"}},
		{"five steps, two of them blocks", `{"a":[{"b":[{"c":{"x":"y"}}]}]}`, "a[0].b[0].c", nil},
		{"six steps, three of them blocks", `{"a":[{"b":[{"c":[{"x":"y"}]}]}]}`, "a[0].b[0].c[0]", nil},
		{"lists in lists", `{"a":[[[[{"x":"y"}]]]]}`, "a[0][0][0][0]", nil},
		{"the whole is no field", `{"x":"y"}`, "", nil},
	} {
		got := labelsIn(*parsed(t, tc.value), "", 0, func(path string) bool { return path == tc.at })
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// guestLens calls the labels of a live resource "tags" while it has a disk, and is asked
// for a live value that may be null.
type guestLens struct{ model.Lens }

func (guestLens) LivePath(live model.Value, path string) string {
	if path == "tags" && !live.At("disk").IsNull() || path == "planned_tags" && live.IsNull() {
		return "metadata.labels"
	}
	return ""
}

// TestDeclaredLabelsOfWhatIsGone reads the labels of a declaration in other words with and
// without a live resource.
func TestDeclaredLabelsOfWhatIsGone(t *testing.T) {
	t.Parallel()
	kind := &model.Kind{Labels: "metadata.labels"}
	claim := &model.Claim{Lens: guestLens{}, Value: *parsed(t, `{"tags":"live","planned_tags":"gone"}`)}
	for reason, tc := range map[string]struct {
		live *model.Resource
		want string
	}{
		"live":            {&model.Resource{Value: *parsed(t, `{"disk":"x"}`)}, "live"},
		"live, no disk":   {&model.Resource{Value: *parsed(t, `{"cdrom":"x"}`)}, ""},
		"gone":            {nil, "gone"},
		"live, and empty": {&model.Resource{}, "gone"},
	} {
		got := declaredLabels(&model.Subject{Kind: kind, Live: tc.live}, claim)
		if _, has := got[tc.want]; has != (tc.want != "") || len(got) > 1 {
			t.Errorf("%s: labels %v, want %q", reason, got, tc.want)
		}
	}
}

// TestFitsActor compares the actor of a field, or else of the finding.
func TestFitsActor(t *testing.T) {
	t.Parallel()
	bob := &model.Actor{Name: "bob", Confidence: model.Exact}
	for _, tc := range []struct {
		reason          string
		actors          string
		confidence      model.Confidence
		change          *model.Change
		proven, claimed bool
	}{
		{"no actors", "", model.Unknown, nil, true, true},
		{"no actors, on a field", "", model.Unknown, &model.Change{}, true, true},
		{"named by the log", "alice", model.Exact, nil, true, true},
		{"named by the client", "alice", model.Likely, nil, false, true},
		{"another", "bob", model.Exact, nil, false, false},
		{"one of two", "bob alice", model.Exact, nil, true, true},
		{"a field without an actor of its own", "alice", model.Exact, &model.Change{}, true, true},
		{"a field with an actor of its own", "alice", model.Exact, &model.Change{Actor: bob}, false, false},
		{"the actor of a field", "bob", model.Unknown, &model.Change{Actor: bob}, true, true},
		{"a pattern ends at a slash", "al*", model.Exact, &model.Change{Actor: &model.Actor{Name: "al/ice", Confidence: model.Exact}}, false, false},
	} {
		r := SeverityRule{Actors: strings.Fields(tc.actors)}
		f := &model.Finding{Actor: model.Actor{Name: "alice", Confidence: tc.confidence}}
		if got := r.fitsActor(f, tc.change, &evidence{proven: true}); got != tc.proven {
			t.Errorf("%s: proven %t", tc.reason, got)
		}
		if got := r.fitsActor(f, tc.change, &evidence{}); got != tc.claimed {
			t.Errorf("%s: claimed %t", tc.reason, got)
		}
	}
}

// TestProvesVerdict: a pending finding that may be a bypassed one is not proven pending.
func TestProvesVerdict(t *testing.T) {
	t.Parallel()
	doubted, sure := &model.Change{Unproven: true}, &model.Change{}
	for _, tc := range []struct {
		reason   string
		verdicts []model.Verdict
		finding  model.Finding
		change   *model.Change
		want     bool
	}{
		{"a rule without verdicts", nil, model.Finding{Verdict: model.Pending, Unproven: true}, nil, true},
		{"pending", []model.Verdict{model.Pending}, model.Finding{Verdict: model.Pending}, nil, true},
		{"a pending field", []model.Verdict{model.Pending}, model.Finding{Verdict: model.Pending}, sure, true},
		{"pending or bypassed", []model.Verdict{model.Pending}, model.Finding{Verdict: model.Pending, Unproven: true}, nil, false},
		{"a field that is pending or bypassed", []model.Verdict{model.Pending}, model.Finding{Verdict: model.Pending}, doubted, false},
		{"a rule for both", []model.Verdict{model.Pending, model.Bypassed}, model.Finding{Verdict: model.Pending}, doubted, true},
		{"a rule for pending and another", []model.Verdict{model.Pending, model.Changed}, model.Finding{Verdict: model.Pending}, doubted, false},
		{"another verdict", []model.Verdict{model.Changed}, model.Finding{Verdict: model.Changed, Unproven: true}, doubted, true},
	} {
		r := SeverityRule{Selector: model.Selector{Verdicts: tc.verdicts}}
		if got := r.provesVerdict(&tc.finding, tc.change); got != tc.want {
			t.Errorf("%s: %t", tc.reason, got)
		}
	}
}

// TestFitsSeverityPath compares both paths of a field.
func TestFitsSeverityPath(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, patterns string
		change           *model.Change
		want             bool
	}{
		{"no path, and the whole", "", nil, true},
		{"no path, and a field", "", &model.Change{Path: "a"}, true},
		{"a path, and the whole", "a", nil, false},
		{"the field", "a", &model.Change{Path: "a"}, true},
		{"one of two", "b a", &model.Change{Path: "a"}, true},
		{"another field", "b", &model.Change{Path: "a"}, false},
		{"another field with a live path", "b", &model.Change{Path: "a", LivePath: "c"}, false},
		{"the live path", "c", &model.Change{Path: "a", LivePath: "c"}, true},
		{"the live path without its keys", "c.d", &model.Change{Path: "a", LivePath: "c[0].d"}, true},
		{"a part of the field", "a.b", &model.Change{Path: "a"}, false},
		{"the field around it", "a", &model.Change{Path: "a.b"}, false},
		{"a pattern of all below", "a.*", &model.Change{Path: "a.b[x=1].c"}, true},
		{"a broken pattern", "[a", &model.Change{Path: "[a"}, false},
	} {
		r := SeverityRule{Paths: strings.Fields(tc.patterns)}
		if got := r.fitsPath(tc.change, false); got != tc.want {
			t.Errorf("%s: %t", tc.reason, got)
		}
	}
}

// TestNamedElementsProveNothing: the author of an element of a list chooses its name, so a
// pattern of that name is no proof.
func TestNamedElementsProveNothing(t *testing.T) {
	t.Parallel()
	const sidecar = "containers[[]name=istio-proxy]*"
	v := model.StringOf("x")
	added := model.Change{Path: "containers[name=istio-proxy]", Live: &v}
	declared, recorded, disputed := added, added, added
	declared.Declared, recorded.Recorded, disputed.Claims = &v, &v, []model.ClaimedValue{{Value: v}}
	for _, tc := range []struct {
		reason, pattern string
		change          model.Change
		proven, want    bool
	}{
		{"an added element, by its name", sidecar, added, true, false},
		{"as a claim", sidecar, added, false, true},
		{"an added element of any name", "containers", added, true, true},
		{"a declared element", sidecar, declared, true, true},
		{"a recorded element", sidecar, recorded, true, true},
		{"a disputed element", sidecar, disputed, true, true},
	} {
		r := SeverityRule{Paths: []string{tc.pattern}}
		if got := r.fitsPath(&tc.change, tc.proven); got != tc.want {
			t.Errorf("%s: %t, want %t", tc.reason, got, tc.want)
		}
	}
}
