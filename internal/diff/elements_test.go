package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestPairedElements pairs elements of atomic lists: a removed element and an added one are not
// a changed one.
func TestPairedElements(t *testing.T) {
	t.Parallel()
	keys := []string{"destination", "prefix_list"}
	for reason, tc := range map[string]struct {
		schema         model.Schema
		declared, live string
		want           string
	}{
		"a route to another gateway": {model.Schema{List: model.Bag, Keys: keys},
			`[{"destination":"0.0.0.0/0","via":"a"},{"destination":"10.0.0.0/8","via":"b"}]`, `[{"destination":"10.0.0.0/8","via":"b"},{"destination":"0.0.0.0/0","via":"c"}]`, "changed list[0].via"},
		"the default route removed, another one added": {model.Schema{List: model.Bag, Keys: keys},
			`[{"destination":"0.0.0.0/0","via":"a","metric":1}]`, `[{"destination":"10.0.0.0/8","via":"a","metric":1}]`, "changed list[0]\nchanged list[1]"},
		"another kind of destination": {model.Schema{List: model.Bag, Keys: keys},
			`[{"destination":"0.0.0.0/0","prefix_list":"","via":"a"}]`, `[{"destination":"","prefix_list":"pl-1","via":"a"}]`, "changed list[0]\nchanged list[1]"},
		"two changed, in another order": {model.Schema{List: model.Bag, Keys: keys},
			`[{"destination":"A","via":"a"},{"destination":"B","via":"b"}]`, `[{"destination":"B","via":"x"},{"destination":"A","via":"y"}]`, "changed list[0].via\nchanged list[1].via"},
		"one changed, one replaced": {model.Schema{List: model.Bag, Keys: keys},
			`[{"destination":"A","via":"a"},{"destination":"B","via":"b"}]`, `[{"destination":"C","via":"b"},{"destination":"A","via":"y"}]`, "changed list[0].via\nchanged list[1]\nchanged list[2]"},
		"without keys, most is equal":   {model.Schema{List: model.Bag}, `[{"port":1,"proto":"tcp","from":"x"}]`, `[{"port":1,"proto":"tcp","from":"y"}]`, "changed list[0].from"},
		"without keys, most differs":    {model.Schema{List: model.Bag}, `[{"port":1,"proto":"tcp","from":"x","text":""}]`, `[{"port":2,"proto":"tcp","from":"y","text":""}]`, "changed list[0]\nchanged list[1]"},
		"keys of an ordered list agree": {model.Schema{Keys: keys}, `[{"destination":"A","via":"a"}]`, `[{"destination":"A","via":"b"}]`, "changed list[0].via"},
		"keys of an ordered list differ": {model.Schema{Keys: keys},
			`[{"destination":"A","via":"a"}]`, `[{"destination":"B","via":"a"}]`, "changed list"},
		"the position identifies in an ordered list": {model.Schema{}, `[{"port":1},{"port":2}]`, `[{"port":1},{"port":3}]`, "changed list[1].port"},
		"no maps": {model.Schema{List: model.Bag}, `["a"]`, `["b"]`, "changed list"},
	} {
		each := tc.schema
		each.Each = &model.Schema{}
		s := subject(value(t, `{"list":`+tc.declared+`}`), &model.Resource{Value: value(t, `{"list":`+tc.live+`}`)})
		s.Kind = &model.Kind{Schema: &model.Schema{Fields: map[string]*model.Schema{"list": &each}}}
		if d := cmp.Diff(tc.want, show(Compare(s, Options{}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", reason, d)
		}
	}
}

// TestRecordedElements finds the recorded element in a list of any order.
func TestRecordedElements(t *testing.T) {
	t.Parallel()
	list := &model.Schema{List: model.Bag, Keys: []string{"name"}, Each: &model.Schema{}}
	recorded := value(t, `{"list":[{"name":"b","v":1},{"name":"a","v":1},{"name":"gone","v":1}]}`)
	s := subject(value(t, `{"list":[{"name":"a","v":1},{"name":"b","v":2},{"name":"new","v":1}]}`),
		&model.Resource{Value: value(t, `{"list":[{"name":"a","v":3},{"name":"b","v":1},{"name":"gone","v":1}]}`)})
	s.Claims[0].Recorded = &recorded
	s.Kind = &model.Kind{Schema: &model.Schema{Fields: map[string]*model.Schema{"list": list}}}
	want := "changed list[0].v\npending list[1].v\npending list[2]\npending list[3]"
	if d := cmp.Diff(want, show(Compare(s, Options{}))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
