package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readOne reads a plan of lab_server.web after a refresh that changed its values.
func readOne(t *testing.T, address string, before, after object, configuration object, blocks map[string]Blocks) []string {
	t.Helper()
	p := decoded(t, object{"configuration": configuration,
		"resource_drift":   []any{change(address, "update", before, after, nil)},
		"resource_changes": []any{change(address, "no-op", after, after, nil)}})
	return judged(Read(Input{Plan: p, Schemas: schemas(t, p), Blocks: blocks}, sealer()).Instances[0])
}

// TestUnwrittenBlocks reads blocks that a refresh changed and that no apply would change back: only
// written blocks can mean that the configuration was changed to match.
func TestUnwrittenBlocks(t *testing.T) {
	t.Parallel()
	const web = "lab_server.web"
	with := func(fields object) object {
		o := object{"id": "s-1", "name": "web"}
		for name, v := range fields {
			o[name] = v
		}
		return o
	}
	disk := func(size int) object { return with(object{"disk": []any{object{"size": size}}}) }
	rule := func(ports ...int) object {
		var rules []any
		for _, p := range ports {
			rules = append(rules, object{"port": p})
		}
		return with(object{"rule": rules})
	}
	name := object{"name": constant("web")}
	none := map[string]Blocks{web: {}}
	inModule := func(expressions object) object {
		return object{"root_module": object{"module_calls": object{"m": object{"module": config(expressions)["root_module"]}}}}
	}
	for reason, tt := range map[string]struct {
		address       string
		before, after object
		config        object
		blocks        map[string]Blocks
		want          []string
	}{
		"a block added by hand": {before: rule(), after: rule(22), config: config(name), blocks: none,
			want: []string{`changed rule: declared -, recorded -, live [{"port":22}]`}},
		"another one added by hand": {before: rule(80), after: rule(22, 80), config: config(name), blocks: none,
			want: []string{`changed rule: declared [{"port":80}], recorded [{"port":80}], live [{"port":22},{"port":80}]`}},
		"a block removed by hand": {before: rule(80), after: rule(), config: config(name), blocks: none,
			want: []string{`changed rule: declared [{"port":80}], recorded [{"port":80}], live -`}},
		"an argument in such a block": {before: disk(1), after: disk(2), config: config(name), blocks: none,
			want: []string{"changed disk[0].size: declared 1, recorded 1, live 2"}},
		"a resource without arguments": {before: disk(1), after: disk(2), config: config(nil), blocks: none,
			want: []string{"changed disk[0].size: declared 1, recorded 1, live 2"}},
		"in an instance of a module": {address: `module.m["a"].lab_server.web[0]`, before: rule(), after: rule(22), config: inModule(name),
			blocks: map[string]Blocks{"module.m.lab_server.web": {}}, want: []string{`changed rule: declared -, recorded -, live [{"port":22}]`}},
		"another block is written": {before: disk(1), after: disk(2), config: config(object{"name": constant("web"), "rule": []any{object{"port": constant(1)}}}),
			blocks: map[string]Blocks{web: {Names: []string{"rule"}}}, want: []string{"changed disk[0].size: declared 1, recorded 1, live 2"}},
		"the block is written": {before: disk(1), after: disk(2), config: config(object{"name": constant("web"), "disk": []any{object{"size": constant(2)}}}),
			blocks: map[string]Blocks{web: {Names: []string{"disk"}}}, want: []string{`codified disk: declared [{"size":2}], recorded [{"size":1}], live [{"size":2}]`}},
		"a dynamic block may write it": {before: rule(), after: rule(22), config: config(name),
			blocks: map[string]Blocks{web: {Dynamic: [][]string{{"rule"}}}}, want: []string{`codified rule: declared [{"port":22}], recorded -, live [{"port":22}]`}},
		"the files could not be read": {before: rule(), after: rule(22), config: config(name),
			want: []string{`codified rule: declared [{"port":22}], recorded -, live [{"port":22}]`}},
		"an attribute written as blocks has no expression": {before: with(object{"extra": []any{}}), after: with(object{"extra": []any{"x"}}), config: config(name),
			blocks: map[string]Blocks{web: {Names: []string{"extra"}}}, want: []string{`codified extra: declared ["x"], recorded [], live ["x"]`}},
		"an attribute whose default is declared": {before: with(object{"size": 8}), after: with(object{"size": 2}), config: config(name), blocks: none,
			want: []string{"codified size: declared 2, recorded 8, live 2"}},
	} {
		if tt.address == "" {
			tt.address = web
		}
		if d := cmp.Diff(tt.want, readOne(t, tt.address, tt.before, tt.after, tt.config, tt.blocks)); d != "" {
			t.Errorf("%s (-want +got):\n%s", reason, d)
		}
	}
}

