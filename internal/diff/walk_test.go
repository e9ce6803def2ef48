package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestWithin checks whether live has all that is declared, and perhaps more, in lists of the
// same length.
func TestWithin(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, declared, live string
		want                   bool
	}{
		{"equal", `{"a":1}`, `{"a":1}`, true},
		{"one field more", `{"a":1}`, `{"a":1,"b":2}`, true},
		{"one field fewer", `{"a":1,"b":2}`, `{"a":1}`, false},
		{"another value", `{"a":1}`, `{"a":2}`, false},
		{"an empty field that live lacks", `{"a":1,"b":""}`, `{"a":1}`, true},
		{"more inside elements", `[{"a":1},{"b":1}]`, `[{"a":1,"x":1},{"b":1,"y":1}]`, true},
		{"another element", `[{"a":1},{"b":1}]`, `[{"a":1},{"c":1}]`, false},
		{"only the last element is another", `[1,2,3]`, `[1,2,4]`, false},
		{"only the first element is another", `[1,2,3]`, `[0,2,3]`, false},
		{"more elements", `[1]`, `[1,2]`, false},
		{"fewer elements", `[1,2]`, `[1]`, false},
		{"elements in another order", `[1,2]`, `[2,1]`, false},
		{"deep inside", `[{"a":[{"b":1}]}]`, `[{"a":[{"b":1,"c":2}]}]`, true},
		{"deep inside, another value", `[{"a":[{"b":1}]}]`, `[{"a":[{"b":2}]}]`, false},
		{"a list for a map", `{"a":1}`, `[1]`, false},
		{"a map for a list", `[1]`, `{"a":1}`, false},
		{"a map for a scalar", `1`, `{"a":1}`, false},
		{"empty lists", `[]`, `[]`, true},
		{"an empty list for nothing", `[]`, `null`, true},
	} {
		if got := within(nil, value(t, tc.declared), value(t, tc.live)); got != tc.want {
			t.Errorf("%s: within(%s, %s) = %v, want %v", tc.reason, tc.declared, tc.live, got, tc.want)
		}
	}
}

