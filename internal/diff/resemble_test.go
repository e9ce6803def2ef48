package diff

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestAgreement counts the equal scalars inside two values, and the others.
func TestAgreement(t *testing.T) {
	t.Parallel()
	auto := model.StringOf("auto")
	schema := &model.Schema{
		Fields: map[string]*model.Schema{"mode": {Default: &auto}, "ip": {Extra: model.Extra{Generated: true}}, "cpu": {Format: model.Quantity}},
	}
	for _, tc := range []struct {
		reason string
		a, b   string
		want   string
	}{
		{"nothing and nothing", ``, ``, "0 0"},
		{"an empty text and nothing", `""`, ``, "0 0"},
		{"two empty values", `""`, `[]`, "0 0"},
		{"an empty text and another one differ", `""`, `"x"`, "0 1"},
		{"equal scalars", `"x"`, `"x"`, "1 0"},
		{"other scalars", `"x"`, `"y"`, "0 1"},
		{"a number and its text differ without a format", `1`, `"1"`, "0 1"},
		{"a field of two", `{"x":1,"y":2}`, `{"x":1,"y":3}`, "1 1"},
		{"a field that only the first has", `{"x":1,"y":2}`, `{"x":1}`, "1 1"},
		{"a field that only the second has", `{"x":1}`, `{"x":1,"y":2}`, "1 1"},
		{"an empty field that only one has", `{"x":1}`, `{"x":1,"y":""}`, "1 0"},
		{"a default that only one has", `{"x":1}`, `{"x":1,"mode":"auto"}`, "1 0"},
		{"another value where nothing means the default", `{"x":1}`, `{"x":1,"mode":"manual"}`, "1 1"},
		{"a default and another value", `{"mode":"manual"}`, `{"mode":"auto"}`, "0 1"},
		{"a default and an empty text", `{"mode":""}`, `{"mode":"auto"}`, "0 1"},
		{"an allocated value that only one has", `{"x":1}`, `{"x":1,"ip":"10.0.0.1"}`, "1 0"},
		{"two allocated values", `{"ip":"10.0.0.2"}`, `{"ip":"10.0.0.1"}`, "0 1"},
		{"one quantity in two spellings", `{"cpu":"1"}`, `{"cpu":"1000m"}`, "1 0"},
		{"a map and a text are one difference", `{"m":{"x":1,"y":2}}`, `{"m":"x"}`, "0 1"},
		{"a map with three fields against nothing", `{"m":{"x":1,"y":2,"z":3}}`, `{}`, "0 1"},
		{"maps below maps", `{"m":{"n":{"x":1,"y":2}}}`, `{"m":{"n":{"x":1,"y":3}}}`, "1 1"},
		{"lists by position", `[1,2]`, `[1,3]`, "1 1"},
		{"a longer list", `[1,2,3]`, `[1]`, "1 2"},
		{"a list that was turned", `[1,2]`, `[2,1]`, "0 2"},
		{"a list and a text are one difference", `[1,2]`, `"x"`, "0 1"},
		{"a list and a map are one difference", `[1,2]`, `{"x":1,"y":2}`, "0 1"},
		{"maps in lists", `[{"x":1,"y":2},{"x":3}]`, `[{"x":1,"y":9},{"x":3}]`, "2 1"},
	} {
		a, b := value(t, tc.a), value(t, tc.b)
		for _, pair := range [][2]model.Value{{a, b}, {b, a}} {
			equal, other := agreement(schema, pair[0], pair[1])
			if got := fmt.Sprint(equal, " ", other); got != tc.want {
				t.Errorf("%s: agreement(%s) = %s, want %s", tc.reason, texts(pair[:]...), got, tc.want)
			}
			if got := resemble(schema, pair[0], pair[1]); got != (equal+other == 1 || equal > 0 && equal >= other) {
				t.Errorf("%s: resemble(%s) = %v", tc.reason, texts(pair[:]...), got)
			}
		}
	}
}

