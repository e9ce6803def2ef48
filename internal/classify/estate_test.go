package classify

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
)

// A world is the truth about an estate: what exists and what is declared, whether a scan
// can read it or not. Values are maps of the fields a and b.
type world struct {
	// sources and declarations are those that are part of the estate.
	sources      []string
	declarations []string
	live         map[model.Key]model.Value
	declared     map[string]map[model.Key]model.Value
	// recorded are the values that tools applied last, as far as they record them. Only
	// those of resources that are declared count.
	recorded map[string]map[model.Key]model.Value
}

const thing = "test/Thing"

// thePlaces and theKeys are all places and resources that a world may have.
var (
	thePlaces = []string{"p", "q"}
	theKeys   = []model.Key{{Source: "s", Kind: thing, ID: "p/a"}, {Source: "s", Kind: thing, ID: "p/b"}, {Source: "s", Kind: thing, ID: "q/a"},
		{Source: "t", Kind: thing, ID: "p/a"}}
)

// theDeclarations are two tools and an inventory. They govern the same source, and each
// has other scopes.
func theDeclarations() []model.Declaration {
	return []model.Declaration{
		{Name: "d", Governs: []string{"s", "t"}, Scopes: []model.Scope{{Place: "p"}}},
		{Name: "e", Governs: []string{"s"}},
		{Name: "i", Governs: []string{"s"}, Inventory: true, Scopes: []model.Scope{{Kind: thing, Place: "p"}}},
	}
}

// part returns the declarations that are part of the estate, with its sources.
func (w *world) part() []model.Declaration {
	all := slices.DeleteFunc(theDeclarations(), func(d model.Declaration) bool { return !slices.Contains(w.declarations, d.Name) })
	for i := range all {
		all[i].Governs = slices.DeleteFunc(all[i].Governs, func(source string) bool { return !slices.Contains(w.sources, source) })
	}
	return all
}

// governed reports whether a declaration of the estate has a scope that holds a resource.
func (w *world) governed(k model.Key) bool {
	return slices.ContainsFunc(w.part(), func(d model.Declaration) bool {
		return slices.Contains(d.Governs, k.Source) && slices.ContainsFunc(d.Scopes, func(s model.Scope) bool { return s.Contains(k.Kind, placeOf(k)) })
	})
}

func governs(name, source string) bool {
	return slices.ContainsFunc(theDeclarations(), func(d model.Declaration) bool { return d.Name == name && slices.Contains(d.Governs, source) })
}

func placeOf(k model.Key) string {
	place, _, _ := strings.Cut(k.ID, "/")
	return place
}

func drawValue(t *rapid.T) model.Value {
	number := rapid.IntRange(0, 2)
	return model.MapOf(model.Field{Name: "a", Value: model.IntOf(int64(number.Draw(t, "a")))}, model.Field{Name: "b", Value: model.IntOf(int64(number.Draw(t, "b")))})
}

func drawWorld(t *rapid.T) *world {
	w := &world{sources: []string{"s", "t"}, live: map[model.Key]model.Value{}, declared: map[string]map[model.Key]model.Value{},
		recorded: map[string]map[model.Key]model.Value{"d": {}, "e": {}, "i": {}}}
	for _, d := range theDeclarations() {
		w.declarations = append(w.declarations, d.Name)
		w.declared[d.Name] = map[model.Key]model.Value{}
	}
	for _, k := range theKeys {
		w.edit(t, k)
	}
	return w
}

// edit draws what exists and what is declared of a resource, each as it was in half of
// the cases.
func (w *world) edit(t *rapid.T, k model.Key) {
	switch rapid.SampledFrom([]string{"", "", "write", "delete"}).Draw(t, "live") {
	case "write":
		w.live[k] = drawValue(t)
	case "delete":
		delete(w.live, k)
	}
	for name, declared := range w.each() {
		if !governs(name, k.Source) {
			continue
		}
		switch rapid.SampledFrom([]string{"", "", "write", "delete"}).Draw(t, name) {
		case "write":
			declared[k] = drawValue(t)
		case "delete":
			delete(declared, k)
		}
		if name == "d" && rapid.Bool().Draw(t, "recorded") {
			w.recorded[name][k] = drawValue(t)
		}
	}
}

// each yields the declarations of the estate in their order.
func (w *world) each() func(yield func(string, map[model.Key]model.Value) bool) {
	return func(yield func(string, map[model.Key]model.Value) bool) {
		for _, name := range w.declarations {
			if !yield(name, w.declared[name]) {
				return
			}
		}
	}
}

// sync applies every declaration: the live side of each resource is as declared, and
// what no declaration claims does not exist.
func (w *world) sync() {
	clear(w.live)
	for _, k := range theKeys {
		for _, declared := range w.each() {
			v, claimed := declared[k]
			if first, known := w.live[k]; known && claimed {
				declared[k] = first
			} else if claimed {
				w.live[k] = v
			}
		}
		for name, declared := range w.each() {
			if v, exists := w.live[k]; exists && governs(name, k.Source) {
				declared[k] = v
			}
			delete(w.recorded[name], k)
		}
	}
}