// TestDifferingMaps pairs the elements of two lists of one length that differ.
func TestDifferingMaps(t *testing.T) {
	t.Parallel()
	plain := &model.Schema{}
	ordered, bag := &model.Schema{List: model.Ordered, Each: plain}, &model.Schema{List: model.Bag, Each: plain}
	named := &model.Schema{List: model.Bag, Each: plain, Keys: []string{"n"}}
	for _, tc := range []struct {
		reason         string
		schema         *model.Schema
		declared, live string
		want           string
	}{
		{"one element of an ordered list", ordered, `[{"a":1},{"a":2}]`, `[{"a":1},{"a":3}]`, "1-1@1"},
		{"all elements of an ordered list", ordered, `[{"a":1},{"a":2}]`, `[{"a":3},{"a":4}]`, "0-0@0 1-1@1"},
		{"without a schema, as an ordered list", nil, `[{"a":1},{"a":2}]`, `[{"a":1},{"a":3}]`, "1-1@1"},
		{"an element of a bag of which half is equal", bag, `[{"a":1},{"a":2,"b":2}]`, `[{"a":2,"b":3},{"a":1}]`, "1-0@1"},
		{"an element of a bag of which less is equal", bag, `[{"a":1},{"a":2,"b":2,"c":2}]`, `[{"a":1},{"a":2,"b":3,"c":3}]`, "1--1@1 -1-1@2"},
		{"an element of a bag of which nothing is equal", bag, `[{"a":1,"b":1},{"a":2}]`, `[{"a":2},{"a":3,"b":3}]`, "0--1@0 -1-1@2"},
		{"an element of a bag that holds one value", bag, `[{"a":1},{"a":2}]`, `[{"a":2},{"a":3}]`, "0-1@0"},
		{"empty fields do not count", bag, `[{"a":1,"b":"","c":"","d":3}]`, `[{"a":2,"b":"","c":"","d":4}]`, "0--1@0 -1-0@1"},
		{"of one name", named, `[{"n":"x","a":1,"b":1,"c":1}]`, `[{"n":"x","a":2,"b":2,"c":2}]`, "0-0@0"},
		{"of another name", named, `[{"n":"x","a":1,"b":1,"c":1}]`, `[{"n":"y","a":1,"b":1,"c":1}]`, "0--1@0 -1-0@1"},
		{"a bag that was turned differs nowhere", bag, `[{"a":1},{"a":2}]`, `[{"a":2},{"a":1}]`, ""},
	} {
		found := differingMaps(tc.schema, value(t, tc.declared), value(t, tc.live))
		if got := pairs(found); got != tc.want || found == nil {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
	for _, tc := range []struct {
		reason         string
		schema         *model.Schema
		declared, live string
	}{
		{"a declared element that is no map", bag, `[1,{"a":2}]`, `[{"a":1},{"a":2}]`},
		{"a live element that is no map", bag, `[{"a":1},{"a":2}]`, `[1,{"a":2}]`},
	} {
		if found := differingMaps(tc.schema, value(t, tc.declared), value(t, tc.live)); found != nil {
			t.Errorf("%s: %s, want the lists as a whole", tc.reason, pairs(found))
		}
	}
}

// TestStructures checks the differences of two maps, or of a map and an absent value, in
// complete and in partial claims.
func TestStructures(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, declared, live string
		part, all              string
	}{
		{"a structure in both", `{"probe":{"path":"/a"}}`, `{"probe":{"path":"/b"}}`, "changed probe.path", "changed probe.path"},
		{"a structure that live lacks", `{"probe":{"path":"/a","every":1}}`, `{}`, "changed probe", "changed probe.every\nchanged probe.path"},
		{"a structure that only live has", `{"mode":"auto"}`, `{"probe":{"path":"/a"}}`, "undeclared probe.path", "changed probe.path"},
		{"free names that live lacks", `{"labels":{"a":"1","b":"2"}}`, `{}`, "changed labels.a\nchanged labels.b", "changed labels.a\nchanged labels.b"},
		{"an empty structure that live lacks", `{"probe":{}}`, `{}`, "", ""},
		{"a value that only live has", `{}`, `{"mode":"manual"}`, "undeclared mode", "changed mode"},
		{"a list that only live has", `{}`, `{"args":["a"]}`, "undeclared args", "changed args"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			for complete, want := range map[bool]string{false: tc.part, true: tc.all} {
				s := subject(value(t, tc.declared), &model.Resource{Value: value(t, tc.live)})
				s.Claims[0].Complete = complete
				if d := cmp.Diff(want, show(Compare(s, Options{}))); d != "" {
					t.Errorf("declared %s, live %s, complete %v (-want +got):\n%s", tc.declared, tc.live, complete, d)
				}
			}
		})
	}
}

