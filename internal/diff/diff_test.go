package diff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// value reads the JSON form of a tree; "" is absent.
func value(t testing.TB, text string) model.Value {
	t.Helper()
	var v model.Value
	if text == "" {
		return v
	}
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return v
}

func pointer(v model.Value) *model.Value { return &v }

// set makes the field set of paths such as "spec/image" and "spec/env/{"name":"A"}".
func set(paths ...string) model.FieldSet {
	var root model.FieldSet
	for _, p := range paths {
		put(&root, strings.Split(p, "/"))
	}
	return root
}

func put(at *model.FieldSet, names []string) {
	if len(names) == 0 {
		return
	}
	step := model.Step{Text: names[0]}
	if strings.HasPrefix(names[0], "{") {
		step.Kind = model.KeyStep
	}
	var below model.FieldSet
	if have := at.Child(step); have != nil {
		below = *have
	}
	put(&below, names[1:])
	at.Put(step, below)
}

var (
	created = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	later   = created.Add(time.Hour)
)

// testSchema returns a schema with every way of comparing once.
func testSchema() *model.Schema {
	defaultMode := model.StringOf("auto")
	protocol := model.StringOf("TCP")
	return &model.Schema{Extra: model.Extra{Closed: true}, Fields: map[string]*model.Schema{
		"labels": {Each: &model.Schema{}, Foreign: []string{"tool/", "cloud/"}, Marks: []string{"tool/"}},
		"mode":   {Default: &defaultMode},
		"ip":     {Extra: model.Extra{Generated: true}},
		"policy": {Extra: model.Extra{Derived: true}},
		"cpu":    {Format: model.Quantity},
		"port":   {Format: model.IntOrString},
		"noise":  {Volatile: true},
		"probe":  {Fields: map[string]*model.Schema{"path": {}, "every": {}}},
		"args":   {List: model.Ordered, Each: &model.Schema{}},
		"verbs":  {List: model.Bag, Each: &model.Schema{}},
		"groups": {List: model.Set, Each: &model.Schema{}},
		"rules": {List: model.Bag, Each: &model.Schema{Fields: map[string]*model.Schema{
			"from": {}, "port": {}, "protocol": {Default: &protocol}}}},
		"env": {List: model.Keyed, Keys: []string{"name"}, Each: &model.Schema{Fields: map[string]*model.Schema{"name": {}, "value": {}}}},
		"ports": {List: model.Keyed, Keys: []string{"port", "protocol"}, Each: &model.Schema{Fields: map[string]*model.Schema{
			"port": {}, "protocol": {Default: &protocol}, "name": {}}}},
	}}
}

func show(outcomes []model.Outcome) string {
	var lines []string
	for _, o := range outcomes {
		for _, c := range o.Changes {
			actor := o.Actor
			if c.Actor != nil {
				actor = *c.Actor
			}
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", o.Verdict, c.Path, strings.TrimPrefix(actor.Name, "unknown"))))
		}
		if len(o.Changes) == 0 {
			lines = append(lines, string(o.Verdict))
		}
	}
	return strings.Join(lines, "\n")
}

