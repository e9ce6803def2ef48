package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// A drawn estate has the results of one scan.
type drawn struct {
	snapshots    []model.Snapshot
	declarations []model.Declaration
	// complete reports, by source, kind and place, which scopes were read in full. The
	// place "" stands for all places of the kind.
	complete map[[3]string]bool
}

// sourceNames are the sources that may be read. The source "never" cannot be read.
var sourceNames = []string{"s", "t"}

// drawEstate draws an estate of which any part may be unreadable.
func drawEstate(t *rapid.T) drawn {
	e := drawn{snapshots: []model.Snapshot{model.NotRead("never", "refused")}, complete: map[[3]string]bool{}}
	for _, source := range sourceNames {
		if rapid.IntRange(0, 5).Draw(t, "read") > 0 {
			e.snapshots = append(e.snapshots, e.drawSnapshot(t, source))
		} else {
			e.snapshots = append(e.snapshots, model.NotRead(source, "timeout"))
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		e.declarations = append(e.declarations, drawDeclaration(t, name))
	}
	return e
}

// drawSnapshot draws a snapshot in which every scope is complete, failed or skipped, some
// resources could not be read, and which may be stale.
func (e *drawn) drawSnapshot(t *rapid.T, source string) model.Snapshot {
	s := model.Snapshot{Source: source, Taken: firstLook.Add(time.Hour), Kinds: map[string]*model.Kind{
		machine: {Name: machine, Namespaced: true, Watched: true}, container: {Name: container, Namespaced: true}}}
	stale := rapid.IntRange(0, 3).Draw(t, "stale") == 0
	for _, kind := range []string{machine, container} {
		places := []string{"p", "q"}
		for _, id := range []string{"p/1", "p/2", "q/1", "q/2"} {
			e.drawResource(t, &s, kind, id)
		}
		if rapid.Bool().Draw(t, "all places") {
			places = []string{""}
		}
		for _, place := range places {
			read := rapid.SampledFrom([]string{"complete", "complete", "failed", "skipped"}).Draw(t, "coverage")
			e.complete[[3]string{source, kind, place}] = read == "complete" && !stale
			s.Coverage = append(s.Coverage, model.Coverage{Source: source, Kind: kind, Place: place, Complete: read == "complete", Skipped: read == "skipped", Reason: read})
		}
	}
	if stale {
		s.Doubt(model.Scope{}, "no quorum")
	}
	if rapid.Bool().Draw(t, "looked") {
		s.FirstReads = []model.FirstRead{{Source: source, Scope: model.Scope{Kind: machine}, Newest: firstLook}}
	}
	return s
}

// drawResource adds a resource to a snapshot: to those that were read or to those that
// could not be read, or to neither.
func (e *drawn) drawResource(t *rapid.T, s *model.Snapshot, kind, id string) {
	place, _, _ := strings.Cut(id, "/")
	known := drawIdentities(t)
	switch rapid.SampledFrom([]string{"read", "read", "unread", "absent"}).Draw(t, "resource") {
	case "unread":
		at, _ := findUnread(s, model.Ref{Kind: kind, ID: id})
		s.Unread = slices.Insert(s.Unread, at, model.Unread{Ref: model.Ref{Kind: kind, ID: id}, Identities: known, Reason: "its node is down"})
	case "read":
		r := model.Resource{Key: model.Key{Source: s.Source, Kind: kind, ID: id}, Place: place, Name: "n" + id, Identities: known,
			Created: firstLook.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "created")) * time.Minute),
			Watched: rapid.SampledFrom([]string{"", "it grants rights"}).Draw(t, "watched")}
		if rapid.IntRange(0, 3).Draw(t, "made") == 0 {
			r.Makers = []model.Ref{{Kind: machine, ID: "p/1"}}
		}
		s.Resources = append(s.Resources, r)
	}
}

func drawIdentities(t *rapid.T) []model.Identity {
	return identities(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"mac=A", "mac=B", "name=web", "name=db"}), 0, 2, rapid.ID[string]).Draw(t, "identities"))
}

