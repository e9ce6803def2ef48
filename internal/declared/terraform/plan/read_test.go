package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

func sealer() model.Sealer { return model.NewSealer([]byte("a key for tests")) }

// object is the JSON of an object, by field.
type object map[string]any

func encode(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// change returns an entry of resource_changes or resource_drift.
func change(address, actions string, before, after any, more object) object {
	inner := object{"actions": strings.Fields(actions), "before": before, "after": after, "after_unknown": object{},
		"before_sensitive": object{}, "after_sensitive": object{}}
	outer := object{"address": address, "mode": "managed", "type": "lab_server", "name": "web",
		"provider_name": "example.org/driftd/lab", "change": inner}
	for name, v := range more {
		switch name {
		case "after_unknown", "before_sensitive", "after_sensitive", "importing":
			inner[name] = v
		default:
			outer[name] = v
		}
	}
	return outer
}

// config returns the configuration of lab_server.web, by attribute.
func config(expressions object) object {
	return object{"root_module": object{"resources": []any{object{"address": "lab_server.web", "mode": "managed",
		"type": "lab_server", "name": "web", "expressions": expressions, "schema_version": 0}}}}
}

func constant(v any) object { return object{"constant_value": v} }

// decoded returns a plan with the fields that every plan has.
func decoded(t testing.TB, fields object) *Plan {
	t.Helper()
	all := object{"format_version": "1.2", "terraform_version": "1.11.4"}
	for name, v := range fields {
		all[name] = v
	}
	p, err := Decode(strings.NewReader(encode(t, all)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func schemas(t testing.TB, p *Plan) *Schemas {
	t.Helper()
	text, err := os.ReadFile("testdata/schemas.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := DecodeSchemas(bytes.NewReader(text), p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// judged returns the outcomes of package diff for an instance, one line per change.
func judged(i Instance) []string {
	lines := []string{}
	if i.Pending != "" {
		lines = append(lines, "waits: "+i.Pending)
	}
	if i.Unchecked != "" {
		return append(lines, "unchecked: "+i.Unchecked)
	}
	if i.Declared == nil || i.Live == nil && i.Pending != "" {
		return lines
	}
	s := model.Subject{Kind: &model.Kind{Schema: i.Schema},
		Claims: []*model.Claim{{Value: *i.Declared, Recorded: i.Recorded, Complete: true}}}
	if i.Live != nil {
		s.Live = &model.Resource{Value: *i.Live}
	}
	for _, o := range diff.Compare(&s, diff.Options{}) {
		if len(o.Changes) == 0 {
			lines = append(lines, string(o.Verdict))
		}
		for _, c := range o.Changes {
			lines = append(lines, fmt.Sprintf("%s %s: declared %s, recorded %s, live %s",
				o.Verdict, c.Path, shown(c.Declared), shown(c.Recorded), shown(c.Live)))
		}
	}
	slices.Sort(lines)
	return lines
}

func shown(v *model.Value) string {
	if v == nil {
		return "-"
	}
	return v.Public().String()
}

// TestVerdicts compares one resource in every state with package diff.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	with := func(fields ...any) object {
		o := object{"id": "s-1", "name": "web", "size": 2, "mode": "auto", "status": "up"}
		for i := 0; i < len(fields); i += 2 {
			o[fields[i].(string)] = fields[i+1]
		}
		return o
	}
	web := "lab_server.web"
	written := object{"name": constant("web"), "size": constant(2), "labels": object{"references": []string{"var.l"}},
		"tags": object{"references": []string{"var.t"}}, "policy": object{"references": []string{"var.p"}}, "password": constant("x")}
	tests := map[string]struct {
		drift, change object
		ignored       syntax.Ignored
		want          []string
		reason        string
	}{
		"in sync": {change: change(web, "no-op", with(), with(), nil), want: []string{}},
		"changed": {
			drift:  change(web, "update", with(), with("size", 8), nil),
			change: change(web, "update", with("size", 8), with(), nil),
			want:   []string{"changed size: declared 2, recorded 2, live 8"},
		},
		"pending": {
			change: change(web, "update", with(), with("size", 4), nil),
			want:   []string{"pending size: declared 4, recorded 2, live 2"},
		},
		"conflict": {
			drift:  change(web, "update", with(), with("size", 8), nil),
			change: change(web, "update", with("size", 8), with("size", 4), nil),
			want:   []string{"conflict size: declared 4, recorded 2, live 8"},
		},
		"codified": {
			drift:  change(web, "update", with(), with("size", 8), nil),
			change: change(web, "no-op", with("size", 8), with("size", 8), nil),
			want:   []string{"codified size: declared 8, recorded 2, live 8"},
		},
		"missing": {
			drift:  change(web, "delete", with(), nil, nil),
			change: change(web, "create", nil, with("id", nil), object{"after_unknown": object{"id": true}}),
			want:   []string{"missing"},
		},
		"never applied": {
			change: change(web, "create", nil, with(), nil),
			want:   []string{"waits: declared and never applied: the next apply creates it"},
		},
		"set where nothing was declared": {
			drift:  change(web, "update", with(), with("notes", "by hand"), nil),
			change: change(web, "update", with("notes", "by hand"), with(), nil),
			want:   []string{"changed notes: declared -, recorded -, live by hand"},
		},
		"removed by hand": {
			drift:  change(web, "update", with("notes", "ours"), with(), nil),
			change: change(web, "update", with(), with("notes", "ours"), nil),
			want:   []string{"changed notes: declared ours, recorded ours, live -"},
		},
		"declared no longer": {
			change: change(web, "update", with("notes", "ours"), with(), nil),
			want:   []string{"pending notes: declared -, recorded ours, live ours"},
		},
		"ignored": {
			drift:   change(web, "update", with(), with("size", 8), nil),
			change:  change(web, "no-op", with("size", 8), with("size", 8), nil),
			ignored: syntax.Ignored{Paths: [][]string{{"size"}}}, want: []string{},
		},
		"all ignored": {
			drift:   change(web, "update", with(), with("size", 8, "labels", object{"a": "1"}), nil),
			change:  change(web, "no-op", with("size", 8, "labels", object{"a": "1"}), with("size", 8, "labels", object{"a": "1"}), nil),
			ignored: syntax.Ignored{All: true}, want: []string{},
		},
		"one entry ignored": {
			drift: change(web, "update", with("labels", object{"a": "1", "b": "1"}), with("labels", object{"a": "2", "b": "2"}), nil),
			change: change(web, "update", with("labels", object{"a": "2", "b": "2"}), with("labels", object{"a": "2", "b": "1"}),
				nil),
			ignored: syntax.Ignored{Paths: [][]string{{"labels", "a"}}},
			want:    []string{"changed labels.b: declared 1, recorded 1, live 2"},
		},
		"the provider's own attributes": {
			reason: "no configuration can set status; local clocks and counters live there",
			drift:  change(web, "update", with(), with("status", "busy"), nil),
			change: change(web, "no-op", with("status", "busy"), with("status", "busy"), nil), want: []string{},
		},
		"left to the provider, changed by hand": {
			drift:  change(web, "update", with(), with("mode", "manual"), nil),
			change: change(web, "no-op", with("mode", "manual"), with("mode", "manual"), nil),
			want:   []string{"changed mode: declared auto, recorded auto, live manual"},
		},
		"left to the provider, removed by hand": {
			reason: "some providers plan an empty text for what they fill in, as for the volume of a disk that is detached",
			drift:  change(web, "update", with(), with("mode", nil, "size", nil), nil),
			change: change(web, "update", with("mode", nil, "size", nil), with("mode", ""), nil),
			want:   []string{"changed mode: declared auto, recorded auto, live -", "changed size: declared 2, recorded 2, live -"},
		},
		"an empty text where nothing was": {
			drift:  change(web, "update", with("notes", nil), with("notes", ""), nil),
			change: change(web, "no-op", with("notes", ""), with("notes", nil), nil),
			want:   []string{},
		},
		"nothing where an empty text was": {
			drift:  change(web, "update", with("mode", ""), with("mode", nil), nil),
			change: change(web, "no-op", with("mode", nil), with("mode", ""), nil),
			want:   []string{},
		},
		"left to the provider, filled in by hand": {
			drift:  change(web, "update", with("extra", nil), with("extra", []any{"x"}), nil),
			change: change(web, "no-op", with("extra", []any{"x"}), with("extra", []any{"x"}), nil),
			want:   []string{`changed extra: declared -, recorded -, live ["x"]`},
		},
		"known after apply": {
			reason: "an update makes providers call their own attributes unknown",
			drift:  change(web, "update", with(), with("size", 8), nil),
			change: change(web, "update", with("size", 8), with("id", nil, "status", nil, "mode", nil),
				object{"after_unknown": object{"id": true, "status": true, "mode": true}}),
			want: []string{"changed size: declared 2, recorded 2, live 8"},
		},
		"depends on what changed": {
			reason: "the cause is reported where it is; a chain of findings is noise",
			change: change(web, "update", with(), with("name", nil, "id", nil), object{"after_unknown": object{"name": true, "id": true}}),
			want:   []string{},
		},
		"nothing but computed attributes differ": {
			drift:  change(web, "update", with(), with("status", "broken"), nil),
			change: change(web, "update", with("status", "broken"), with("status", nil), object{"after_unknown": object{"status": true}}),
			want:   []string{"changed status: declared up, recorded up, live broken"},
			reason: "some providers show drift in a hash of their own only",
		},
		"an update for no visible reason": {
			change: change(web, "update", with(), with("status", nil), object{"after_unknown": object{"status": true}}),
			want:   []string{"waits: an apply would update it, for attributes that only the provider sets"},
		},
		"null and empty": {
			drift: change(web, "update", with("labels", nil, "tags", nil, "enabled", nil, "notes", nil, "disk", []any{}),
				with("labels", object{}, "tags", []any{}, "enabled", false, "notes", ""), nil),
			change: change(web, "no-op", with("labels", object{}, "tags", []any{}, "enabled", false, "notes", ""),
				with("labels", object{}, "tags", []any{}, "enabled", false, "notes", ""), nil),
			want: []string{},
		},
		"false is not null for the provider": {
			drift:  change(web, "update", with(), with("enabled", false), nil),
			change: change(web, "update", with("enabled", false), with(), nil),
			want:   []string{"changed enabled: declared -, recorded -, live false"},
		},
		"JSON in another spelling": {
			drift:  change(web, "update", with("policy", `{"a":[1],"b":2}`), with("policy", `{ "b": 2, "a": [ 1.0 ] }`), nil),
			change: change(web, "no-op", with("policy", `{ "b": 2, "a": [ 1.0 ] }`), with("policy", `{ "b": 2, "a": [ 1.0 ] }`), nil),
			want:   []string{},
		},
		"JSON in three spellings": {
			drift:  change(web, "update", with("policy", `{"a":[1],"b":2}`), with("policy", `{ "b": 2, "a": [ 1.0 ] }`), nil),
			change: change(web, "update", with("policy", `{ "b": 2, "a": [ 1.0 ] }`), with("policy", `{"b":2,"a":[1]}`), nil),
			want:   []string{},
		},
		"JSON with another content": {
			drift:  change(web, "update", with("policy", `{"a":1}`), with("policy", `{"a":2}`), nil),
			change: change(web, "update", with("policy", `{"a":2}`), with("policy", `{"a": 1}`), nil),
			want:   []string{`changed policy: declared {"a":1}, recorded {"a":1}, live {"a":2}`},
		},
		"texts that read as numbers": {
			drift:  change(web, "update", with("notes", "1.1"), with("notes", "1.10"), nil),
			change: change(web, "update", with("notes", "1.10"), with("notes", "1.1"), nil),
			want:   []string{"changed notes: declared 1.1, recorded 1.1, live 1.10"},
		},
		"a set in another order": {
			drift:  change(web, "update", with("tags", []any{"a", "b"}), with("tags", []any{"b", "a"}), nil),
			change: change(web, "no-op", with("tags", []any{"b", "a"}), with("tags", []any{"b", "a"}), nil),
			want:   []string{},
		},
		"a set with one more": {
			drift:  change(web, "update", with("tags", []any{"b"}), with("tags", []any{"a", "b"}), nil),
			change: change(web, "update", with("tags", []any{"a", "b"}), with("tags", []any{"b"}), nil),
			want:   []string{`changed tags: declared ["b"], recorded ["b"], live ["a","b"]`},
		},
		"a list in another order": {
			drift:  change(web, "update", with("order", []any{"a", "b"}), with("order", []any{"b", "a"}), nil),
			change: change(web, "update", with("order", []any{"b", "a"}), with("order", []any{"a", "b"}), nil),
			want:   []string{`changed order: declared ["a","b"], recorded ["a","b"], live ["b","a"]`},
		},
		"a nested block": {
			drift:  change(web, "update", with("disk", []any{object{"size": 8, "path": "/a"}}), with("disk", []any{object{"size": 16, "path": "/b"}}), nil),
			change: change(web, "update", with("disk", []any{object{"size": 16, "path": "/b"}}), with("disk", []any{object{"size": 8, "path": "/b"}}), nil),
			want:   []string{"changed disk[0].size: declared 8, recorded 8, live 16"},
		},
		"a nested object": {
			drift:  change(web, "update", with("limits", object{"cpu": 1, "burst": 2}), with("limits", object{"cpu": 3, "burst": 4}), nil),
			change: change(web, "update", with("limits", object{"cpu": 3, "burst": 4}), with("limits", object{"cpu": 1, "burst": 4}), nil),
			want:   []string{"changed limits.cpu: declared 1, recorded 1, live 3"},
		},
		"a set of blocks": {
			drift: change(web, "update", with("rule", []any{object{"port": 80, "id": "r1"}, object{"port": 443, "id": "r2"}}),
				with("rule", []any{object{"port": 443, "id": "r8"}, object{"port": 8080, "id": "r9"}}), nil),
			change: change(web, "update", with("rule", []any{object{"port": 443, "id": "r8"}, object{"port": 8080, "id": "r9"}}),
				with("rule", []any{object{"port": 80}, object{"port": 443}}), object{"after_unknown": object{"rule": []any{object{}, object{}}}}),
			want: []string{`changed rule[0].port: declared 80, recorded 80, live 8080`},
		},
		"a value of no known type": {
			drift:  change(web, "update", with("free", []any{object{"a": 1}}), with("free", []any{object{"a": 1, "b": 2}}), nil),
			change: change(web, "update", with("free", []any{object{"a": 1, "b": 2}}), with("free", []any{object{"a": 1}}), nil),
			want:   []string{"changed free[0].b: declared -, recorded -, live 2"},
		},
		"sensitive": {
			drift: change(web, "update", with("password", "one-secret"), with("password", "another-secret"), nil),
			change: change(web, "update", with("password", "another-secret"), with("password", "one-secret"),
				object{"before_sensitive": object{"password": true}, "after_sensitive": object{"password": true}}),
			want: []string{"changed password: declared (secret), recorded (secret), live (secret)"},
		},
		"sensitive by the configuration only": {
			reason: "a mark on one side seals all sides",
			drift:  change(web, "update", with("notes", "one-secret"), with("notes", "two-secret"), nil),
			change: change(web, "update", with("notes", "two-secret"), with("notes", "one-secret"), object{"after_sensitive": object{"notes": true}}),
			want:   []string{"changed notes: declared (secret), recorded (secret), live (secret)"},
		},
		"a copy of something sensitive": {
			reason: "terraform_data.output loses the mark of its input",
			drift:  change(web, "update", with("password", "one-secret", "free", "one-secret"), with("password", "two-secret", "free", "one-secret"), nil),
			change: change(web, "update", with("password", "two-secret", "free", "one-secret"), with("password", "one-secret", "free", "other"), nil),
			want: []string{"changed password: declared (secret), recorded (secret), live (secret)",
				"pending free: declared (secret), recorded (secret), live (secret)"},
		},
		"moved": {
			change: change(web, "no-op", with(), with(), object{"previous_address": "lab_server.old"}),
			want:   []string{"waits: moved block: recorded as lab_server.old"},
		},
		"moved and gone": {
			drift:  change(web, "delete", with(), nil, object{"previous_address": "lab_server.old"}),
			change: change(web, "create", nil, with("id", nil), object{"after_unknown": object{"id": true}, "previous_address": "lab_server.old"}),
			want:   []string{"missing"},
		},
		"import": {
			change: change(web, "update", with("size", 3), with(), object{"importing": object{"id": "s-1"}}),
			want:   []string{"pending size: declared 2, recorded 3, live 3", "waits: import block: the next apply takes s-1 into the state"},
		},
		"tainted": {
			change: change(web, "delete create", with(), with("id", nil), object{"after_unknown": object{"id": true},
				"action_reason": "replace_because_tainted"}),
			want: []string{"waits: tainted: the next apply replaces it"},
		},
		"replaced for a hand edit": {
			drift: change(web, "update", with(), with("name", "hand"), nil),
			change: change(web, "create delete", with("name", "hand"), with("id", nil), object{"after_unknown": object{"id": true},
				"action_reason": "replace_because_cannot_update"}),
			want: []string{"changed name: declared web, recorded web, live hand"},
		},
		"forgotten": {
			change: change(web, "forget", with(), nil, nil), want: []string{"waits: removed block: the next apply forgets it"},
		},
		"removed from the configuration": {
			change: change(web, "delete", with(), nil, object{"action_reason": "delete_because_no_resource_config"}),
			want:   []string{"waits: no longer declared (no resource config): the next apply destroys it"},
		},
		"destroyed": {
			reason: "a plan with -destroy gives no reason", change: change(web, "delete", with(), nil, nil),
			want: []string{"waits: the plan was made with -destroy: the next apply destroys it"},
		},
		"deposed": {
			change: change(web, "delete", with(), nil, object{"deposed": "a1b2c3d4"}),
			want:   []string{"waits: deposed object a1b2c3d4, left over from a replacement: the next apply destroys it"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := object{"resource_changes": []any{tt.change}, "configuration": config(written)}
			if tt.drift != nil {
				fields["resource_drift"] = []any{tt.drift}
			}
			p := decoded(t, fields)
			r := Read(Input{Plan: p, Schemas: schemas(t, p), Ignored: map[string]syntax.Ignored{web: tt.ignored}}, sealer())
			if len(r.Instances) != 1 || !r.Complete {
				t.Fatalf("got %d instances, complete %v", len(r.Instances), r.Complete)
			}
			if d := cmp.Diff(tt.want, judged(r.Instances[0])); d != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, d)
			}
		})
	}
}

// TestWhole checks that Whole has the attributes that only the provider sets, and that the compared
// trees do not. A mapping table may need them to identify elements.
func TestWhole(t *testing.T) {
	t.Parallel()
	with := func(size int, path string) object {
		return object{"id": "s-1", "name": "web", "disk": []any{object{"size": size, "path": path}}}
	}
	p := decoded(t, object{"configuration": config(object{"name": constant("web"), "disk": []any{object{"size": constant(2)}}}),
		"resource_drift":   []any{change("lab_server.web", "update", with(1, "/a"), with(1, "/b"), nil)},
		"resource_changes": []any{change("lab_server.web", "update", with(1, "/b"), with(2, "/b"), nil)}})
	i := Read(Input{Plan: p, Schemas: schemas(t, p)}, sealer()).Instances[0]
	disk := func(v *model.Value) string { return v.At("disk").String() }
	for reason, got := range map[string][2]string{
		"declared, to be compared with the provider's reading": {disk(i.Declared), `[{"size":2}]`},
		"recorded, likewise": {disk(i.Recorded), `[{"size":1}]`},
		"declared in full: the provider set what is recorded": {disk(i.Whole.Declared), `[{"path":"/a","size":2}]`},
		"recorded in full": {disk(i.Whole.Recorded), `[{"path":"/a","size":1}]`},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %s, want %s", reason, got[0], got[1])
		}
	}
	if id := i.Whole.Recorded.At("id").Str(); id != "s-1" {
		t.Errorf("id %q", id)
	}
}

// TestWholeKeepsAbsence checks that an attribute which the state does not have, and which a refresh found to be false, is not
// declared to be false for a mapping table: there its absence may mean true. An attribute that the configuration writes is declared.
func TestWholeKeepsAbsence(t *testing.T) {
	t.Parallel()
	before, after := object{"id": "s-1", "name": "web"}, object{"id": "s-1", "name": "web", "enabled": false, "notes": "", "size": 0}
	for reason, tt := range map[string]struct {
		written object
		want    string
	}{
		"it writes none of them": {object{"name": constant("web")}, "null null null"},
		"it writes one":          {object{"name": constant("web"), "enabled": constant(false)}, "false null null"},
	} {
		p := decoded(t, object{"configuration": config(tt.written),
			"resource_drift":   []any{change("lab_server.web", "update", before, after, nil)},
			"resource_changes": []any{change("lab_server.web", "no-op", after, after, nil)}})
		i := Read(Input{Plan: p, Schemas: schemas(t, p)}, sealer()).Instances[0]
		d := i.Whole.Declared
		if got := d.At("enabled").String() + " " + d.At("notes").String() + " " + d.At("size").String(); got != tt.want {
			t.Errorf("%s: %s, want %s", reason, got, tt.want)
		}
		if got := judged(i); len(tt.written) == 1 && len(got) > 0 {
			t.Errorf("%s: compared with what the provider reads: %q", reason, got)
		}
	}
}