func TestCompareWithoutRecord(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, declared, live, want string }{
		{"equal trees are in sync", `{"cpu":"1"}`, `{"cpu":"1"}`, ""},
		{"quantities are equal by value", `{"cpu":"1000m"}`, `{"cpu":1}`, ""},
		{"quantities differ by value", `{"cpu":"1000m"}`, `{"cpu":"1500m"}`, "changed cpu"},
		{"a port is a number or its text", `{"port":80}`, `{"port":"80"}`, ""},
		{"a default that was left out is no drift", `{}`, `{"mode":"auto"}`, ""},
		{"a default that is declared needs not be live", `{"mode":"auto"}`, `{}`, ""},
		{"another value than the default is somebody's", `{}`, `{"mode":"manual"}`, "undeclared mode"},
		{"declared empty is absent", `{"labels":{"a":""},"probe":{},"args":[],"port":0,"cpu":null}`, `{}`, ""},
		{"an allocated value is nobody's", `{}`, `{"ip":"10.0.0.1"}`, ""},
		{"a declared value counts where one would be allocated", `{"ip":"10.0.0.2"}`, `{"ip":"10.0.0.1"}`, "changed ip"},
		{"without writers a derived value is the system's", `{}`, `{"policy":"x"}`, ""},
		{"volatile never drifts", `{"noise":1}`, `{"noise":2}`, ""},
		{"the order of arguments counts", `{"args":["a","b"]}`, `{"args":["b","a"]}`, "changed args"},
		{"the order of verbs does not", `{"verbs":["a","b"]}`, `{"verbs":["b","a"]}`, ""},
		{"verbs may repeat and then count", `{"verbs":["a","a"]}`, `{"verbs":["a","b"]}`, "changed verbs"},
		{"a declared empty list with something added", `{"rules":[]}`, `{"rules":[{"from":"x"}]}`, "changed rules"},
		{"defaults inside lists that are replaced as one", `{"rules":[{"port":1}]}`, `{"rules":[{"port":1,"protocol":"TCP"}]}`, ""},
		{"the field that differs inside such a list", `{"rules":[{"port":1},{"port":2}]}`, `{"rules":[{"port":2},{"port":3}]}`, "changed rules[0].port"},
		{"one element removed and another one added", `{"rules":[{"port":1,"from":"a"},{"port":2}]}`, `{"rules":[{"port":2},{"port":3,"from":"b"}]}`, "changed rules[0]\nchanged rules[2]"},
		{"an element added to a set", `{"groups":["a"]}`, `{"groups":["b","a"]}`, "undeclared groups[=b]"},
		{"keyed lists in any order", `{"env":[{"name":"A","value":"1"},{"name":"B"}]}`, `{"env":[{"name":"B"},{"name":"A","value":"1"}]}`, ""},
		{"a field of a keyed element", `{"env":[{"name":"A","value":"1"}]}`, `{"env":[{"name":"A","value":"2"}]}`, "changed env[name=A].value"},
		{"a keyed element that is gone", `{"env":[{"name":"A"},{"name":"B"}]}`, `{"env":[{"name":"B"}]}`, "changed env[name=A]"},
		{"a keyed element that was added", `{"env":[{"name":"A"}]}`, `{"env":[{"name":"A"},{"name":"B","value":"1"}]}`, "undeclared env[name=B]"},
		{"keys have defaults", `{"ports":[{"port":80}]}`, `{"ports":[{"port":80,"protocol":"TCP"}]}`, ""},
		{"the same port of another protocol", `{"ports":[{"port":80}]}`, `{"ports":[{"port":80,"protocol":"TCP"},{"port":80,"protocol":"UDP"}]}`,
			"undeclared ports[port=80,protocol=UDP]"},
		{"two elements of one name are compared as a list", `{"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}`,
			`{"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}`, ""},
		{"a label name with dots is quoted", `{"labels":{"a.b/c":"1"}}`, `{"labels":{"a.b/c":"2"}}`, `changed labels["a.b/c"]`},
		{"a structure that is gone is one change", `{"probe":{"path":"/","every":1}}`, `{}`, "changed probe"},
		{"free fields that are gone are one each", `{"labels":{"a":"1","b":"2"}}`, `{}`, "changed labels.a\nchanged labels.b"},
		{"a label that nobody declared", `{"labels":{"a":"1"}}`, `{"labels":{"a":"1","b":"2"}}`, "undeclared labels.b"},
		{"a tool's own label", `{}`, `{"labels":{"tool/id":"2"}}`, ""},
		{"a declared tool label counts", `{"labels":{"tool/id":"1"}}`, `{"labels":{"tool/id":"2"}}`, `changed labels["tool/id"]`},
		{"a map where a scalar was declared", `{"port":1}`, `{"port":{"a":1}}`, "changed port"},
		{"numbers are equal in every notation", `{"port":1.0}`, `{"port":1e0}`, ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := subject(value(t, tc.declared), &model.Resource{Value: value(t, tc.live)})
			if d := cmp.Diff(tc.want, show(Compare(s, Options{}))); d != "" {
				t.Errorf("declared %s, live %s (-want +got):\n%s", tc.declared, tc.live, d)
			}
		})
	}
}

