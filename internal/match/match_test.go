package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

const kind = "test/Thing"

func resource(id string) model.Resource {
	place, name, _ := strings.Cut(id, "/")
	return model.Resource{Key: model.Key{Source: "s", Kind: kind, ID: id}, Place: place, Name: name}
}

func claim(declaration, id string) model.Claim {
	place, name, _ := strings.Cut(id, "/")
	return model.Claim{Declaration: declaration, Address: "a", Kind: kind, ID: id, Place: place, Name: name}
}

func show(subjects []model.Subject) string {
	var lines []string
	for _, s := range subjects {
		line := s.Key.String()
		if s.Live != nil {
			line += " live"
		}
		if len(s.Silent) > 0 {
			line += " governed"
		}
		if s.Unread != "" {
			line += " unread: " + s.Unread
		}
		for _, c := range s.Claims {
			line += " claimed by " + c.Declaration
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestMatch(t *testing.T) {
	t.Parallel()
	everything := []model.Coverage{{Source: "s", Complete: true}}
	for _, tc := range []struct {
		reason       string
		resources    []model.Resource
		coverage     []model.Coverage
		declarations []model.Declaration
		want         string
	}{
		{
			reason:       "a claim and a live resource of one id are one subject",
			resources:    []model.Resource{resource("p/a")},
			coverage:     everything,
			declarations: []model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{claim("d", "p/a")}}},
			want:         "s/test/Thing/p/a live claimed by d",
		},
		{
			reason:       "absence inside coverage is a fact",
			coverage:     everything,
			declarations: []model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{claim("d", "p/a")}}},
			want:         "s/test/Thing/p/a claimed by d",
		},
		{
			reason:       "absence outside coverage is not",
			coverage:     []model.Coverage{{Source: "s", Kind: kind, Reason: "forbidden"}, {Source: "s", Complete: true}},
			declarations: []model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{claim("d", "p/a")}}},
			want:         "s/test/Thing/p/a unread: forbidden claimed by d",
		},
		{
			reason:   "coverage may be of one place",
			coverage: []model.Coverage{{Source: "s", Kind: kind, Place: "p", Complete: true}, {Source: "s", Kind: kind, Reason: "only p"}},
			declarations: []model.Declaration{{Name: "d", Governs: []string{"s"},
				Claims: []model.Claim{claim("d", "p/a"), claim("d", "q/a")}}},
			want: "s/test/Thing/p/a claimed by d\ns/test/Thing/q/a unread: only p claimed by d",
		},
		{
			reason:    "a place is governed by any declaration",
			resources: []model.Resource{resource("p/a"), resource("q/a")},
			coverage:  everything,
			declarations: []model.Declaration{
				{Name: "d", Governs: []string{"s"}, Scopes: []model.Scope{{Place: "p"}}},
				{Name: "e", Governs: []string{"other"}, Scopes: []model.Scope{{Place: "q"}}},
			},
			want: "s/test/Thing/p/a live governed\ns/test/Thing/q/a live",
		},
		{
			reason:    "nothing is called undeclared while a part of a declaration is unreadable",
			resources: []model.Resource{resource("p/a")},
			coverage:  everything,
			declarations: []model.Declaration{{Name: "d", Governs: []string{"s"}, Scopes: []model.Scope{{Place: "p"}},
				Problems: []model.Problem{{Address: "x.yaml", Reason: "broken"}}}},
			want: "s/test/Thing/p/a live",
		},
		{
			reason:    "two declarations of one resource are one subject",
			resources: []model.Resource{resource("p/a")},
			coverage:  everything,
			declarations: []model.Declaration{
				{Name: "e", Governs: []string{"s"}, Claims: []model.Claim{claim("e", "p/a")}},
				{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{claim("d", "p/a")}},
			},
			want: "s/test/Thing/p/a live claimed by d claimed by e",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			snapshot := model.Snapshot{Source: "s", Resources: tc.resources, Coverage: tc.coverage}
			if d := cmp.Diff(tc.want, show(Match([]model.Snapshot{snapshot}, tc.declarations, nil))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestSourceWithoutSnapshotIsUnread(t *testing.T) {
	t.Parallel()
	d := model.Declaration{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{claim("d", "p/a")}}
	got := show(Match(nil, []model.Declaration{d}, map[string]string{"s": "refused"}))
	if want := "s/test/Thing/p/a unread: refused claimed by d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClaimOfAKindWithoutPlaces(t *testing.T) {
	t.Parallel()
	c := claim("d", "default/a")
	c.AltID = "a"
	snapshot := model.Snapshot{Source: "s", Kinds: map[string]*model.Kind{kind: {Name: kind}},
		Resources: []model.Resource{{Key: model.Key{Source: "s", Kind: kind, ID: "a"}}}}
	d := model.Declaration{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{c}}
	if got, want := show(Match([]model.Snapshot{snapshot}, []model.Declaration{d}, nil)), "s/test/Thing/a live claimed by d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNothingOutsideCoverageIsAbsent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		places := []string{"p", "q", "r"}
		covered := map[string]bool{}
		snapshot := model.Snapshot{Source: "s"}
		d := model.Declaration{Name: "d", Governs: []string{"s"}}
		for _, p := range places {
			covered[p] = rapid.Bool().Draw(t, "covered")
			snapshot.Coverage = append(snapshot.Coverage, model.Coverage{Source: "s", Kind: kind, Place: p, Complete: covered[p], Reason: "x"})
			for i := range rapid.IntRange(0, 3).Draw(t, "claims") {
				d.Claims = append(d.Claims, claim("d", fmt.Sprintf("%s/%d", p, i)))
			}
			for i := range rapid.IntRange(0, 3).Draw(t, "live") {
				snapshot.Resources = append(snapshot.Resources, resource(fmt.Sprintf("%s/%d", p, i)))
			}
		}
		want := show(Match([]model.Snapshot{snapshot}, []model.Declaration{d}, nil))
		for _, s := range Match([]model.Snapshot{snapshot}, []model.Declaration{d}, nil) {
			if s.Live == nil && s.Unread == "" && !covered[s.Place] {
				t.Fatalf("%s is called absent, but %s was not read", s.Key, s.Place)
			}
		}
		r := rand.New(rand.NewPCG(1, 2))
		r.Shuffle(len(snapshot.Resources), func(i, j int) {
			snapshot.Resources[i], snapshot.Resources[j] = snapshot.Resources[j], snapshot.Resources[i]
		})
		r.Shuffle(len(d.Claims), func(i, j int) { d.Claims[i], d.Claims[j] = d.Claims[j], d.Claims[i] })
		if got := show(Match([]model.Snapshot{snapshot}, []model.Declaration{d}, nil)); got != want {
			t.Fatalf("another order, another result:\n%s\n\n%s", want, got)
		}
	})
}