// TestSamePlace reports which elements of two lists may be one element that changed.
func TestSamePlace(t *testing.T) {
	t.Parallel()
	keys := []string{"dst", "list"}
	for _, tc := range []struct {
		reason string
		schema *model.Schema
		a, b   string
		want   bool
	}{
		{"maps in a list of no schema, by position", nil, `{"x":1}`, `{"x":2}`, true},
		{"a map and a text", nil, `{"x":1}`, `"x"`, false},
		{"two texts", nil, `"x"`, `"x"`, false},
		{"a map and nothing", nil, `{"x":1}`, ``, false},
		{"maps in an ordered list, by position", &model.Schema{}, `{"x":1}`, `{"y":2}`, true},
		{"an equal key", &model.Schema{List: model.Bag, Keys: keys}, `{"dst":"a","x":1}`, `{"dst":"a","x":2}`, true},
		{"another key", &model.Schema{List: model.Bag, Keys: keys}, `{"dst":"a","x":1}`, `{"dst":"b","x":1}`, false},
		{"another key in an ordered list", &model.Schema{Keys: keys}, `{"dst":"a","x":1}`, `{"dst":"b","x":1}`, false},
		{"the second key is another one", &model.Schema{List: model.Bag, Keys: keys}, `{"dst":"a","list":"p"}`, `{"dst":"a","list":"q"}`, false},
		{"a key that one of them lacks", &model.Schema{List: model.Bag, Keys: keys}, `{"dst":"a","x":1}`, `{"x":1}`, false},
		{"an empty key that one of them lacks", &model.Schema{List: model.Bag, Keys: keys}, `{"dst":"","x":1}`, `{"x":1}`, true},
		{"no keys and most is equal", &model.Schema{List: model.Bag, Keys: keys}, `{"x":1,"y":1,"z":1}`, `{"x":1,"y":1,"z":2}`, true},
		{"no keys and half is equal", &model.Schema{List: model.Bag, Keys: keys}, `{"x":1,"z":1}`, `{"x":1,"z":2}`, true},
		{"no keys and less is equal", &model.Schema{List: model.Bag, Keys: keys}, `{"x":1,"y":1,"z":1}`, `{"x":1,"y":2,"z":2}`, false},
		{"no keys and nothing is equal", &model.Schema{List: model.Bag, Keys: keys}, `{"x":1,"y":1}`, `{"x":2,"y":2}`, false},
		{"no keys and one value", &model.Schema{List: model.Bag, Keys: keys}, `{"x":1}`, `{"x":2}`, true},
		{"two maps of nothing", &model.Schema{List: model.Bag}, `{}`, `{}`, false},
	} {
		for _, pair := range [][2]string{{tc.a, tc.b}, {tc.b, tc.a}} {
			if got := samePlace(tc.schema, value(t, pair[0]), value(t, pair[1])); got != tc.want {
				t.Errorf("%s: samePlace(%s, %s) = %v, want %v", tc.reason, pair[0], pair[1], got, tc.want)
			}
		}
	}
}

// TestRecordedFor finds the recorded element: by position in an ordered list, otherwise by
// content.
func TestRecordedFor(t *testing.T) {
	t.Parallel()
	bag := &model.Schema{List: model.Bag, Keys: []string{"name"}}
	for _, tc := range []struct {
		reason   string
		schema   *model.Schema
		d, l, r  string
		at       int
		recorded string
	}{
		{"at its position", &model.Schema{}, `{"x":2}`, `{"x":3}`, `[{"x":0},{"x":1}]`, 1, `{"x":1}`},
		{"beyond the record", &model.Schema{}, `{"x":2}`, `{"x":3}`, `[{"x":0}]`, 1, `-`},
		{"without a schema, at its position", nil, `{"x":2}`, `{"x":3}`, `[{"x":0},{"x":1}]`, 0, `{"x":0}`},
		{"equal to the declared one", bag, `{"name":"a","x":2}`, `{"name":"a","x":3}`, `[{"name":"a","x":1},{"name":"a","x":2}]`, 0, `{"name":"a","x":2}`},
		{"with the name of the declared one", bag, `{"name":"a","x":2}`, `{"name":"a","x":3}`, `[{"name":"b","x":2},{"name":"a","x":1}]`, 0, `{"name":"a","x":1}`},
		{"with another name", bag, `{"name":"a","x":2}`, `{"name":"a","x":3}`, `[{"name":"b","x":2}]`, 0, `-`},
		{"equal to the live one that is not declared", bag, ``, `{"name":"a","x":3}`, `[{"name":"b"},{"name":"a","x":3}]`, -1, `{"name":"a","x":3}`},
		{"with the name of the live one alone", bag, ``, `{"name":"a","x":3}`, `[{"name":"a","x":1}]`, -1, `-`},
		{"an empty record", bag, `{"name":"a"}`, ``, `[]`, 0, `-`},
	} {
		got := texts(recordedFor(tc.schema, value(t, tc.d), value(t, tc.l), value(t, tc.r), tc.at))
		if got != tc.recorded {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.recorded)
		}
	}
}