func subject(declared model.Value, live *model.Resource) *model.Subject {
	return &model.Subject{Live: live, Kind: &model.Kind{Schema: testSchema(), Uncounted: []string{"metadata", "status"}}, Claims: []*model.Claim{{Declaration: "d", Value: declared}}}
}

func TestCompareWithWholeRecord(t *testing.T) {
	t.Parallel()
	recorder := model.Owner{Name: "apply", Records: true, At: created, Fields: set("mode", "port", "labels/a", "policy")}
	for _, tc := range []struct{ reason, declared, recorded, live, want string }{
		{"D = R ≠ L", `{"port":1}`, `{"port":1}`, `{"port":2}`, "changed port hand"},
		{"D ≠ R = L", `{"port":2}`, `{"port":1}`, `{"port":1}`, "pending port hand"},
		{"D = L ≠ R", `{"port":2}`, `{"port":1}`, `{"port":2}`, "codified port hand"},
		{"all three differ", `{"port":3}`, `{"port":1}`, `{"port":2}`, "conflict port hand"},
		{"declared anew, and live has the default", `{"mode":"x"}`, `{}`, `{"mode":"auto"}`, "pending mode apply"},
		{"declared anew over a hand's value", `{"port":3}`, `{}`, `{"port":2}`, "conflict port hand"},
		{"no longer declared, still live", `{}`, `{"port":2}`, `{"port":2}`, "pending port hand"},
		{"no longer declared, changed by hand", `{}`, `{"port":2}`, `{"port":3}`, "conflict port hand"},
		{"no longer declared and gone", `{}`, `{"port":2}`, `{}`, "codified port hand"},
		{"removed by hand", `{"env":[{"name":"A"}]}`, `{"env":[{"name":"A"}]}`, `{}`, "changed env[name=A]"},
		{"declared anew, not applied", `{"env":[{"name":"A"}]}`, `{}`, `{}`, "pending env[name=A] apply"},
		{"what the recorder filled in is not undeclared", `{"labels":{"a":"1"}}`, `{"labels":{"a":"1"}}`, `{"labels":{"a":"1"},"policy":"derived"}`, ""},
		{"declared anew, and the system gave another", `{"ip":"10.0.0.2"}`, `{}`, `{"ip":"10.0.0.1"}`, "pending ip apply"},
		{"no longer declared, and empty", `{}`, `{"args":["a"]}`, `{"args":[]}`, "codified args"},
		{"a list of elements that is no longer declared and gone", `{}`, `{"env":[{"name":"A"}]}`, `{}`, "codified env"},
		{"another spelling of the record is no other value", `{"cpu":"1000m"}`, `{"cpu":"1"}`, `{"cpu":1}`, ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			hand := model.Owner{Name: "hand", Edits: true, At: later, Fields: set("port")}
			live := &model.Resource{Value: value(t, tc.live), LastApplied: pointer(value(t, tc.recorded)), Created: created}
			live.Owners = []model.Owner{recorder, hand}
			live.Owners[0].Fields = set("mode", "labels/a", "policy", "cpu")
			if d := cmp.Diff(tc.want, show(Compare(subject(value(t, tc.declared), live), Options{}))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestCompareWithOwnedFields(t *testing.T) {
	t.Parallel()
	controller := func(name string) bool { return name == "controller" }
	byController := func(w *model.Write) string {
		if w.Owner == nil || !controller(w.Owner.Name) {
			return ""
		}
		return "a controller"
	}
	for _, tc := range []struct {
		reason, declared, live string
		generation             int64
		again                  bool
		applied                []string
		hand, controlled       []string
		want                   string
	}{
		{reason: "the applier still owns another value: git is newer", declared: `{"port":2,"cpu":1}`, live: `{"port":1,"cpu":1}`,
			applied: []string{"port", "cpu"}, want: "pending port apply"},
		{reason: "somebody took the field", declared: `{"port":2,"cpu":1}`, live: `{"port":1,"cpu":1}`,
			applied: []string{"cpu"}, hand: []string{"port"}, want: "changed port hand"},
		{reason: "a controller's value for a declared field is a change", declared: `{"port":2,"cpu":1}`, live: `{"port":1,"cpu":1}`,
			applied: []string{"cpu"}, controlled: []string{"port"}, want: "changed port controller"},
		{reason: "a hand's addition", declared: `{"cpu":1}`, live: `{"port":1,"cpu":1}`,
			applied: []string{"cpu"}, hand: []string{"port"}, want: "undeclared port hand"},
		{reason: "a controller's addition", declared: `{"cpu":1}`, live: `{"port":1,"cpu":1}`,
			applied: []string{"cpu"}, controlled: []string{"port"}, want: ""},
		{reason: "a value that no writer owns, and that is no default", declared: `{"cpu":1}`, live: `{"port":1,"cpu":1}`, applied: []string{"cpu"}, want: "undeclared port"},
		{reason: "no longer declared, still the applier's", declared: `{"cpu":1}`, live: `{"port":1,"cpu":1}`,
			applied: []string{"cpu", "port"}, want: "pending port apply"},
		{reason: "never changed since its creation: declared later", declared: `{"cpu":1,"port":1}`, live: `{"cpu":1}`, generation: 1,
			applied: []string{"cpu"}, want: "pending port apply"},
		{reason: "applied once and changed since: removed by hand", declared: `{"cpu":1,"port":1}`, live: `{"cpu":1}`, generation: 2,
			applied: []string{"cpu"}, want: "changed port"},
		{reason: "a hand that wrote something may have removed something too", declared: `{"cpu":1,"port":1,"mode":"a"}`, live: `{"cpu":1,"mode":"b"}`,
			generation: 2, applied: []string{"cpu"}, hand: []string{"mode"}, want: "changed mode hand\nchanged port"},
		{reason: "applied again and again, and touched by nobody else: declared later", declared: `{"cpu":1,"port":1}`, live: `{"cpu":1}`,
			generation: 5, again: true, applied: []string{"cpu"}, want: "pending port apply"},
		{reason: "the only declared field is somebody's who came later", declared: `{"port":1}`, live: `{"port":2}`,
			controlled: []string{"port"}, want: "changed port controller"},
		{reason: "not the default, and nobody's: scaled without a event", declared: `{"cpu":1}`, live: `{"cpu":1,"mode":"manual"}`,
			applied: []string{"cpu"}, want: "undeclared mode"},
		{reason: "an empty map that was applied does not own what is below it", declared: `{"cpu":1,"probe":{}}`, live: `{"cpu":1,"probe":{"every":10}}`,
			applied: []string{"cpu", "probe"}, want: "undeclared probe.every"},
		{reason: "a derived value that the applier left to the system", declared: `{"cpu":1}`, live: `{"cpu":1,"policy":"x"}`,
			applied: []string{"cpu"}, want: ""},
		{reason: "a derived value that a hand set", declared: `{"cpu":1}`, live: `{"cpu":1,"policy":"x"}`,
			applied: []string{"cpu"}, hand: []string{"policy"}, want: "undeclared policy hand"},
		{reason: "a hand deeper than the applier's leaf wrote last", declared: `{"cpu":1,"free":{"a":1}}`, live: `{"cpu":1,"free":{"a":2}}`,
			applied: []string{"cpu", "free"}, hand: []string{"free/a"}, want: "changed free.a hand"},
		{reason: "an element that a hand added", declared: `{"env":[{"name":"A"}]}`, live: `{"env":[{"name":"A"},{"name":"B","value":"1"}]}`,
			applied: []string{`env/{"name":"A"}/name`}, hand: []string{`env/{"name":"B"}/name`, `env/{"name":"B"}/value`}, want: "undeclared env[name=B] hand"},
		{reason: "a hand inside an element that a controller added", declared: `{"env":[{"name":"A"}]}`,
			live:    `{"env":[{"name":"A"},{"name":"B","value":"1"}]}`,
			applied: []string{`env/{"name":"A"}/name`}, controlled: []string{`env/{"name":"B"}/name`}, hand: []string{`env/{"name":"B"}/value`},
			want: "undeclared env[name=B].value hand"},
		{reason: "a tool's label that a hand wrote", declared: `{"cpu":1}`, live: `{"cpu":1,"labels":{"tool/id":"x"}}`,
			applied: []string{"cpu"}, hand: []string{"labels/tool~id"}, want: `undeclared labels["tool/id"] hand`},
		{reason: "a tool's label of the applier", declared: `{"cpu":1}`, live: `{"cpu":1,"labels":{"tool/id":"x"}}`,
			applied: []string{"cpu", "labels/tool~id"}, want: ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			live := &model.Resource{Value: value(t, tc.live), Created: created, Generation: tc.generation}
			if tc.again {
				live.Created = created.Add(-time.Hour)
			}
			for _, o := range []struct {
				owner model.Owner
				paths []string
			}{
				{model.Owner{Name: "apply", Applies: true, At: created}, tc.applied},
				{model.Owner{Name: "hand", Edits: true, At: later}, tc.hand},
				{model.Owner{Name: "controller", At: later}, tc.controlled},
			} {
				if len(o.paths) > 0 {
					o.owner.Fields = slashes(o.paths)
					live.Owners = append(live.Owners, o.owner)
				}
			}
			got := show(Compare(subject(value(t, tc.declared), live), Options{Controller: controller, Exempt: byController}))
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// slashes returns the field set of names in which "~" stands for "/".
func slashes(paths []string) model.FieldSet {
	var root model.FieldSet
	for _, p := range paths {
		names := strings.Split(p, "/")
		for i := range names {
			names[i] = strings.ReplaceAll(names[i], "~", "/")
		}
		put(&root, names)
	}
	return root
}

func TestCompareWholes(t *testing.T) {
	t.Parallel()
	claim := &model.Claim{Declaration: "d", Version: "v1"}
	for _, tc := range []struct {
		reason  string
		subject model.Subject
		want    string
	}{
		{"claimed and absent where all was read", model.Subject{Claims: []*model.Claim{claim}}, "missing"},
		{"claimed and not read", model.Subject{Claims: []*model.Claim{claim}, Unread: "forbidden"}, "unchecked"},
		{"a claim that cannot be compared", model.Subject{Claims: []*model.Claim{{Unchecked: "encrypted"}}, Live: &model.Resource{}}, "unchecked"},
		{"declared in another version than it was read in", model.Subject{Claims: []*model.Claim{claim}, Live: &model.Resource{}, Kind: &model.Kind{Version: "v2"}}, "unchecked"},
		{"live, governed and claimed by nobody", model.Subject{Live: &model.Resource{}, UndeclaredBy: [][]string{{"d"}}}, "unmanaged"},
		{"made by a controller", model.Subject{Live: &model.Resource{}, SystemOwned: "owned", UndeclaredBy: [][]string{{"d"}}}, ""},
		{"where nothing is governed", model.Subject{Live: &model.Resource{}}, ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			if got := show(Compare(&tc.subject, Options{})); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDelegatedFieldIsNeverDrift(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"live", "declared"} {
		s := subject(value(t, `{"port":1}`), &model.Resource{Value: value(t, `{"port":2}`)})
		delegated := []model.Delegation{{Path: "port", To: "Autoscaler x"}}
		if side == "live" {
			s.Delegated = delegated
		} else {
			s.Claims[0].Delegated = delegated
		}
		if got := show(Compare(s, Options{})); got != "" {
			t.Errorf("delegated on the %s side: got %q", side, got)
		}
	}
}

func TestDisputes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, one, two, live, want string }{
		{"two values of one field, said once", `{"port":1,"cpu":1}`, `{"port":2,"cpu":1}`, `{"port":3,"cpu":1}`, "disputed port"},
		{"equal values are no dispute", `{"port":1}`, `{"port":1}`, `{"port":1}`, ""},
		{"equal values that drifted are said once", `{"port":1}`, `{"port":1}`, `{"port":2}`, "changed port"},
		{"what either declares is declared", `{"port":1}`, `{"cpu":1}`, `{"port":1,"cpu":1}`, ""},
		{"elements of one name", `{"env":[{"name":"A","value":"1"}]}`, `{"env":[{"name":"A","value":"2"}]}`, `{"env":[{"name":"A","value":"1"}]}`,
			"disputed env[name=A].value"},
		{"elements of both", `{"env":[{"name":"A"}]}`, `{"env":[{"name":"B"}]}`, `{"env":[{"name":"A"},{"name":"B"}]}`, ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := subject(value(t, tc.one), &model.Resource{Value: value(t, tc.live)})
			s.Claims = append(s.Claims, &model.Claim{Declaration: "e", Value: value(t, tc.two)})
			if d := cmp.Diff(tc.want, show(Compare(s, Options{}))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// tree draws a value that fits the test schema loosely.
func tree() *rapid.Generator[model.Value] {
	scalar := rapid.OneOf(
		rapid.Map(rapid.StringMatching(`[a-z0-9.]{0,4}`), model.StringOf),
		rapid.Map(rapid.Int64Range(-3, 3), model.IntOf),
		rapid.Map(rapid.Bool(), model.BoolOf),
		rapid.Just(model.Value{}),
	)
	names := []string{"labels", "mode", "ip", "policy", "cpu", "port", "probe", "args", "verbs", "groups", "rules", "env", "ports", "free", "name"}
	var node func(depth int) *rapid.Generator[model.Value]
	node = func(depth int) *rapid.Generator[model.Value] {
		if depth == 0 {
			return scalar
		}
		list := rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[model.Value] { return node(depth - 1) }), 0, 3),
			func(items []model.Value) model.Value { return model.ListOf(items...) })
		fields := rapid.Map(rapid.MapOfN(rapid.SampledFrom(names), rapid.Deferred(func() *rapid.Generator[model.Value] { return node(depth - 1) }), 0, 4),
			func(m map[string]model.Value) model.Value {
				var list []model.Field
				for name, v := range m {
					list = append(list, model.Field{Name: name, Value: v})
				}
				return model.MapOf(list...)
			})
		return rapid.OneOf(scalar, list, fields)
	}
	return rapid.Map(rapid.MapOfN(rapid.SampledFrom(names), node(3), 0, 8), func(m map[string]model.Value) model.Value {
		var list []model.Field
		for name, v := range m {
			list = append(list, model.Field{Name: name, Value: v})
		}
		return model.MapOf(list...)
	})
}

func TestFormats(t *testing.T) {
	t.Parallel()
	net := model.Schema{Format: model.PropertyString, Keys: []string{"model"},
		Fields: map[string]*model.Schema{"firewall": {Format: model.Boolean}, "mac": {Format: model.CaseFold}}}
	document := model.Schema{Format: model.JSON, Fields: map[string]*model.Schema{"cpu": {Format: model.Quantity}}}
	for _, tc := range []struct {
		reason string
		schema model.Schema
		a, b   string
		want   bool
	}{
		{"on is 1", model.Schema{Format: model.Boolean}, `"on"`, `1`, true},
		{"off is not yes", model.Schema{Format: model.Boolean}, `"off"`, `"yes"`, false},
		{"what is no boolean equals itself only", model.Schema{Format: model.Boolean}, `"maybe"`, `"perhaps"`, false},
		{"one moment in two zones", model.Schema{Format: model.Instant}, `"2026-01-01T01:00:00+01:00"`, `"2026-01-01T00:00:00Z"`, true},
		{"90s is 1m30s", model.Schema{Format: model.Duration}, `"90s"`, `"1m30s"`, true},
		{"an address in two notations", model.Schema{Format: model.Address}, `"2001:db8::1"`, `"2001:0db8:0:0::1"`, true},
		{"an address is its own prefix", model.Schema{Format: model.Address}, `"10.0.0.1"`, `"10.0.0.1/32"`, true},
		{"a prefix of another length", model.Schema{Format: model.Address}, `"10.0.0.1/24"`, `"10.0.0.1/25"`, false},
		{"case folded", model.Schema{Format: model.CaseFold}, `"BC:24:11"`, `"bc:24:11"`, true},
		{"base64 with line breaks", model.Schema{Format: model.Base64}, `"aGVs\nbG8="`, `"aGVsbG8="`, true},
		{"JSON in another order, by schema", document, `"{\"cpu\":\"1\",\"a\":1}"`, `"{\"a\": 1.0, \"cpu\": \"1000m\"}"`, true},
		{"other JSON", document, `"{\"a\":1}"`, `"{\"a\":2}"`, false},
		{"broken JSON equals itself only", document, `"{"`, `"{ "`, false},
		{"properties in any order, with the default key", net, `"virtio,mac=AA,firewall=1"`, `"firewall=on,mac=aa,model=virtio"`, true},
		{"another property", net, `"virtio,mac=AA"`, `"virtio,mac=AB"`, false},
		{"a property more", net, `"virtio"`, `"virtio,tag=5"`, false},
		{"a property twice is no property string", net, `"tag=5,tag=6"`, `"tag=6,tag=5"`, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			if got := Equal(&tc.schema, value(t, tc.a), value(t, tc.b)); got != tc.want {
				t.Errorf("%s and %s: %t", tc.a, tc.b, got)
			}
		})
	}
	digest := model.DigestOf("aa")
	if Equal(&model.Schema{Format: model.CaseFold}, digest, model.StringOf("aa")) {
		t.Error("a digest equals the text that spells it")
	}
}

func TestSelfIsInSync(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := tree().Draw(t, "value")
		if got := Compare(subject(v, &model.Resource{Value: v, LastApplied: &v}), Options{}); len(got) != 0 {
			t.Fatalf("a tree differs from itself: %s", show(got))
		}
		if !Equal(testSchema(), v, v) || len(Fields(testSchema(), v, v)) != 0 {
			t.Fatal("a tree is not equal to itself")
		}
	})
}

func TestEqualIsSymmetric(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := tree().Draw(t, "a"), tree().Draw(t, "b")
		if Equal(testSchema(), a, b) != Equal(testSchema(), b, a) {
			t.Fatal("equal one way only")
		}
	})
}

func TestEveryDifferenceOfDeclaredValuesIsReported(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		declared, live := tree().Draw(t, "declared"), tree().Draw(t, "live")
		outcomes := Compare(subject(declared, &model.Resource{Value: live}), Options{})
		if len(outcomes) == 0 && !Equal(testSchema(), declared, live) && !extrasOnly(declared, live) {
			t.Fatalf("a difference went unsaid")
		}
		for _, o := range outcomes {
			if !o.Verdict.IsDrift() || len(o.Changes) == 0 {
				t.Fatalf("an outcome without a change: %+v", o)
			}
		}
	})
}

// extrasOnly reports whether all top-level fields of declared are equal live.
func extrasOnly(declared, live model.Value) bool {
	for _, f := range declared.Fields() {
		if l, _ := live.Get(f.Name); !Equal(testSchema().Field(f.Name), f.Value, l) && !extrasInside(f.Value, l) {
			return false
		}
	}
	return true
}

func extrasInside(d, l model.Value) bool {
	return (d.Kind() == model.Map || d.Kind() == model.List || d.IsNull()) && (l.Kind() == d.Kind() || l.IsNull() || d.IsNull())
}

func FuzzCompareNeverPanics(f *testing.F) {
	f.Add(`{"env":[{"name":"A"}]}`, `{"env":{"name":1}}`, `{"env":"x"}`)
	f.Fuzz(func(_ *testing.T, d, r, l string) {
		var dv, rv, lv model.Value
		if dv.UnmarshalJSON([]byte(d)) != nil || rv.UnmarshalJSON([]byte(r)) != nil || lv.UnmarshalJSON([]byte(l)) != nil {
			return
		}
		Compare(subject(dv, &model.Resource{Value: lv, LastApplied: &rv}), Options{})
		Fields(testSchema(), dv, lv)
	})
}