func drawDeclaration(t *rapid.T, name string) model.Declaration {
	d := model.Declaration{Name: name, Inventory: rapid.Bool().Draw(t, "inventory"), Watches: rapid.Bool().Draw(t, "watches"),
		Governs: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"s", "t", "never"}), 0, 3, rapid.ID[string]).Draw(t, "governs"),
		Scopes:  rapid.SliceOfN(rapid.SampledFrom([]model.Scope{{}, {Place: "p"}, {Kind: machine}, {Kind: container, Place: "q"}}), 0, 2).Draw(t, "scopes")}
	if rapid.Bool().Draw(t, "defines") {
		d.Kinds = map[string]*model.Kind{machine: {Name: machine, Schema: &model.Schema{}, Labels: name}}
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "claims") {
		place := rapid.SampledFrom([]string{"p", "q"}).Draw(t, "place")
		c := model.Claim{Declaration: name, Address: fmt.Sprintf("%s:%d", name, i), Kind: rapid.SampledFrom([]string{machine, container}).Draw(t, "kind"),
			ID: place + "/" + rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "id"), Place: place, Value: model.MapOf(), ClaimMatching: model.ClaimMatching{Identities: drawIdentities(t)},
			Source: rapid.SampledFrom([]string{"", "", "s"}).Draw(t, "source"), ClaimApply: model.ClaimApply{Pending: rapid.SampledFrom([]string{"", "", "not created yet"}).Draw(t, "pending")}}
		if rapid.IntRange(0, 2).Draw(t, "by identity") == 0 {
			c.ByIdentity, c.ID, c.Place, c.AltKinds = true, "label "+c.Address, "", []string{container}
			c.Cohort = rapid.SampledFrom([]string{"", "another cluster"}).Draw(t, "cohort")
		}
		if rapid.IntRange(0, 3).Draw(t, "covers") == 0 {
			c.Covers = []model.Ref{{Kind: machine, ID: "q/2"}}
		}
		d.Claims = append(d.Claims, c)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "problems") {
		p := model.Problem{Address: fmt.Sprintf("file %d", i), Reason: "broken", Bounded: rapid.Bool().Draw(t, "bounded")}
		if p.Bounded {
			p.Extents = rapid.SliceOfN(rapid.SampledFrom([]model.Extent{{Place: "p"}, {Kind: machine}, {Name: "np/1"}}), 0, 1).Draw(t, "extents")
		}
		d.Problems = append(d.Problems, p)
	}
	return d
}

// matchAll returns the subjects of all snapshots, sorted by key.
func matchAll(snapshots []model.Snapshot, declarations []model.Declaration) []model.Subject {
	var subjects []model.Subject
	for _, s := range snapshots {
		subjects = append(subjects, Match(s, declarations)...)
	}
	slices.SortFunc(subjects, func(a, b model.Subject) int { return a.Key.Compare(b.Key) })
	return subjects
}

func (e drawn) match() []model.Subject { return matchAll(e.snapshots, e.declarations) }

// shuffled returns the estate with every list in another order, except those that are
// promised to be sorted.
func (e drawn) shuffled(t *rapid.T) drawn {
	e.snapshots, e.declarations = permuted(t, e.snapshots), permuted(t, e.declarations)
	for i := range e.snapshots {
		s := &e.snapshots[i]
		s.Resources, s.Coverage = permuted(t, s.Resources), permuted(t, s.Coverage)
	}
	for i := range e.declarations {
		d := &e.declarations[i]
		d.Claims, d.Scopes, d.Governs, d.Problems = permuted(t, d.Claims), permuted(t, d.Scopes), permuted(t, d.Governs), permuted(t, d.Problems)
	}
	return e
}

func permuted[T any](t *rapid.T, list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return rapid.Permutation(list).Draw(t, "order")
}

// read reports whether all scopes were read in full in which a claim's resource may lie.
func (e drawn) read(source string, c *model.Claim) bool {
	for _, kind := range kinds(c) {
		whole, known := e.complete[[3]string{source, kind, ""}]
		if !known {
			whole = e.complete[[3]string{source, kind, c.Place}]
		}
		if !whole {
			return false
		}
	}
	return true
}

// TestAbsenceProperty checks that no resource is absent because it was not read. For a subject
// without a live resource, either all scopes of one of its claims were read, or Unread is set.
// A claim that only has identities may be matched to one that has the ID.
func TestAbsenceProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEstate(t)
		for _, s := range e.match() {
			if s.Live != nil || s.Unread != "" {
				continue
			}
			sure := slices.ContainsFunc(s.Claims, func(c *model.Claim) bool { return !c.ByIdentity })
			for _, c := range s.Claims {
				if !sure || !c.ByIdentity {
					e.checkAbsent(t, s.Source, c)
				}
			}
		}
	})
}

// checkAbsent checks that the resource of a claim does not exist.
func (e drawn) checkAbsent(t *rapid.T, source string, c *model.Claim) {
	at := slices.IndexFunc(e.snapshots, func(of model.Snapshot) bool { return of.Source == source })
	if at < 0 || !e.read(source, c) {
		t.Fatalf("%s is absent in %s, but was not read", c.Address, source)
	}
	for _, u := range e.snapshots[at].Unread {
		shared := slices.ContainsFunc(c.Identities, func(id model.Identity) bool { return slices.Contains(u.Identities, id) })
		if u.Ref == (model.Ref{Kind: c.Kind, ID: c.ID}) || c.ByIdentity && slices.Contains(kinds(c), u.Kind) && (shared || len(u.Identities) == 0) {
			t.Fatalf("%s is absent in %s, but may be %s, which could not be read", c.Address, source, u.ID)
		}
	}
}

