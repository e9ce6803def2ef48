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
		if len(s.UndeclaredBy) > 0 {
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
			if d := cmp.Diff(tc.want, show(Match(snapshot, tc.declarations))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestSourceWithoutSnapshotIsUnread(t *testing.T) {
	t.Parallel()
	d := model.Declaration{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{claim("d", "p/a")}}
	got := show(Match(model.NotRead("s", "refused"), []model.Declaration{d}))
	if want := "s/test/Thing/p/a unread: refused claimed by d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestClaimWithAltID checks the ID of a claim whose declaration lacks the definition of its
// kind: the live system reports whether the kind has places.
func TestClaimWithAltID(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		kinds map[string]*model.Kind
		alt   string
		want  string
	}{
		"a kind without places": {map[string]*model.Kind{kind: {Name: kind}}, "a", "a in "},
		"a kind with places":    {map[string]*model.Kind{kind: {Name: kind, Namespaced: true}}, "a", "default/a in default"},
		"an unknown kind":       {nil, "a", "default/a in default"},
		"no other ID":           {map[string]*model.Kind{kind: {Name: kind}}, "", "default/a in default"},
	} {
		c := claim("d", "default/a")
		c.AltID = tc.alt
		d := model.Declaration{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{c}}
		for _, s := range Match(model.Snapshot{Source: "s", Kinds: tc.kinds}, []model.Declaration{d}) {
			if got := s.ID + " in " + s.Place; got != tc.want {
				t.Errorf("%s: got %q, want %q", reason, got, tc.want)
			}
		}
		if d.Claims[0].ID != "default/a" {
			t.Errorf("%s: the declaration was changed", reason)
		}
	}
}

// TestKind merges a kind as its source reports it with the definition in a declaration that
// governs the source.
func TestKind(t *testing.T) {
	t.Parallel()
	schema, other := &model.Schema{}, &model.Schema{Extra: model.Extra{Closed: true}}
	read := func(s *model.Schema) *model.Kind {
		return &model.Kind{Name: kind, Version: "v2", Namespaced: true, WriterUnknown: "no log", Schema: s}
	}
	defined := &model.Kind{Name: kind, Version: "v1", Schema: other}
	for reason, tc := range map[string]struct {
		read    *model.Kind
		defined *model.Kind
		governs string
		want    *model.Kind
	}{
		"the source has a schema":              {read(schema), defined, "s", read(schema)},
		"the source has none":                  {read(nil), defined, "s", read(other)},
		"the source has no such kind":          {nil, defined, "s", defined},
		"a declaration for another source":     {read(nil), defined, "t", read(nil)},
		"no declaration defines it":            {read(nil), nil, "s", read(nil)},
		"neither the source nor a declaration": {nil, nil, "s", nil},
	} {
		snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("p/a")}, Kinds: map[string]*model.Kind{kind: tc.read}}
		d := model.Declaration{Name: "d", Governs: []string{tc.governs}, Kinds: map[string]*model.Kind{kind: tc.defined}}
		if diff := cmp.Diff(tc.want, Match(snapshot, []model.Declaration{d})[0].Kind); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
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
		want := show(Match(snapshot, []model.Declaration{d}))
		for _, s := range Match(snapshot, []model.Declaration{d}) {
			if s.Live == nil && s.Unread == "" && !covered[s.Place] {
				t.Fatalf("%s is called absent, but %s was not read", s.Key, s.Place)
			}
		}
		r := rand.New(rand.NewPCG(1, 2))
		r.Shuffle(len(snapshot.Resources), func(i, j int) {
			snapshot.Resources[i], snapshot.Resources[j] = snapshot.Resources[j], snapshot.Resources[i]
		})
		r.Shuffle(len(d.Claims), func(i, j int) { d.Claims[i], d.Claims[j] = d.Claims[j], d.Claims[i] })
		if got := show(Match(snapshot, []model.Declaration{d})); got != want {
			t.Fatalf("another order, another result:\n%s\n\n%s", want, got)
		}
	})
}

// TestDuplicateHidesNothing checks that a resource that a source returns twice does not hide one that is missing.
func TestDuplicateHidesNothing(t *testing.T) {
	t.Parallel()
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("p/1"), resource("p/1")},
		Coverage: []model.Coverage{{Source: "s", Kind: kind, Complete: true}}}
	d := model.Declaration{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{claim("d", "p/1"), claim("d", "p/2")}}
	subjects := Match(snapshot, []model.Declaration{d})
	if last := subjects[len(subjects)-1]; len(subjects) != 3 || last.ID != "p/2" || last.Live != nil || last.Unread != "" {
		t.Errorf("got\n%s", show(subjects))
	}
}