// TestReplacedElements reports every added and removed element of an atomic list, each at a
// position of its own.
func TestReplacedElements(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, declared, live string
		want                   string
	}{
		{
			"two went and two came",
			`{"rules":[{"from":"a","port":1},{"from":"b","port":2}]}`, `{"rules":[{"from":"c","port":3},{"from":"d","port":4}]}`,
			"changed rules[0]\nchanged rules[1]\nchanged rules[2]\nchanged rules[3]",
		},
		{
			"a rule of nothing but defaults allows everything: it is there all the same",
			`{"rules":[{"from":"a","port":1}]}`, `{"rules":[{"protocol":"TCP"}]}`,
			"changed rules[0]\nchanged rules[1]",
		},
		{
			"a declared rule of nothing but defaults went",
			`{"rules":[{"protocol":"TCP"}]}`, `{"rules":[{"from":"a","port":1}]}`,
			"changed rules[0]\nchanged rules[1]",
		},
		{
			"one went, and one stayed at another position",
			`{"rules":[{"from":"a","port":1},{"from":"b"}]}`, `{"rules":[{"from":"b"},{"from":"c","port":2}]}`,
			"changed rules[0]\nchanged rules[2]",
		},
	} {
		s := subject(value(t, tc.declared), &model.Resource{Value: value(t, tc.live)})
		if d := cmp.Diff(tc.want, show(Compare(s, Options{}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestInsideSystemValues checks that values that the system fills in inside an atomic list are
// not reported with the differing ones.
func TestInsideSystemValues(t *testing.T) {
	t.Parallel()
	each := &model.Schema{Fields: map[string]*model.Schema{"ip": {Extra: model.Extra{Generated: true}}, "from": {}}}
	for _, tc := range []struct {
		reason         string
		each           *model.Schema
		declared, live string
		want           string
	}{
		{"an allocated value", each, `[{"from":"a"}]`, `[{"from":"b","ip":"10.0.0.1"}]`, "changed list[0].from"},
		{"a declared one where another was allocated", each, `[{"from":"a","ip":"10.0.0.2"}]`, `[{"from":"b","ip":"10.0.0.1"}]`,
			"changed list[0].from\nchanged list[0].ip"},
		{"a field of a derived map", &model.Schema{Extra: model.Extra{Derived: true}}, `[{"from":"a"}]`, `[{"from":"b","ip":"10.0.0.1"}]`, "changed list[0].from"},
		{"a field of any other map", &model.Schema{}, `[{"from":"a"}]`, `[{"from":"b","ip":"10.0.0.1"}]`, "changed list[0].from\nchanged list[0].ip"},
		{"a field that live lacks", &model.Schema{Extra: model.Extra{Derived: true}}, `[{"from":"a","ip":"10.0.0.1"}]`, `[{"from":"b"}]`, "changed list[0].from\nchanged list[0].ip"},
	} {
		s := subject(value(t, `{"list":`+tc.declared+`}`), &model.Resource{Value: value(t, `{"list":`+tc.live+`}`)})
		s.Kind = &model.Kind{Schema: &model.Schema{Fields: map[string]*model.Schema{"list": {Each: tc.each}}}}
		if d := cmp.Diff(tc.want, show(Compare(s, Options{}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestInsideRecord checks that inside an atomic list only fields in which declared and live
// differ are reported, for any record of the others.
func TestInsideRecord(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, declared, recorded, live, want string }{
		{"one field changed, the other was codified", `[{"from":"a","port":2}]`, `[{"from":"a","port":1}]`, `[{"from":"b","port":2}]`, "changed list[0].from"},
		{"one field waits", `[{"from":"b","port":2}]`, `[{"from":"a","port":2}]`, `[{"from":"a","port":2}]`, "pending list[0].from"},
		{"all three differ", `[{"from":"c","port":2}]`, `[{"from":"a","port":2}]`, `[{"from":"b","port":2}]`, "conflict list[0].from"},
		{"the list was codified", `[{"from":"b","port":2}]`, `[{"from":"a","port":2}]`, `[{"from":"b","port":2}]`, "codified list"},
	} {
		s := subject(value(t, `{"list":`+tc.declared+`}`), &model.Resource{Value: value(t, `{"list":`+tc.live+`}`)})
		s.Claims[0].Recorded = pointer(value(t, `{"list":`+tc.recorded+`}`))
		s.Kind = &model.Kind{Schema: &model.Schema{Fields: map[string]*model.Schema{"list": {Each: &model.Schema{}}}}}
		if d := cmp.Diff(tc.want, show(Compare(s, Options{}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}
