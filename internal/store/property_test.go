package store

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// A plain store is what the store is meant to be, written down as simply as
// can be.
type plain struct {
	versions map[model.Key][]plainVersion
	places   map[model.Key]string
}

type plainVersion struct {
	at    time.Time
	value string // "" when gone
}

func (p *plain) put(k model.Key, at time.Time, value string) {
	list := p.versions[k]
	if n := len(list); n > 0 {
		if list[n-1].value == value {
			return
		}
		if least := list[n-1].at.Add(1); at.Before(least) {
			at = least
		}
	}
	p.versions[k] = append(list, plainVersion{at, value})
}

func (p *plain) save(snap model.Snapshot) {
	seen := map[model.Key]bool{}
	for _, r := range snap.Resources {
		seen[r.Key] = true
		p.put(r.Key, snap.Taken, r.Value.At("data").Str())
		p.places[r.Key] = r.Place
	}
	for k := range p.versions {
		if covered, _ := snap.Covers(k.Kind, p.places[k]); k.Source == snap.Source && !seen[k] && covered {
			p.put(k, snap.Taken, "")
		}
	}
}

func (p *plain) at(k model.Key, moment time.Time) plainVersion {
	var found plainVersion
	for _, v := range p.versions[k] {
		if !v.at.After(moment) {
			found = v
		}
	}
	return found
}

func (p *plain) keys() []model.Key {
	var keys []model.Key
	for k := range p.versions {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, model.Key.Compare)
	return keys
}

func (p *plain) changes(source string, from, to time.Time) []string {
	var changes []string
	for _, k := range p.keys() {
		before, after := p.at(k, from), p.at(k, to)
		if before.value == after.value || source != "" && k.Source != source {
			continue
		}
		changes = append(changes, fmt.Sprintf("%s/%s %s→%s %s", k.Source, k.ID, orDash(before.value), orDash(after.value), after.at.Sub(start())))
	}
	return changes
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// drawSnapshot draws a look at one of two sources: some of a few resources in
// two places, coverage of either, at a moment that may lie in the past.
func drawSnapshot(t *rapid.T) model.Snapshot {
	source := rapid.SampledFrom([]string{"aa", "ab"}).Draw(t, "source")
	snap := model.Snapshot{Source: source, Taken: minute(rapid.IntRange(-3, 12).Draw(t, "taken"))}
	for _, id := range []string{"a", "a\x00b", "b", "b/c", "d"} {
		if !rapid.Bool().Draw(t, "present") {
			continue
		}
		snap.Resources = append(snap.Resources, model.Resource{
			Key:   model.Key{Source: source, Kind: "t/k", ID: id},
			Place: rapid.SampledFrom([]string{"p", "q"}).Draw(t, "place"),
			Value: text(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "value")),
		})
	}
	for _, place := range []string{"p", "q"} {
		snap.Coverage = append(snap.Coverage, model.Coverage{Source: source, Kind: "t/k", Place: place, Complete: rapid.Bool().Draw(t, "complete")})
	}
	return snap
}

func TestStoreAgreesWithPlainModel(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "") //nolint:usetesting // one folder a drawn case; root is t.TempDir
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, Options{Retention: Retention{MaxAge: time.Nanosecond}})
		if err != nil {
			t.Fatal(err)
		}
		p := &plain{versions: map[model.Key][]plainVersion{}, places: map[model.Key]string{}}
		for i := range rapid.IntRange(1, 8).Draw(t, "scans") {
			snap := drawSnapshot(t)
			p.save(snap)
			if err := s.Save(scan(i, nil, snap)); err != nil {
				t.Fatal(err)
			}
		}
		compareHistories(t, s, p)
		compareChanges(t, s, p, minute(-5))
		cut := minute(rapid.IntRange(-4, 14).Draw(t, "cut"))
		if _, err := s.Prune(cut.Add(time.Nanosecond)); err != nil {
			t.Fatal(err)
		}
		compareChanges(t, s, p, cut)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := verify(s.path, mustCodec(t)); err != nil {
			t.Fatal(err)
		}
	})
}

func mustCodec(t *rapid.T) codec {
	c, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func compareHistories(t *rapid.T, s *Store, p *plain) {
	for _, k := range p.keys() {
		versions, err := s.History(k)
		if err != nil {
			t.Fatal(err)
		}
		var got []plainVersion
		for _, v := range versions {
			value := ""
			if v.Value != nil {
				value = v.Value.At("data").Str()
			}
			got = append(got, plainVersion{v.At, value})
		}
		if diff := cmp.Diff(p.versions[k], got, cmp.AllowUnexported(plainVersion{})); diff != "" {
			t.Fatalf("history of %s: %s", k, diff)
		}
	}
}

// compareChanges compares what differs between any two moments after least.
func compareChanges(t *rapid.T, s *Store, p *plain, least time.Time) {
	for range 4 {
		from := minute(rapid.IntRange(-5, 15).Draw(t, "from"))
		to := minute(rapid.IntRange(-5, 15).Draw(t, "to"))
		if from.Before(least) || to.Before(from) {
			continue
		}
		source := rapid.SampledFrom([]string{"", "aa", "ab"}).Draw(t, "of")
		changes, err := s.Changes(source, from, to)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range changes {
			got = append(got, shorten(&changes[i]))
		}
		if diff := cmp.Diff(p.changes(source, from, to), got); diff != "" {
			t.Fatalf("changes of %q from %s to %s: %s", source, from.Sub(start()), to.Sub(start()), diff)
		}
	}
}
