package daemon

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

const network = "test/Network"

// referring is a source whose things refer to networks by the field size.
type referring struct {
	*fakeSource

	// networks are the names by ID. partial reports whether not all of them were read.
	networks map[string]string
	partial  bool
}

func (r *referring) Collect(ctx context.Context) (model.Snapshot, error) {
	s, err := r.fakeSource.Collect(ctx)
	s.Kinds[thing].Schema = &model.Schema{Fields: map[string]*model.Schema{"size": {Refers: model.Reference{Kind: network}}}}
	s.Kinds[network] = &model.Kind{Name: network}
	s.Coverage = append(s.Coverage, model.Coverage{Source: s.Source, Kind: network, Complete: !r.partial})
	all := s.Resources
	s.Resources = nil
	for _, id := range []string{"1", "2", "3"} {
		if name, ok := r.networks[id]; ok {
			s.Resources = append(s.Resources, model.Resource{Key: model.Key{Source: s.Source, Kind: network, ID: id}, Name: name})
		}
	}
	s.Resources = append(s.Resources, all...)
	return s, err
}

// TestNamesOfReferences checks that findings have the names of the objects to which their fields refer,
// and that another name is no other finding: there is no message, no version, and no other basis.
func TestNamesOfReferences(t *testing.T) {
	t.Parallel()
	var source *referring
	d := newNotifyBench(t, func(e *Estate) {
		source = &referring{fakeSource: e.Sources[0].Collector.(*fakeSource), networks: map[string]string{"1": "storage", "2": strings.Repeat("é", 100)}}
		e.Sources[0].Collector = source
	})
	d.set(0, "2")
	wantVerdicts(t, d.cycle(t), "1 changed")
	d.want(t, "the edit is notified", "new: new p/00")
	first := d.only(t)
	d.wantNames(t, "both sides are named, a long name is cut", map[string]string{"1": "storage", "2": strings.Repeat("é", 63) + "…"})

	for _, step := range []struct {
		reason string
		change func()
		want   map[string]string
		said   []string
	}{
		{"renamed", func() { source.networks["1"], source.networks["2"] = "backup", "dmz" }, map[string]string{"1": "backup", "2": "dmz"}, nil},
		{"no object has the ID any more", func() { delete(source.networks, "2") }, map[string]string{"1": "backup", "2": ""}, nil},
		{"it may exist if not all objects were read", func() { source.partial = true }, map[string]string{"1": "backup"}, nil},
		{"the names stay while the source cannot be read", func() { source.err = errors.New("down") }, map[string]string{"1": "backup"},
			[]string{"unchecked: new p/00, new p/01, new p/02, new p/03"}},
		{"an object without a name has none", func() { source.err, source.networks["1"] = nil, "" }, nil,
			[]string{"resolved: resolved p/00, resolved p/01, resolved p/02, resolved p/03"}},
	} {
		d.now = d.now.Add(time.Minute)
		step.change()
		d.cycle(t)
		d.wantNames(t, step.reason, step.want)
		if got := d.only(t); got.ID != first.ID || got.Basis != first.Basis {
			t.Errorf("%s: it is finding %s with the basis %s, want %s with %s", step.reason, got.ID, got.Basis, first.ID, first.Basis)
		}
		d.want(t, step.reason, step.said...)
	}
	if _, versions, err := d.store.Finding(first.ID); err != nil || len(versions) != 1 {
		t.Errorf("%d versions of the finding, error %v, want 1", len(versions), err)
	}
}

// only returns the only open finding of a difference in the store.
func (d *notifyBench) only(t *testing.T) model.Finding {
	t.Helper()
	open, err := d.store.OpenFindings()
	if err != nil {
		t.Fatal(err)
	}
	var drift []model.Finding
	for _, f := range open {
		if f.Verdict.IsDrift() {
			drift = append(drift, f)
		}
	}
	if len(drift) != 1 {
		t.Fatalf("%d findings, want 1", len(drift))
	}
	return drift[0]
}

func (d *notifyBench) wantNames(t *testing.T, reason string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, d.only(t).Changes[0].Names); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

// An assigned is a lens with two attributes for the field target_id, of which each shows one kind of object,
// and one that shows both.
type assigned struct{ model.Lens }

func (assigned) View(live model.Value) model.Value {
	fields := []model.Field{{Name: "any_id", Value: live.At("target_id")}}
	if kind := live.At("target_type").Str(); kind == "Disk" || kind == "Network" {
		fields = append(fields, model.Field{Name: map[string]string{"Disk": "disk_id", "Network": "network_id"}[kind], Value: live.At("target_id")})
	}
	return model.MapOf(fields...)
}