// TestOrderProperty checks that the order of lists has no effect on the result, and that the
// input does not change.
func TestOrderProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEstate(t)
		before := fmt.Sprintf("%+v", e)
		want := e.match()
		if after := fmt.Sprintf("%+v", e); after != before {
			t.Fatalf("the input was changed:\n%s\n%s", before, after)
		}
		if diff := cmp.Diff(want, e.shuffled(t).match()); diff != "" {
			t.Fatalf("another order, another result (-want +got):\n%s", diff)
		}
	})
}

// TestCompletenessProperty checks that each resource has one subject, that each claim of a
// declaration that governs a source is on one subject there, and that subjects are sorted.
func TestCompletenessProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEstate(t)
		subjects := e.match()
		if !slices.IsSortedFunc(subjects, func(a, b model.Subject) int { return a.Key.Compare(b.Key) }) {
			t.Fatalf("subjects are not sorted:\n%s", show(subjects))
		}
		got, want := map[string]int{}, map[string]int{}
		for i, s := range subjects {
			if i > 0 && subjects[i-1].Key == s.Key {
				t.Fatalf("two subjects are %s", s.Key)
			}
			if s.Live != nil {
				got["live "+s.Live.Key.String()]++
			}
			for _, c := range s.Claims {
				got[s.Source+" "+c.Address]++
			}
		}
		for _, s := range e.snapshots {
			for _, r := range s.Resources {
				want["live "+r.Key.String()]++
			}
		}
		for _, d := range e.declarations {
			for _, source := range d.Governs {
				for _, c := range d.Claims {
					if c.Source == "" || c.Source == source {
						want[source+" "+c.Address]++
					}
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// TestSilenceProperty checks that UndeclaredBy has a declaration only if all of it that may
// declare the resource was read, and no declaration of its group claims or covers it.
func TestSilenceProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEstate(t)
		named := map[string]*model.Declaration{}
		for i := range e.declarations {
			named[e.declarations[i].Name] = &e.declarations[i]
		}
		for _, s := range e.match() {
			live := s.Live
			if live == nil { // It exists and could not be read.
				live = &model.Resource{Key: s.Key, Place: s.Place}
			}
			for _, group := range s.UndeclaredBy {
				for _, name := range group {
					d := named[name]
					if s.Live == nil && s.Unread == "" || !slices.Contains(d.Governs, s.Source) {
						t.Fatalf("%s is silent on %s, which it does not govern", name, s.Key)
					}
					if slices.ContainsFunc(d.Problems, func(p model.Problem) bool { return !p.Bounded || p.MayDeclareAt(live) }) {
						t.Fatalf("%s is silent on %s, but was not read in full", name, s.Key)
					}
					if slices.ContainsFunc(s.Claims, func(c *model.Claim) bool { return named[c.Declaration].Inventory == d.Inventory }) {
						t.Fatalf("%s is silent on %s, which its group claims", name, s.Key)
					}
				}
			}
			if s.Unjudged != nil && (len(s.Claims) > 0 || len(s.UndeclaredBy) > 0) {
				t.Fatalf("%s is judged and not judged", s.Key)
			}
		}
	})
}

// TestFirstLooksProperty checks that a new first look is at a scope that was read in full and
// is not in known, in any order.
func TestFirstLooksProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEstate(t)
		for i := range e.snapshots {
			s := e.snapshots[i]
			looks := FirstLooks(&s, s.FirstReads)
			for _, look := range looks {
				if !e.complete[[3]string{s.Source, look.Kind, look.Place}] || look.Kind != machine || len(s.FirstReads) > 0 {
					t.Fatalf("a first look at %+v, of coverage %+v", look, s.Coverage)
				}
				newer := func(r model.Resource) bool {
					return r.Kind == look.Kind && (look.Place == "" || look.Place == r.Place) && r.Created.After(look.Newest)
				}
				if slices.ContainsFunc(s.Resources, newer) {
					t.Fatalf("the look at %+v saw a newer resource", look)
				}
			}
			s.Resources, s.Coverage = permuted(t, s.Resources), permuted(t, s.Coverage)
			if diff := cmp.Diff(looks, FirstLooks(&s, s.FirstReads)); diff != "" {
				t.Fatalf("another order, another result (-want +got):\n%s", diff)
			}
		}
	})
}