// TestNameOfMissing takes the name from the claim that has one: a claim on a part of a resource
// has its ID only.
func TestNameOfMissing(t *testing.T) {
	t.Parallel()
	part := model.Claim{Declaration: "tool", Address: "a.part", Source: "s", Kind: "pve/machine", ID: "3", Name: "3"}
	whole := model.Claim{Declaration: "tool", Address: "b.whole", Source: "s", Kind: "pve/machine", ID: "3", Name: "db-02"}
	nameless := model.Claim{Declaration: "tool", Address: "a.nameless", Source: "s", Kind: "pve/machine", ID: "3"}
	for want, all := range map[string][][]model.Claim{
		"db-02": {{part, whole}, {whole, part}, {nameless, whole}, {nameless, part, whole}},
		"3":     {{part}, {part, part}},
		"":      {{nameless}},
	} {
		for _, claims := range all {
			subjects := Match(model.Snapshot{Source: "s"}, []model.Declaration{{Name: "tool", Governs: []string{"s"}, Claims: claims}})
			if len(subjects) != 1 || subjects[0].Name != want {
				t.Errorf("subjects %+v, want one called %q", subjects, want)
			}
		}
	}
}

func TestBroadEvents(t *testing.T) {
	t.Parallel()
	event := func(ref model.Ref, name string, second int64) model.AuditEvent {
		return model.AuditEvent{Ref: ref, Actor: model.Actor{Name: name, At: time.Unix(second, 0)}}
	}
	other := resource("p/b")
	other.Kind = "test/Other"
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{other, resource("p/a")}, Coverage: []model.Coverage{{Source: "s", Complete: true}},
		AuditEvents: []model.AuditEvent{event(model.Ref{}, "ann", 2), event(model.Ref{Kind: kind}, "bob", 1), event(model.Ref{Kind: kind, ID: "p/a"}, "carol", 3)}}
	want := map[string][]string{"p/a": {"bob", "ann"}, "p/b": {"ann"}}
	got := map[string][]string{}
	for _, s := range Match(snapshot, nil) {
		for _, e := range s.BroadEvents {
			got[s.ID] = append(got[s.ID], e.Actor.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestEventsSinceCreation checks that a resource does not have the events of an earlier one with the same name.
func TestEventsSinceCreation(t *testing.T) {
	t.Parallel()
	event := func(who string, action model.Action, second int64) model.AuditEvent {
		return model.AuditEvent{Ref: model.Ref{Kind: kind, ID: "p/a"}, Action: action, Actor: model.Actor{Name: who, At: time.Unix(second, 0)}}
	}
	for _, tt := range []struct {
		reason  string
		events  []model.AuditEvent
		created int64
		want    string
	}{
		{"made again", []model.AuditEvent{event("ann", model.Created, 1), event("bob", model.Edited, 2), event("carol", model.Deleted, 3), event("dave", model.Created, 4)}, 4, "dave "},
		{"made again, and edited in the same second", []model.AuditEvent{event("bob", model.Edited, 2), event("carol", model.Deleted, 4), event("erin", model.Edited, 4), event("dave", model.Created, 4)}, 4, "erin dave "},
		{"its creation is not in the log yet", []model.AuditEvent{event("ann", model.Created, 1), event("bob", model.Edited, 2), event("carol", model.Deleted, 3)}, 4, ""},
		{"nothing shows when it was made", []model.AuditEvent{event("bob", model.Edited, 2), event("carol", model.Deleted, 3), event("dave", model.Edited, 5)}, 0, "dave "},
		{"its deletion waits for a finalizer", []model.AuditEvent{event("ann", model.Created, 1), event("bob", model.Edited, 2), event("carol", model.Deleted, 3)}, 1, "ann bob carol "},
		{"the log begins after its creation", []model.AuditEvent{event("bob", model.Edited, 2)}, 1, "bob "},
	} {
		r := resource("p/a")
		if tt.created != 0 {
			r.Created = time.Unix(tt.created, 0)
		}
		snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{r}, Coverage: []model.Coverage{{Source: "s", Complete: true}}, AuditEvents: tt.events}
		got := ""
		for _, e := range Match(snapshot, nil)[0].AuditEvents {
			got += e.Actor.Name + " "
		}
		if got != tt.want {
			t.Errorf("%s: events of %q, want %q", tt.reason, got, tt.want)
		}
	}
}

// TestEventsByContents checks that an event that names a resource by its contents is not one on another
// resource with the same contents, which was there before it.
func TestEventsByContents(t *testing.T) {
	t.Parallel()
	event := func(id, who string, action model.Action, second int64) model.AuditEvent {
		return model.AuditEvent{Ref: model.Ref{Kind: kind, ID: id}, Action: action, Actor: model.Actor{Name: who, At: time.Unix(second, 0)}}
	}
	for _, tt := range []struct {
		resources []model.Resource
		want      string
	}{{[]model.Resource{resource("p/a")}, "carol dave "}, {nil, "carol erin "}} {
		snapshot := model.Snapshot{Source: "s", Resources: tt.resources, Coverage: []model.Coverage{{Source: "s", Complete: true}}, AuditEvents: []model.AuditEvent{
			event("contents", "ann", model.Edited, 1), event("contents", "bob", model.Deleted, 2), event("contents", "dave", model.Edited, 4),
			event("contents", "erin", model.Deleted, 5), event("p/a", "carol", model.Created, 3)}}
		c := claim("d", "p/a")
		c.LogNames = []string{"contents"}
		got := ""
		for _, e := range Match(snapshot, []model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{c}}})[0].AuditEvents {
			got += e.Actor.Name + " "
		}
		if got != tt.want {
			t.Errorf("live %t: events of %q, want %q", tt.resources != nil, got, tt.want)
		}
	}
}
