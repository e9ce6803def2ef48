package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func stateResource(address string, values object, more object) object {
	o := object{"address": address, "mode": "managed", "type": "lab_server", "name": "x",
		"provider_name": "example.org/driftd/lab", "schema_version": 0, "values": values}
	for name, v := range more {
		o[name] = v
	}
	return o
}

func priorState(resources ...any) object {
	return object{"format_version": "1.0", "values": object{"root_module": object{"resources": resources}}}
}

// TestPartialPlan reads a partial plan: planned objects are compared, all others are unchecked with
// a reason.
func TestPartialPlan(t *testing.T) {
	t.Parallel()
	plain := object{"id": "s", "name": "n"}
	p := decoded(t, object{
		"errored":          true,
		"resource_drift":   []any{change("lab_server.half", "update", object{"size": 1}, object{"size": 2}, nil)},
		"resource_changes": []any{change("lab_server.good", "no-op", plain, plain, nil)},
		"prior_state": priorState(
			stateResource("lab_server.good", plain, nil),
			stateResource("lab_server.half", object{"size": 2}, nil),
			stateResource(`lab_server.bad["a.b"]`, object{"id": "b", "password": "hunter22"}, object{"sensitive_values": object{"password": true}}),
			stateResource("lab_server.below", plain, object{"depends_on": []any{"lab_server.bad"}}),
			stateResource("lab_server.looked", plain, object{"depends_on": []any{"data.lab_lookup.a"}}),
			stateResource("other_thing.a", plain, object{"provider_name": "example.org/driftd/other", "type": "other_thing"}),
			stateResource("lab_server.apart", plain, nil),
			stateResource("data.lab_lookup.a", plain, object{"mode": "data"}),
		),
		"configuration": object{"root_module": object{
			"resources": []any{
				object{"address": "lab_server.unmade", "mode": "managed", "type": "lab_server", "name": "unmade"},
				object{"address": "lab_server.counted", "mode": "managed", "type": "lab_server", "name": "counted", "count_expression": constant(0)},
				object{"address": "data.lab_lookup.a", "mode": "data", "type": "lab_lookup", "name": "a"},
			},
			"module_calls": object{
				"once": object{"module": object{"resources": []any{
					object{"address": "lab_server.inner", "mode": "managed", "type": "lab_server", "name": "inner"}}}},
				"many": object{"for_each_expression": constant(object{}), "module": object{"resources": []any{
					object{"address": "lab_server.inner", "mode": "managed", "type": "lab_server", "name": "inner"}}}},
			},
		}},
	})
	r := Read(Input{Plan: p, Schemas: schemas(t, p), Diagnostics: []Diagnostic{
		{Address: `lab_server.bad["a.b"]`, Summary: "Read failed", Detail: "login with hunter22\nwas refused"},
		{Address: "data.lab_lookup.a", Summary: "No such thing"},
		{Address: `provider["example.org/driftd/other"]`, Summary: "Cannot authenticate"},
	}}, sealer())
	got := map[string][]string{}
	for _, i := range r.Instances {
		got[i.Address] = judged(i)
	}
	elsewhere := `unchecked: not planned because of another error: lab_server.bad["a.b"]: Read failed: login with (secret) was refused (and 2 more errors)`
	want := map[string][]string{
		"lab_server.good":              {},
		"lab_server.half":              {"changed size: declared 1, recorded 1, live 2"},
		`lab_server.bad["a.b"]`:        {"unchecked: Read failed: login with (secret) was refused"},
		"lab_server.below":             {`unchecked: depends on lab_server.bad["a.b"]: Read failed: login with (secret) was refused`},
		"lab_server.looked":            {"unchecked: depends on data.lab_lookup.a: No such thing"},
		"other_thing.a":                {`unchecked: provider["example.org/driftd/other"]: Cannot authenticate`},
		"lab_server.apart":             {elsewhere},
		"lab_server.unmade":            {elsewhere},
		"module.once.lab_server.inner": {elsewhere},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if r.Complete || !strings.HasPrefix(r.Reason, `lab_server.bad["a.b"]: Read failed`) {
		t.Errorf("complete %v, reason %q", r.Complete, r.Reason)
	}
	for _, i := range r.Instances {
		if strings.Contains(plainOf(i), "hunter22") {
			t.Errorf("%s shows a secret", i.Address)
		}
	}
}

// plainOf returns all fields of an instance as plain text.
func plainOf(i Instance) string {
	text := i.ID + i.Pending + i.Unchecked
	for _, v := range []*model.Value{i.Declared, i.Recorded, i.Live} {
		if v != nil {
			text += string(v.AppendJSON(nil))
		}
	}
	return text
}

func TestGoneAndUndeclared(t *testing.T) {
	t.Parallel()
	p := decoded(t, object{"resource_drift": []any{change("lab_server.web", "delete", object{"id": "s-1"}, nil, nil)}})
	r := Read(Input{Plan: p}, sealer())
	if len(r.Instances) != 1 {
		t.Fatalf("got %d instances", len(r.Instances))
	}
	if i := r.Instances[0]; i.Declared != nil || i.Live != nil || i.Recorded == nil || !i.LiveRead || i.ID != "s-1" {
		t.Errorf("got %+v", i)
	}
}

func TestDeferred(t *testing.T) {
	t.Parallel()
	p := decoded(t, object{"deferred_changes": []any{object{"reason": "provider_config_unknown",
		"resource_change": change("lab_server.web", "update", object{"size": 1}, object{"size": 2}, nil)}}})
	r := Read(Input{Plan: p}, sealer())
	want := []string{"unchecked: deferred by the plan (provider config unknown)"}
	if len(r.Instances) != 1 || !slices.Equal(judged(r.Instances[0]), want) {
		t.Errorf("got %+v", r.Instances)
	}
}

// TestOtherObjects checks that data sources that are read later, and outputs, are left out.
func TestOtherObjects(t *testing.T) {
	t.Parallel()
	p := decoded(t, object{
		"resource_changes": []any{change("data.lab_lookup.a", "read", nil, object{}, object{"mode": "data"})},
		"resource_drift":   []any{change("data.lab_lookup.a", "update", object{"a": 1}, object{"a": 2}, object{"mode": "data"})},
		"output_changes":   object{"o": object{"actions": []any{"update"}, "before": 1, "after": 2}},
	})
	if r := Read(Input{Plan: p}, sealer()); len(r.Instances) != 0 || !r.Complete {
		t.Errorf("got %+v", r)
	}
}

func checkOf(status string, messages ...string) []any {
	problems := []any{}
	for _, m := range messages {
		problems = append(problems, object{"message": m})
	}
	address := object{"kind": "check", "name": "health", "to_display": "check.health"}
	return []any{
		object{"address": address, "status": status, "instances": []any{object{"address": address, "status": status, "problems": problems}}},
		object{"address": object{"kind": "resource", "to_display": "lab_server.web"}, "status": "fail"},
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		normal, refreshed []any
		want              []string
	}{
		"passes": {normal: checkOf("pass"), want: []string{}},
		"fails": {normal: checkOf("fail", "too small"),
			want: []string{`changed problems: declared -, recorded -, live ["too small"]`, "changed status: declared pass, recorded pass, live fail"}},
		"fails for what is live only": {normal: checkOf("pass"), refreshed: checkOf("fail", "password is hunter22"),
			want: []string{`changed problems: declared -, recorded -, live ["password is (secret)"]`, "changed status: declared pass, recorded pass, live fail"}},
		"cannot be judged": {normal: checkOf("unknown"),
			want: []string{"unchecked: the check depends on a value that is unknown until an apply, or on a failed object"}},
		"is broken": {normal: checkOf("error"), want: []string{"unchecked: the check failed to run: Invalid index"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := Input{Plan: decoded(t, object{"checks": tt.normal}), Diagnostics: []Diagnostic{{Address: "check.health", Summary: "Invalid index"}}}
			if tt.refreshed != nil {
				in.RefreshOnly = decoded(t, object{"checks": tt.refreshed})
			}
			r := Read(in, sealer())
			if len(r.Instances) != 1 || r.Instances[0].Type != CheckType {
				t.Fatalf("got %+v", r.Instances)
			}
			if d := cmp.Diff(tt.want, judged(r.Instances[0])); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ without, module string }{
		"lab_server.web":    {"lab_server.web", ""},
		"lab_server.web[0]": {"lab_server.web", ""},
		`module.a["x.y\"]z"].module.b[1].lab_server.web["[k]"]`: {"module.a.module.b.lab_server.web", `module.a["x.y\"]z"].module.b[1]`},
		"module.a.lab_server.web":                               {"module.a.lab_server.web", "module.a"},
	}
	for address, want := range tests {
		if got := withoutKeys(address); got != want.without {
			t.Errorf("%s without keys is %s", address, got)
		}
		if got := moduleOf(address); got != want.module {
			t.Errorf("%s lies in %s", address, got)
		}
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	a := change("lab_server.a", "no-op", object{"size": 1}, object{"size": 1}, nil)
	b := change("lab_server.b", "no-op", object{"size": 1}, object{"size": 1}, nil)
	deposed := change("lab_server.a", "delete", object{"size": 1}, nil, object{"deposed": "0a"})
	one := Read(Input{Plan: decoded(t, object{"resource_changes": []any{a, b, deposed}})}, sealer())
	two := Read(Input{Plan: decoded(t, object{"resource_changes": []any{deposed, b, a}})}, sealer())
	for i := range one.Instances {
		if one.Instances[i].Address != two.Instances[i].Address || one.Instances[i].Deposed != two.Instances[i].Deposed {
			t.Errorf("%d: %s, and %s", i, one.Instances[i].Address, two.Instances[i].Address)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"no JSON":             "Error: no plan",
		"cut":                 `{"format_version":"1.2","resource_changes":[{"address":"a`,
		"no version":          `{}`,
		"a future version":    `{"format_version":"2.0"}`,
		"a null change":       `{"format_version":"1.2","resource_changes":[null]}`,
		"no change in change": `{"format_version":"1.2","resource_drift":[{"address":"a.b"}]}`,
		"a wrong type":        `{"format_version":"1.2","resource_changes":{"a":1}}`,
	}
	for name, text := range tests {
		if _, err := Decode(strings.NewReader(text)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// TestSetsOfSecrets checks that all elements of a set are sealed if one is sensitive, because
// elements have no positions.
func TestSetsOfSecrets(t *testing.T) {
	t.Parallel()
	rules := func(keys ...string) object {
		list := []any{}
		for i, key := range keys {
			list = append(list, object{"port": i, "key": key})
		}
		return object{"rule": list}
	}
	p := decoded(t, object{"resource_changes": []any{change("lab_server.web", "update", rules("first-key", "second-key"),
		rules("third-key"), object{"before_sensitive": object{"rule": []any{object{"key": true}, object{}}}})}})
	for _, s := range []*Schemas{nil, schemas(t, p)} {
		r := Read(Input{Plan: p, Schemas: s}, sealer())
		if text := plainOf(r.Instances[0]); strings.Contains(text, "-key") || !strings.Contains(text, `"port":1`) {
			t.Errorf("got %s", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(encode(f, object{"format_version": "1.2", "errored": true,
		"resource_drift":   []any{change("lab_server.a", "update", object{"size": 1, "tags": []any{"a"}}, object{"size": 2}, nil)},
		"resource_changes": []any{change(`lab_server.a["x"]`, "update", object{"size": 2}, object{}, object{"after_unknown": object{"size": true}})},
		"checks":           checkOf("fail", "no"), "configuration": config(object{"size": constant(1)}),
		"prior_state": priorState(stateResource("lab_server.b", object{"a": 1}, nil))})))
	f.Fuzz(func(_ *testing.T, text []byte) {
		p, err := Decode(strings.NewReader(string(text)))
		if err != nil {
			return
		}
		for _, i := range Read(Input{Plan: p, Diagnostics: []Diagnostic{{Summary: "x"}}}, sealer()).Instances {
			judged(i)
		}
	})
}

func FuzzSchemas(f *testing.F) {
	f.Add([]byte(`{"provider_schemas":{"p":{"resource_schemas":{"t":{"block":{"attributes":{"a":{"type":["set",["object",{"b":"bool"}]]}}}}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p := decoded(t, object{"resource_changes": []any{change("t.a", "no-op", object{"a": []any{1}}, object{"a": []any{1}},
			object{"type": "t", "provider_name": "p"})}})
		s, err := DecodeSchemas(strings.NewReader(string(text)), p)
		if err != nil {
			return
		}
		Read(Input{Plan: p, Schemas: s}, sealer())
	})
}

// TestConfiguredSecrets checks that secrets in variables and provider configurations are hidden
// although no resource marks them.
func TestConfiguredSecrets(t *testing.T) {
	t.Parallel()
	p := decoded(t, object{
		"errored":     true,
		"prior_state": priorState(stateResource("lab_server.bad", object{"id": "b"}, nil)),
		"variables":   object{"pin": object{"value": "pin-1"}, "login": object{"value": "login-1"}, "region": object{"value": "north"}},
		"configuration": object{
			"provider_config": object{"lab": object{"name": "lab", "expressions": object{
				"token": constant("token-1"), "endpoint": constant("lab.example.org"),
				"password": object{"references": []any{"var.login"}}}}},
			"root_module": object{"variables": object{"pin": object{"sensitive": true}, "login": object{}, "region": object{}}},
		},
	})
	r := Read(Input{Plan: p, Schemas: schemas(t, p), Diagnostics: []Diagnostic{
		{Address: "lab_server.bad", Summary: "no luck", Detail: "pin-1, login-1, token-1 at lab.example.org in north"}}}, sealer())
	if want := "no luck: (secret), (secret), (secret) at lab.example.org in north"; r.Instances[0].Unchecked != want {
		t.Errorf("got %s, want %s", r.Instances[0].Unchecked, want)
	}
}

// TestIsExplained checks when a partial plan is complete.
func TestIsExplained(t *testing.T) {
	t.Parallel()
	bad := Diagnostic{Address: "lab_server.bad", Summary: "Read failed"}
	many := object{"address": "lab_server.many", "mode": "managed", "type": "lab_server", "name": "many", "count_expression": constant(0)}
	for name, c := range map[string]struct {
		failed   []Diagnostic
		declared []any
		want     bool
	}{
		"an instance":                 {failed: []Diagnostic{bad}, want: true},
		"a data source, too":          {failed: []Diagnostic{bad, {Address: "data.lab_lookup.a"}}},
		"no errors":                   {},
		"instances of unknown number": {failed: []Diagnostic{bad}, declared: []any{many}},
	} {
		p := decoded(t, object{"errored": true, "prior_state": priorState(stateResource("lab_server.bad", object{"id": "b"}, nil)),
			"configuration": object{"root_module": object{"resources": c.declared}}})
		if r := Read(Input{Plan: p, Schemas: schemas(t, p), Diagnostics: c.failed}, sealer()); r.Complete != c.want || r.Reason == "" {
			t.Errorf("%s: complete %t, reason %q", name, r.Complete, r.Reason)
		}
	}
}