// TestWhatIsMissingHasAName takes it from the claim that knows it: one on a part
// of a resource knows the id alone.
func TestWhatIsMissingHasAName(t *testing.T) {
	t.Parallel()
	part := model.Claim{Declaration: "tool", Address: "a.part", Source: "s", Kind: "pve/machine", ID: "3", Name: "3"}
	whole := model.Claim{Declaration: "tool", Address: "b.whole", Source: "s", Kind: "pve/machine", ID: "3", Name: "db-02"}
	for _, claims := range [][]model.Claim{{part, whole}, {whole, part}} {
		subjects := Match([]model.Snapshot{{Source: "s"}}, []model.Declaration{{Name: "tool", Governs: []string{"s"}, Claims: claims}}, nil)
		if len(subjects) != 1 || subjects[0].Name != "db-02" {
			t.Errorf("subjects %+v, want one called db-02", subjects)
		}
	}
}

func TestWhatIsToldOfMany(t *testing.T) {
	t.Parallel()
	told := func(ref model.Ref, name string, second int64) model.Trace {
		return model.Trace{Ref: ref, Actor: model.Actor{Name: name, At: time.Unix(second, 0)}}
	}
	other := resource("p/b")
	other.Kind = "test/Other"
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{other, resource("p/a")}, Coverage: []model.Coverage{{Source: "s", Complete: true}},
		Traces: []model.Trace{told(model.Ref{}, "ann", 2), told(model.Ref{Kind: kind}, "bob", 1), told(model.Ref{Kind: kind, ID: "p/a"}, "carol", 3)}}
	want := map[string][]string{"p/a": {"bob", "ann"}, "p/b": {"ann"}}
	got := map[string][]string{}
	for _, s := range Match([]model.Snapshot{snapshot}, nil, nil) {
		for _, trace := range s.Broad {
			got[s.ID] = append(got[s.ID], trace.Actor.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