func TestNamesOfGenericReferences(t *testing.T) {
	t.Parallel()
	target := func(kind string, id int64) model.Value {
		return model.MapOf(model.Field{Name: "target_id", Value: model.IntOf(id)}, model.Field{Name: "target_type", Value: model.StringOf(kind)})
	}
	key := func(kind, id string) model.Key { return model.Key{Source: "live", Kind: "test/" + kind, ID: id} }
	owner := key("Thing", "a")
	snapshot := model.Snapshot{Source: "live", Coverage: []model.Coverage{{Complete: true}}, Resources: []model.Resource{
		{Key: key("Disk", "1"), Name: "root"}, {Key: key("Disk", "2"), Name: "data"},
		{Key: key("Network", "1"), Name: "storage"}, {Key: key("Network", "2"), Name: "backup"}, {Key: owner, Value: target("Network", 2)}},
		Kinds: map[string]*model.Kind{"test/Disk": {}, "test/Network": {}, "test/Thing": {Schema: &model.Schema{Fields: map[string]*model.Schema{
			"target_id": {Refers: model.Reference{Kind: "test/", KindField: "target_type"}}}}}}}
	source := sourceView{Source: Source{Name: "live"}, collected: collected{snapshot: snapshot}}
	one, two := model.IntOf(1), model.IntOf(2)
	for name, tc := range map[string]struct {
		lens   model.Lens
		value  model.Value
		change model.Change
		want   map[string]string
	}{
		"an attribute of one kind":         {assigned{}, model.Value{}, model.Change{Path: "network_id", LivePath: "target_id", Declared: &one, Live: &two}, map[string]string{"1": "storage", "2": "backup"}},
		"of another kind than live":        {assigned{}, model.Value{}, model.Change{Path: "disk_id", LivePath: "target_id", Declared: &one}, map[string]string{"1": "root"}},
		"recorded":                         {assigned{}, model.Value{}, model.Change{Path: "disk_id", LivePath: "target_id", Recorded: &two}, map[string]string{"2": "data"}},
		"an attribute of any kind":         {assigned{}, model.Value{}, model.Change{Path: "any_id", LivePath: "target_id", Declared: &one, Live: &two}, map[string]string{"2": "backup"}},
		"one ID with an unknown kind":      {assigned{}, model.Value{}, model.Change{Path: "any_id", LivePath: "target_id", Declared: &two, Live: &two}, nil},
		"in the form of the kind":          {nil, target("Disk", 1), model.Change{Path: "target_id", Declared: &one, Live: &two}, map[string]string{"1": "root", "2": "backup"}},
		"one ID of two kinds":              {nil, target("Disk", 2), model.Change{Path: "target_id", Declared: &two, Live: &two}, nil},
		"a kind that does not exist":       {nil, target("Tape", 1), model.Change{Path: "target_id", Declared: &one}, nil},
		"a secret":                         {nil, target("Disk", 1), model.Change{Path: "target_id", Declared: &one, Secret: true}, nil},
		"a field that is no reference":     {nil, target("Disk", 1), model.Change{Path: "target_type", Declared: &one}, nil},
		"a field that the kind lacks":      {nil, target("Disk", 1), model.Change{Path: "other[0].x", Declared: &one}, nil},
		"a path in an unknown form":        {nil, target("Disk", 1), model.Change{Path: "target_id[", Declared: &one}, nil},
		"what is below a reference":        {nil, target("Disk", 1), model.Change{Path: "target_id.x", Declared: &one}, nil},
		"a claim that does not exist here": {nil, target("Disk", 1), model.Change{Path: "target_id", Claims: []model.ClaimedValue{{Declaration: "gone", Value: one}}}, nil},
		"a dispute": {nil, target("Disk", 1), model.Change{Path: "target_id", Live: &two, Claims: []model.ClaimedValue{{Declaration: "infra", Address: "x", Value: one}}},
			map[string]string{"1": "root", "2": "backup"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			infra := declarationView{Declaration{Name: "infra"}, loaded{declaration: model.Declaration{Claims: []model.Claim{
				{Declaration: "infra", Address: "x", Kind: owner.Kind, ID: owner.ID, Lens: tc.lens, Value: tc.value}}}}}
			f := model.Finding{Key: owner, Declaration: "infra", Address: "x", Changes: []model.Change{tc.change}, Ignored: []model.IgnoredChange{{Change: tc.change}}}
			before, findings := f.Changes, []model.Finding{f}
			view{sources: []sourceView{source}, declarations: []declarationView{infra}}.name(findings)
			if diff := cmp.Diff(tc.want, findings[0].Changes[0].Names); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, findings[0].Ignored[0].Names); diff != "" {
				t.Errorf("names of an ignored field (-want +got):\n%s", diff)
			}
			if before[0].Names != nil {
				t.Error("the changes of the earlier finding have names")
			}
		})
	}
}