// drifts returns what truly differs of a resource: "missing", "unmanaged", or the fields
// whose value one of the declarations declares otherwise.
func (w *world) drifts(k model.Key, of []string) []string {
	v, exists := w.live[k]
	var found []string
	claimed := false
	for name, declared := range w.each() {
		want, ok := declared[k]
		ok = ok && slices.Contains(of, name)
		claimed = claimed || ok
		for _, field := range []string{"a", "b"} {
			if ok && exists && !want.At(field).Equal(v.At(field)) && !slices.Contains(found, field) {
				found = append(found, field)
			}
		}
	}
	switch {
	case !exists && claimed:
		return []string{"missing"}
	case exists && !claimed && w.governed(k):
		return []string{"unmanaged"}
	}
	return found
}

// A scan is what one scan reads of a world.
type scan struct {
	snapshots    []model.Snapshot
	declarations []model.Declaration
	// reads reports which resources were read, or are known not to exist.
	reads map[model.Key]bool
}

// drawScan draws a scan of a world that may fail in every part. Stale sources show the
// world as it was before.
func drawScan(t *rapid.T, w, before *world, taken time.Time) scan {
	sc := scan{reads: map[model.Key]bool{}}
	for _, source := range w.sources {
		switch rapid.SampledFrom([]string{"read", "read", "read", "failed", "stale"}).Draw(t, "source") {
		case "read":
			sc.snapshots = append(sc.snapshots, sc.snapshot(t, w, source, taken))
		case "stale":
			s := (&scan{reads: map[model.Key]bool{}}).snapshot(t, before, source, taken)
			s.Doubt(model.Scope{}, "no quorum")
			sc.snapshots = append(sc.snapshots, s)
		}
	}
	for _, d := range w.part() {
		sc.declarations = append(sc.declarations, sc.declaration(t, w, d))
	}
	return sc
}

// snapshot reads a source. Scopes and single resources may fail.
func (sc *scan) snapshot(t *rapid.T, w *world, source string, taken time.Time) model.Snapshot {
	s := model.Snapshot{Source: source, Taken: taken, Kinds: map[string]*model.Kind{thing: {Name: thing, Namespaced: true}}}
	read := map[string]bool{}
	for _, place := range thePlaces {
		read[place] = rapid.IntRange(0, 3).Draw(t, "scope") > 0
		s.Coverage = append(s.Coverage, model.Coverage{Source: source, Kind: thing, Place: place, Complete: read[place], Reason: "forbidden"})
	}
	for _, k := range theKeys {
		v, exists := w.live[k]
		if k.Source != source {
			continue
		}
		switch how := rapid.SampledFrom([]string{"listed", "listed", "listed", "unread", "cut off"}).Draw(t, "resource"); {
		case how == "cut off" && !read[placeOf(k)]: // a list that failed half way
		case how == "unread" && exists:
			s.Unread = append(s.Unread, model.Unread{Ref: model.Ref{Kind: k.Kind, ID: k.ID}, Reason: "too large"})
		case exists:
			s.Resources = append(s.Resources, model.Resource{Key: k, Place: placeOf(k), Name: k.ID, Value: v})
			sc.reads[k] = true
		default:
			sc.reads[k] = read[placeOf(k)]
		}
	}
	return s
}

// declaration reads a declaration. A part of it may be unreadable, with what it declares.
func (sc *scan) declaration(t *rapid.T, w *world, d model.Declaration) model.Declaration {
	how := rapid.SampledFrom([]string{"read", "read", "read", "in part", "failed"}).Draw(t, "declaration")
	if how != "read" {
		d.Problems = []model.Problem{{Address: "broken", Reason: "502"}}
	}
	for n, k := range theKeys {
		v, ok := w.declared[d.Name][k]
		if !ok || how == "failed" || how == "in part" && rapid.Bool().Draw(t, "lost") {
			continue
		}
		c := model.Claim{Declaration: d.Name, Address: d.Name + ":" + string(rune('1'+n)), Source: k.Source, Kind: k.Kind, ID: k.ID, Place: placeOf(k), Name: k.ID, Value: v}
		if r, ok := w.recorded[d.Name][k]; ok {
			c.Recorded = &r
		}
		d.Claims = append(d.Claims, c)
	}
	return d
}

// input compares what the scan read.
func (sc *scan) input(w *world) Input {
	in := Input{Snapshots: sc.snapshots, Declarations: sc.declarations, Sources: slices.Clone(w.sources), Whole: true}
	for _, source := range in.Sources {
		snapshot := model.NotRead(source, "refused")
		if read := sc.of(source); read != nil {
			snapshot = *read
		}
		subjects := match.Match(snapshot, sc.declarations)
		for i := range subjects {
			in.Judged = append(in.Judged, diff.Judge(&subjects[i], diff.Options{}))
		}
	}
	return in
}

// of returns the scan's snapshot of a source, or nil.
func (sc *scan) of(source string) *model.Snapshot {
	for i := range sc.snapshots {
		if sc.snapshots[i].Source == source {
			return &sc.snapshots[i]
		}
	}
	return nil
}

// declares returns the declaration of a name as the scan read it, or nil.
func (sc *scan) declares(name string) *model.Declaration {
	for i := range sc.declarations {
		if sc.declarations[i].Name == name {
			return &sc.declarations[i]
		}
	}
	return nil
}
