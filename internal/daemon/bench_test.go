package daemon

import (
	"fmt"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

// benchEstate returns an estate of n resources of 30 fields, each declared, one in a hundred
// drifted.
func benchEstate(n int) view {
	schema := &model.Schema{Fields: map[string]*model.Schema{
		"spec": {Fields: map[string]*model.Schema{
			"env": {List: model.Keyed, Keys: []string{"name"}, Each: &model.Schema{Fields: map[string]*model.Schema{"name": {}, "value": {}}}},
			"cpu": {Format: model.Quantity},
		}}}}
	kind := &model.Kind{Name: "test/Thing", Namespaced: true, Schema: schema}
	snapshot := model.Snapshot{Source: "s", Kinds: map[string]*model.Kind{kind.Name: kind},
		Coverage: []model.Coverage{{Source: "s", Complete: true}}}
	d := model.Declaration{Name: "d", Governs: []string{"s"}, Scopes: []model.Scope{{Place: "p"}}}
	for i := range n {
		id := fmt.Sprintf("p/thing-%06d", i)
		live := benchValue(i, "1000m", "image:1")
		if i%100 == 0 {
			live = benchValue(i, "1000m", "image:2")
		}
		snapshot.Resources = append(snapshot.Resources, model.Resource{Key: model.Key{Source: "s", Kind: kind.Name, ID: id},
			Place: "p", Name: id[2:], Value: live, OwnersFrom: "managedFields",
			Owners: []model.Owner{{Name: "kubectl", Applies: true, Fields: benchOwned()}}})
		d.Claims = append(d.Claims, model.Claim{Declaration: "d", Address: "d/x.yaml:1", Kind: kind.Name, ID: id, Place: "p",
			Name: id[2:], Value: benchValue(i, "1", "image:1")})
	}
	return view{sources: []sourceView{{Source: Source{Name: "s"}, collected: collected{snapshot: snapshot}, declarations: []model.Declaration{d}}},
		declarations: []declarationView{{loaded: loaded{declaration: d}}}}
}

func benchValue(i int, cpu, image string) model.Value {
	var env, labels []model.Field
	var items []model.Value
	for k := range 10 {
		items = append(items, model.MapOf(model.Field{Name: "name", Value: model.StringOf(fmt.Sprintf("VAR_%d", k))},
			model.Field{Name: "value", Value: model.StringOf(fmt.Sprintf("value %d", i+k))}))
	}
	for k := range 8 {
		labels = append(labels, model.Field{Name: fmt.Sprintf("label-%d", k), Value: model.StringOf("x")})
	}
	spec := model.MapOf(append(env, model.Field{Name: "env", Value: model.ListOf(items...)},
		model.Field{Name: "cpu", Value: model.StringOf(cpu)}, model.Field{Name: "image", Value: model.StringOf(image)},
		model.Field{Name: "replicas", Value: model.IntOf(3)})...)
	return model.MapOf(model.Field{Name: "metadata", Value: model.MapOf(model.Field{Name: "labels", Value: model.MapOf(labels...)})},
		model.Field{Name: "spec", Value: spec})
}

func benchOwned() model.FieldSet {
	var spec, root model.FieldSet
	for _, f := range []string{"cpu", "env", "image", "replicas"} {
		spec.Put(model.Step{Text: f}, model.FieldSet{})
	}
	root.Put(model.Step{Text: "spec"}, spec)
	return root
}

// BenchmarkCore matches, compares and classifies 100,000 resources of 30
// fields.
func BenchmarkCore(b *testing.B) {
	const n = 100_000
	v := benchEstate(n)
	b.ResetTimer()
	for b.Loop() {
		judged := judgeAll(v, diff.Options{})
		in := classify.Input{Judged: judged, Snapshots: v.accepted(), Declarations: v.sources[0].declarations, Now: time.Unix(1e9, 0)}
		if found := len(classify.Findings(in).Current); found != n/100 {
			b.Fatalf("%d findings", found)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/object")
}