// TestInside finds the fields that differ in atomic lists, and names each once.
func TestInside(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, declared, live, want string }{
		{"one field of one element", `{"rules":[{"from":"a","port":1},{"from":"b","port":2}]}`, `{"rules":[{"from":"a","port":1},{"from":"b","port":3}]}`,
			"changed rules[1].port"},
		{"two fields of one element", `{"rules":[{"from":"a","port":1}]}`, `{"rules":[{"from":"b","port":2}]}`, "changed rules[0]\nchanged rules[1]"},
		{"a field that only live has", `{"rules":[{"from":"a"}]}`, `{"rules":[{"from":"a","port":2}]}`, "changed rules[0].port"},
		{"a field that live lacks", `{"rules":[{"from":"a","port":2}]}`, `{"rules":[{"from":"a"}]}`, "changed rules[0].port"},
		{"a default that only live has is none", `{"rules":[{"from":"a","port":1}]}`, `{"rules":[{"from":"b","port":1,"protocol":"TCP"}]}`, "changed rules[0].from"},
		{"another value than the default", `{"rules":[{"from":"a"}]}`, `{"rules":[{"from":"a","protocol":"UDP"}]}`, "changed rules[0].protocol"},
		{"an element more", `{"rules":[{"from":"a"}]}`, `{"rules":[{"from":"a"},{"from":"b"}]}`, "changed rules"},
		{"an element fewer", `{"rules":[{"from":"a"},{"from":"b"}]}`, `{"rules":[{"from":"a"}]}`, "changed rules"},
		{"an element that is no map", `{"rules":[{"from":"a"}]}`, `{"rules":["a"]}`, "changed rules"},
		{"elements of a bag in another order", `{"rules":[{"from":"a"},{"from":"b"}]}`, `{"rules":[{"from":"b"},{"from":"a"}]}`, ""},
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

// TestUnknownLists compares lists without a known schema: live fields that are not declared may
// be defaults.
func TestUnknownLists(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, declared, live, want string }{
		{"equal", `{"x":[{"a":1}]}`, `{"x":[{"a":1}]}`, ""},
		{"live has more in an element", `{"x":[{"a":1}]}`, `{"x":[{"a":1,"b":2}]}`, ""},
		{"live has less in an element", `{"x":[{"a":1,"b":2}]}`, `{"x":[{"a":1}]}`, "changed x[0].b"},
		{"live has an element more", `{"x":[{"a":1}]}`, `{"x":[{"a":1},{"a":2}]}`, "changed x"},
		{"live has another value", `{"x":[{"a":1}]}`, `{"x":[{"a":2}]}`, "changed x[0].a"},
		{"scalars", `{"x":[1,2]}`, `{"x":[1,3]}`, "changed x"},
		{"live has none", `{"x":[1]}`, `{}`, "changed x"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := &model.Subject{Live: &model.Resource{Value: value(t, tc.live)}, Kind: &model.Kind{},
				Claims: []*model.Claim{{Declaration: "d", Value: value(t, tc.declared)}}}
			if d := cmp.Diff(tc.want, show(Compare(s, Options{}))); d != "" {
				t.Errorf("declared %s, live %s (-want +got):\n%s", tc.declared, tc.live, d)
			}
		})
	}
}

// TestFieldCursor checks that takeField returns sorted fields by the least name.
func TestFieldCursor(t *testing.T) {
	t.Parallel()
	a, b := value(t, `{"a":1,"c":3}`).Fields(), value(t, `{"b":2,"c":4}`).Fields()
	var got []string
	for len(a) > 0 || len(b) > 0 {
		name := leastName(a, b)
		got = append(got, name+" "+texts(takeField(&a, name), takeField(&b, name)))
	}
	if want := "a 1 -; b - 2; c 3 4"; strings.Join(got, "; ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "; "), want)
	}
	if name := leastName(nil, nil); name != "" {
		t.Errorf("the least of no names is %q", name)
	}
	empty := value(t, `{"":1}`).Fields()
	if name := leastName(value(t, `{"a":1}`).Fields(), empty); name != "" {
		t.Errorf("an empty name is the least, not %q", name)
	}
}

// TestForeignFields checks that a field with the prefix of a controller is foreign in a map
// with such prefixes only.
func TestForeignFields(t *testing.T) {
	t.Parallel()
	schema := &model.Schema{Foreign: []string{"tool/", "other."}}
	for name, want := range map[string]bool{"tool/id": true, "tool/": true, "other.x": true, "tool": false, "a/tool/": false, "": false} {
		if got := isForeign(schema, name); got != want {
			t.Errorf("isForeign(%q) = %v, want %v", name, got, want)
		}
		if isForeign(nil, name) {
			t.Errorf("without a schema, %q is foreign", name)
		}
	}
}