// TestDocuments checks that JSON strings are compared by content at any depth, and policies like in
// IAM.
func TestDocuments(t *testing.T) {
	t.Parallel()
	const (
		sent   = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Principal":"*","Resource":["b","a"]}]}`
		given  = `{"Statement":{"Action":"S3:getobject","Effect":"Allow","Principal":{"AWS":["*"]},"Resource":["a","b"]},"Version":"2012-10-17"}`
		others = `{"Statement":{"Action":"S3:getobject","Effect":"Allow","Principal":{"AWS":["*"]},"Resource":["a","c"]},"Version":"2012-10-17"}`
	)
	for reason, tt := range map[string]struct {
		attribute  string
		mine, live any
		same       bool
	}{
		"a policy":                         {"policy", sent, given, true},
		"another policy":                   {"policy", sent, others, false},
		"a policy in a list":               {"order", []any{"x", sent}, []any{"x", given}, true},
		"a policy in a set of two":         {"tags", []any{"x", sent}, []any{given, "x"}, true},
		"another policy in a set":          {"tags", []any{"x", sent}, []any{others, "x"}, false},
		"a policy in a set of blocks":      {"rule", []any{object{"port": 1, "key": sent}, object{"port": 2}}, []any{object{"port": 2}, object{"port": 1, "key": given}}, true},
		"a list of one is no scalar":       {"policy", `{"a":["x"]}`, `{"a":"x"}`, false},
		"the order of a list in JSON":      {"policy", `{"a":["x","y"]}`, `{"a":["y","x"]}`, false},
		"something that only has the name": {"policy", `{"Statement":["b","a"]}`, `{"Statement":["a","b"]}`, false},
	} {
		with := func(v any) object { return object{"id": "s-1", "name": "web", tt.attribute: v} }
		p := decoded(t, object{"configuration": config(object{"name": constant("web"), tt.attribute: object{"references": []string{"var.p"}}}),
			"resource_drift":   []any{change("lab_server.web", "update", with(tt.mine), with(tt.live), nil)},
			"resource_changes": []any{change("lab_server.web", "update", with(tt.live), with(tt.mine), nil)}})
		got := judged(Read(Input{Plan: p, Schemas: schemas(t, p)}, sealer()).Instances[0])
		if (len(got) == 0) != tt.same {
			t.Errorf("%s: %v", reason, got)
		}
	}
}

// TestEmptyEntries checks that an entry with an empty text in a map differs from a missing one also if it was added or
// removed by hand: the configuration is as before.
func TestEmptyEntries(t *testing.T) {
	t.Parallel()
	of := func(labels object) object { return object{"id": "s-1", "name": "web", "labels": labels} }
	with, without := of(object{"x": "1", "backup": ""}), of(object{"x": "1"})
	for reason, tt := range map[string]struct {
		recorded, live, planned object
		want                    []string
	}{
		"removed": {with, without, with, []string{`changed labels.backup: declared , recorded , live -`}},
		"added":   {without, with, without, []string{`changed labels.backup: declared -, recorded -, live `}},
	} {
		p := decoded(t, object{"configuration": config(object{"name": constant("web"), "labels": constant(tt.planned["labels"])}),
			"resource_drift":   []any{change("lab_server.web", "update", tt.recorded, tt.live, nil)},
			"resource_changes": []any{change("lab_server.web", "update", tt.live, tt.planned, nil)}})
		got := judged(Read(Input{Plan: p, Schemas: schemas(t, p)}, sealer()).Instances[0])
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", reason, d)
		}
	}
}

// TestUnset checks that a value that the configuration does not set is marked as one that no apply changes back.
func TestUnset(t *testing.T) {
	t.Parallel()
	of := func(mode string, size int) object {
		return object{"id": "s-1", "name": "web", "mode": mode, "size": size}
	}
	p := decoded(t, object{"configuration": config(object{"name": constant("web"), "size": constant(2)}),
		"resource_drift":   []any{change("lab_server.web", "update", of("auto", 2), of("fast", 8), nil)},
		"resource_changes": []any{change("lab_server.web", "update", of("fast", 8), of("fast", 2), nil)}})
	i := Read(Input{Plan: p, Schemas: schemas(t, p)}, sealer()).Instances[0]
	var paths []string
	for _, u := range i.Unset {
		paths = append(paths, u.Path[0].Name)
	}
	if d := cmp.Diff([]string{"mode"}, paths); d != "" {
		t.Error(d)
	}
}
