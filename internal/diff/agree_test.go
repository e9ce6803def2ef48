package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// workload returns the schema of a workload, in which the system sets some fields.
func workload() *model.Schema {
	always, tcp := model.StringOf("Always"), model.StringOf("TCP")
	return &model.Schema{Fields: map[string]*model.Schema{
		"containers": {List: model.Keyed, Keys: []string{"name"}, Each: &model.Schema{Fields: map[string]*model.Schema{
			"name": {}, "image": {}, "cpu": {Format: model.Quantity},
			"pull": {Default: &always},
			"ports": {List: model.Keyed, Keys: []string{"port", "protocol"}, Each: &model.Schema{Fields: map[string]*model.Schema{
				"port": {}, "protocol": {Default: &tcp}, "node": {Extra: model.Extra{Generated: true}}}}},
		}}},
		"selector": {Content: true},
		"noise":    {Volatile: true},
		"args":     {List: model.Ordered, Each: &model.Schema{}},
	}}
}

func TestDeviations(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, declared, live string
		want, redeclared       []string
	}{
		{"equal", `{"containers":[{"name":"a","image":"1"}]}`, `{"containers":[{"name":"a","image":"1"}]}`, []string{}, []string{}},
		{"another value", `{"containers":[{"name":"a","image":"1"}]}`, `{"containers":[{"name":"a","image":"2"}]}`,
			[]string{"containers[name=a].image"}, []string{"containers[name=a].image"}},
		{"an element with defaults", `{"containers":[{"name":"a"}]}`, `{"containers":[{"name":"a","pull":"Always"}]}`, []string{}, []string{}},
		{"a declared default", `{"containers":[{"name":"a","pull":"Always"}]}`, `{"containers":[{"name":"a"}]}`, []string{}, []string{}},
		{"no default", `{"containers":[{"name":"a"}]}`, `{"containers":[{"name":"a","pull":"Never"}]}`,
			[]string{"containers[name=a].pull"}, []string{"containers[name=a].pull"}},
		{"spelling", `{"containers":[{"name":"a","cpu":"0.5"}]}`, `{"containers":[{"name":"a","cpu":"500m"}]}`, []string{}, []string{}},
		{"a key with a default", `{"containers":[{"name":"a","ports":[{"port":1}]}]}`, `{"containers":[{"name":"a","ports":[{"port":1,"protocol":"TCP"}]}]}`, []string{}, []string{}},
		{"a value that the system allocates", `{"containers":[{"name":"a","ports":[{"port":1}]}]}`, `{"containers":[{"name":"a","ports":[{"port":1,"node":9}]}]}`,
			[]string{}, []string{"containers[name=a].ports[port=1,protocol=TCP].node"}},
		{"an allocated value that is declared", `{"containers":[{"name":"a","ports":[{"port":1,"node":9}]}]}`, `{"containers":[{"name":"a","ports":[{"port":1}]}]}`,
			[]string{"containers[name=a].ports[port=1,protocol=TCP].node"}, []string{"containers[name=a].ports[port=1,protocol=TCP].node"}},
		{"an element is gone", `{"containers":[{"name":"a","image":"1"}]}`, `{}`,
			[]string{"containers[name=a].image", "containers[name=a].name"}, []string{"containers[name=a].image", "containers[name=a].name"}},
		{"an element that is not declared", `{}`, `{"containers":[{"name":"a"}]}`, []string{"containers[name=a].name"}, []string{"containers[name=a].name"}},
		{"an empty map with a meaning", `{"selector":{}}`, `{}`, []string{"selector"}, []string{"selector"}},
		{"an empty map with a meaning that is not declared", `{}`, `{"selector":{}}`, []string{"selector"}, []string{"selector"}},
		{"an empty map without a meaning", `{"labels":{}}`, `{}`, []string{}, []string{}},
		{"different empty values", `{"labels":{},"x":{"a":1}}`, `{"labels":"","x":{"a":1}}`, []string{"labels"}, []string{"labels"}},
		{"volatile", `{"noise":1}`, `{"noise":2}`, []string{}, []string{"noise"}},
		{"an ordered list", `{"args":["a","b"]}`, `{"args":["b","a"]}`, []string{"args"}, []string{"args"}},
		{"a map became a text", `{"labels":{"a":1}}`, `{"labels":"x"}`, []string{"labels"}, []string{"labels"}},
		{"sorted", `{"labels":{"a/b":"1"},"labels0":"1"}`, `{}`, []string{"labels0", `labels["a/b"]`}, []string{"labels0", `labels["a/b"]`}},
		{"all", ``, `"x"`, []string{""}, []string{""}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			declared, live := value(t, tc.declared), value(t, tc.live)
			if d := cmp.Diff(tc.want, Deviations(workload(), declared, live)); d != "" {
				t.Errorf("deviations (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.redeclared, Redeclared(workload(), declared, live)); d != "" {
				t.Errorf("redeclared (-want +got):\n%s", d)
			}
		})
	}
}

// TestDeviationsWithoutSchema verifies that nothing is taken for a default if there is no schema.
func TestDeviationsWithoutSchema(t *testing.T) {
	t.Parallel()
	got := Deviations(nil, value(t, `{"a":1,"cpu":"1"}`), value(t, `{"a":1,"b":2,"c":"","cpu":"1000m"}`))
	if d := cmp.Diff([]string{"b", "cpu"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestDeviationsOfSecrets verifies that sealed values are compared by their digests.
func TestDeviationsOfSecrets(t *testing.T) {
	t.Parallel()
	sealer := model.NewSealer([]byte("key"))
	of := func(text string) model.Value {
		return model.MapOf(model.Field{Name: "password", Value: sealer.Seal(text)})
	}
	if got := Deviations(workload(), of("a"), of("a")); len(got) > 0 {
		t.Errorf("equal secrets: %q", got)
	}
	if d := cmp.Diff([]string{"password"}, Deviations(workload(), of("a"), of("b"))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTouchesPath(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		paths  []string
		at     string
		want   bool
	}{
		{"none", nil, "a", false},
		{"none at all", nil, "", false},
		{"the path", []string{"x", "a.b"}, "a.b", true},
		{"below", []string{"a.b[name=c].d"}, "a.b", true},
		{"above", []string{"a"}, "a.b", true},
		{"another with the same beginning", []string{"a.bc"}, "a.b", false},
		{"a shorter one with the same end", []string{"a.b"}, "a.bc", false},
		{"another element", []string{"a[name=b].c"}, "a[name=c]", false},
		{"the whole", []string{"a"}, "", true},
		{"all of it differs", []string{""}, "a", true},
	} {
		if got := Touches(tc.paths, tc.at); got != tc.want {
			t.Errorf("%s: %t", tc.reason, got)
		}
	}
}

// TestDeviationsOfEqual verifies that a value has no deviation from itself, and that Redeclared depends on no order.
func TestDeviationsOfEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := tree().Draw(t, "a"), tree().Draw(t, "b")
		if got := Deviations(workload(), a, a); len(got) > 0 {
			t.Errorf("from itself: %q", got)
		}
		if d := cmp.Diff(Redeclared(workload(), a, b), Redeclared(workload(), b, a)); d != "" {
			t.Errorf("the other way round (-want +got):\n%s", d)
		}
	})
}
