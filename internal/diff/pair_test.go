package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// texts formats values as one line; an absent one is a dash.
func texts(values ...model.Value) string {
	var parts []string
	for _, v := range values {
		if v.IsNull() {
			parts = append(parts, "-")
			continue
		}
		parts = append(parts, string(v.AppendJSON(nil)))
	}
	return strings.Join(parts, " ")
}

// TestPairElements pairs elements of a declared, a recorded and a live list.
func TestPairElements(t *testing.T) {
	t.Parallel()
	tcp := model.StringOf("TCP")
	keyed := &model.Schema{List: model.Keyed, Keys: []string{"port", "protocol"}, Each: &model.Schema{
		Fields: map[string]*model.Schema{"protocol": {Default: &tcp}}}}
	set := &model.Schema{List: model.Set, Each: &model.Schema{}}
	for _, tc := range []struct {
		reason            string
		schema            *model.Schema
		declared, r, live string
		want              []string
		whole             bool
	}{
		{"three aligned lists", set, `["a","b"]`, `["a","b"]`, `["a","b"]`, []string{`"a" "a" "a"`, `"b" "b" "b"`}, false},
		{"no record", set, `["a","b"]`, `[]`, `["a","b"]`, []string{`"a" - "a"`, `"b" - "b"`}, false},
		{"the record in another order", set, `["a","b"]`, `["b","a"]`, `["a","b"]`, []string{`"a" "a" "a"`, `"b" "b" "b"`}, false},
		{"live in another order", set, `["a","b"]`, `[]`, `["b","a"]`, []string{`"a" - "a"`, `"b" - "b"`}, false},
		{"declared only", set, `["a","b"]`, `[]`, `["a"]`, []string{`"a" - "a"`, `"b" - -`}, false},
		{"live only comes after declared", set, `["b"]`, `[]`, `["a","b"]`, []string{`"b" - "b"`, `- - "a"`}, false},
		{"recorded only comes last", set, `["b"]`, `["c"]`, `["a"]`, []string{`"b" - -`, `- - "a"`, `- "c" -`}, false},
		{"nothing declared", set, `[]`, `["a"]`, `["a"]`, []string{`- "a" "a"`}, false},
		{"nothing at all", set, `[]`, `[]`, `[]`, nil, false},
		{"one element twice in a list cannot be paired", set, `["a","a"]`, `[]`, `["a"]`, nil, true},
		{"equal lists are paired in order, though an element repeats", set, `["a","a"]`, `[]`, `["a","a"]`, []string{`"a" - "a"`, `"a" - "a"`}, false},
		{"three equal lists, too", set, `["a","a"]`, `["a","a"]`, `["a","a"]`, []string{`"a" "a" "a"`, `"a" "a" "a"`}, false},
		{"equal lists in which an element repeats, and another record", set, `["a","a"]`, `["a"]`, `["a","a"]`, nil, true},
		{"twice in live", set, `["a"]`, `[]`, `["a","a"]`, nil, true},
		{"twice in the record", set, `["a"]`, `["a","a"]`, `["a","b"]`, nil, true},
		{"keys with a default", keyed, `[{"port":1}]`, `[]`, `[{"port":1,"protocol":"TCP"}]`,
			[]string{`{"port":1} - {"port":1,"protocol":"TCP"}`}, false},
		{"keys that differ", keyed, `[{"port":1}]`, `[]`, `[{"port":1,"protocol":"UDP"}]`,
			[]string{`{"port":1} - -`, `- - {"port":1,"protocol":"UDP"}`}, false},
		{"an empty element is named by its default key", keyed, `[{"port":1}]`, `[]`, `[{"a":1}]`,
			[]string{`{"port":1} - -`, `- - {"a":1}`}, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			triples, ok := pairElements(tc.schema, value(t, tc.declared).Items(), value(t, tc.r).Items(), value(t, tc.live).Items())
			if ok == tc.whole {
				t.Fatalf("paired: %v, want %v", ok, !tc.whole)
			}
			var got []string
			for _, p := range triples {
				got = append(got, texts(p.declared(), p.recorded(), p.live()))
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	if _, ok := pairElements(&model.Schema{List: model.Keyed, Keys: []string{"name"}}, value(t, `[{"name":"a"},{"value":1}]`).Items(), nil, nil); ok {
		t.Error("an element without a name was paired")
	}
}

// TestTripleAny returns the element of the first side that has it: declared, then recorded,
// then live.
func TestTripleAny(t *testing.T) {
	t.Parallel()
	d, r, l := model.StringOf("declared"), model.StringOf("recorded"), model.StringOf("live")
	for _, tc := range []struct {
		triple triple
		want   string
	}{
		{triple{&d, &r, &l}, "declared"},
		{triple{nil, &r, &l}, "live"},
		{triple{nil, &r, nil}, "recorded"},
		{triple{&d, nil, nil}, "declared"},
	} {
		if got := tc.triple.any().Text(); got != tc.want {
			t.Errorf("got the %s element, want the %s one", got, tc.want)
		}
	}
}

// pairs formats pairings as "d-l@at".
func pairs(of []pairing) string {
	var parts []string
	for _, p := range of {
		parts = append(parts, fmt.Sprintf("%d-%d@%d", p.d, p.l, p.at))
	}
	return strings.Join(parts, " ")
}

// TestPairSequence pairs the elements of two lists by content.
func TestPairSequence(t *testing.T) {
	t.Parallel()
	plain := &model.Schema{List: model.Sequence, Each: &model.Schema{}}
	byName := &model.Schema{List: model.Sequence, Keys: []string{"name"}, Each: &model.Schema{}}
	byBoth := &model.Schema{List: model.Sequence, Keys: []string{"name", "kind"}, Each: &model.Schema{}}
	for _, tc := range []struct {
		reason string
		schema *model.Schema
		d, l   string
		want   string
	}{
		{"both empty", plain, `[]`, `[]`, ""},
		{"equal", plain, `["a","b"]`, `["a","b"]`, "0-0@0 1-1@1"},
		{"one changed", plain, `["a","b","c"]`, `["a","x","c"]`, "0-0@0 1-1@1 2-2@2"},
		{"one more in front", plain, `["b","c"]`, `["a","b","c"]`, "-1-0@0 0-1@0 1-2@1"},
		{"one more behind", plain, `["a"]`, `["a","b"]`, "0-0@0 -1-1@1"},
		{"one fewer in front", plain, `["a","b"]`, `["b"]`, "0--1@0 1-0@1"},
		{"one fewer behind", plain, `["a","b"]`, `["a"]`, "0-0@0 1--1@1"},
		{"one changed and one more between equal ones", plain, `["a","b","z"]`, `["a","x","y","z"]`, "0-0@0 1-1@1 -1-2@2 2-3@2"},
		{"one changed and one fewer between equal ones", plain, `["a","b","c","z"]`, `["a","x","z"]`, "0-0@0 1-1@1 2--1@2 3-2@3"},
		{"all other", plain, `["a"]`, `["x","y"]`, "0-0@0 -1-1@1"},
		{"all gone", plain, `["a","b"]`, `[]`, "0--1@0 1--1@1"},
		{"all new", plain, `[]`, `["a","b"]`, "-1-0@0 -1-1@1"},
		{"of two orders of one length, that of the live list's first element", plain, `["a","b"]`, `["b","a"]`, "0--1@0 1-0@1 -1-1@1"},
		{"turned keeps the longest order", plain, `["a","b","c"]`, `["c","a","b"]`, "-1-0@0 0-1@0 1-2@1 2--1@2"},

		{"by name, in any order", byName, `[{"name":"a"},{"name":"b"}]`, `[{"name":"b"},{"name":"a"}]`, "0-1@0 1-0@1"},
		{"by name, one gone", byName, `[{"name":"a"},{"name":"b"}]`, `[{"name":"b"}]`, "0--1@0 1-0@1"},
		{"by name, one new comes after all declared", byName, `[{"name":"b"}]`, `[{"name":"a"},{"name":"b"}]`, "0-1@0 -1-0@1"},
		{"by name, with another value", byName, `[{"name":"a","v":1}]`, `[{"name":"a","v":2}]`, "0-0@0"},
		{"without a name nothing pairs", byName, `[{"v":1}]`, `[{"v":1}]`, "0--1@0 -1-0@1"},
		{"one name twice: each takes one", byName, `[{"name":"a"},{"name":"a"}]`, `[{"name":"a"},{"name":"a"}]`, "0-0@0 1-1@1"},
		{"one name twice, once live", byName, `[{"name":"a"},{"name":"a"}]`, `[{"name":"a"}]`, "0-0@0 1--1@1"},
		{"by both keys first", byBoth, `[{"name":"a","kind":"x"},{"name":"a","kind":"y"}]`, `[{"name":"a","kind":"y"},{"name":"a","kind":"x"}]`, "0-1@0 1-0@1"},
		{"then by the first", byBoth, `[{"name":"a","kind":"x"}]`, `[{"name":"a","kind":"z"}]`, "0-0@0"},
		{"the second key alone pairs nothing", byBoth, `[{"name":"a","kind":"x"}]`, `[{"name":"b","kind":"x"}]`, "0--1@0 -1-0@1"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			if got := pairs(pairSequence(tc.schema, value(t, tc.d).Items(), value(t, tc.l).Items())); got != tc.want {
				t.Errorf("pairs %s, want %s", got, tc.want)
			}
		})
	}
}

// TestSequencesAreWhole checks that each element of either list is in exactly one pairing, and
// that equal lists pair each element with its equal.
func TestSequencesAreWhole(t *testing.T) {
	t.Parallel()
	plain := &model.Schema{List: model.Sequence, Each: &model.Schema{}}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []model.Value {
			var list []model.Value
			for _, s := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 8).Draw(t, name) {
				list = append(list, model.StringOf(s))
			}
			return list
		}
		d, l := draw("declared"), draw("live")
		left, right := map[int]int{}, map[int]int{}
		lastD, lastL := -1, -1
		for _, p := range pairSequence(plain, d, l) {
			if p.d >= 0 {
				left[p.d]++
				if p.d <= lastD {
					t.Fatalf("declared element %d comes after %d", p.d, lastD)
				}
				lastD = p.d
			}
			if p.l >= 0 {
				right[p.l]++
				if p.l <= lastL {
					t.Fatalf("live element %d comes after %d", p.l, lastL)
				}
				lastL = p.l
			}
		}
		for i := range d {
			if left[i] != 1 {
				t.Fatalf("declared element %d is in %d pairings", i, left[i])
			}
		}
		for j := range l {
			if right[j] != 1 {
				t.Fatalf("live element %d is in %d pairings", j, right[j])
			}
		}
		for _, p := range pairSequence(plain, d, d) {
			if p.d != p.l {
				t.Fatalf("in one list, element %d is paired with %d", p.d, p.l)
			}
		}
	})
}

// TestLongSequence checks that lists too long to be aligned are paired by position.
func TestLongSequence(t *testing.T) {
	t.Parallel()
	plain := &model.Schema{List: model.Sequence, Each: &model.Schema{}}
	list := func(n int) []model.Value {
		var items []model.Value
		for i := range n {
			items = append(items, model.IntOf(int64(i)))
		}
		return items
	}
	const edge = 1 << 10
	for _, tc := range []struct {
		n    int
		want pairing
	}{
		{edge, pairing{d: 0, l: 1}},
		{edge + 1, pairing{d: 0, l: 0}},
	} {
		// The second list lacks its last element and has one more in front.
		l := append([]model.Value{model.IntOf(-1)}, list(tc.n-1)...)
		for _, p := range pairSequence(plain, list(tc.n), l) {
			if p.d == 0 && p != tc.want {
				t.Errorf("of %d elements, the first is paired with %d, want %d", tc.n, p.l, tc.want.l)
			}
		}
	}
}

// TestPathText formats a path.
func TestPathText(t *testing.T) {
	t.Parallel()
	udp, tcp := value(t, `{"port":53,"protocol":"UDP"}`), model.StringOf("TCP")
	ports := &model.Schema{List: model.Keyed, Keys: []string{"port", "protocol"}, Each: &model.Schema{
		Fields: map[string]*model.Schema{"protocol": {Default: &tcp}}}}
	plain, named := value(t, `{"port":80}`), &model.Schema{List: model.Keyed, Keys: []string{"name"}}
	set := &model.Schema{List: model.Set}
	element := func(text string) *model.Value { return pointer(value(t, text)) }
	for _, tc := range []struct {
		path        path
		text, steps string
	}{
		{path{}, "", ""},
		{path{fieldSegment("spec")}, "spec", "spec"},
		{path{fieldSegment("spec"), fieldSegment("replicas")}, "spec.replicas", "spec/replicas"},
		{path{fieldSegment("a_b"), fieldSegment("c-d"), fieldSegment("$e"), fieldSegment("F9")}, "a_b.c-d.$e.F9", "a_b/c-d/$e/F9"},
		{path{fieldSegment("labels"), fieldSegment("app.io/name")}, `labels["app.io/name"]`, "labels/app.io/name"},
		{path{fieldSegment("AZ"), fieldSegment("az09")}, "AZ.az09", "AZ/az09"},
		{path{fieldSegment("a"), fieldSegment("b.c")}, `a["b.c"]`, "a/b.c"},
		{path{fieldSegment("labels"), fieldSegment("")}, `labels[""]`, "labels/"},
		{path{fieldSegment("été")}, `["été"]`, "été"},
		{path{fieldSegment("args"), indexSegment(2, 2), fieldSegment("x")}, "args[2].x", "args/2/x"},
		{path{fieldSegment("ports"), elementSegment(ports, &udp)}, "ports[port=53,protocol=UDP]", `ports/{"port":53,"protocol":"UDP"}`},
		{path{fieldSegment("ports"), elementSegment(ports, &plain)}, "ports[port=80,protocol=TCP]", `ports/{"port":80,"protocol":"TCP"}`},
		{path{fieldSegment("env"), elementSegment(named, element(`{"name":"a,b"}`))}, `env[name="a,b"]`, `env/{"name":"a,b"}`},
		{path{fieldSegment("env"), elementSegment(named, element(`{"name":"a]"}`))}, `env[name="a]"]`, `env/{"name":"a]"}`},
		{path{fieldSegment("env"), elementSegment(named, element(`{"name":"a\nb"}`))}, `env[name="a\nb"]`, `env/{"name":"a\nb"}`},
		{path{fieldSegment("env"), elementSegment(named, element(`{"name":"a b"}`))}, `env[name=a b]`, `env/{"name":"a b"}`},
		{path{fieldSegment("groups"), elementSegment(set, element(`"wheel"`))}, "groups[=wheel]", `groups/"wheel"`},
		{path{fieldSegment("groups"), elementSegment(set, element(`"a\"b"`))}, `groups[="a\"b"]`, `groups/"a\"b"`},
	} {
		if got := tc.path.String(); got != tc.text {
			t.Errorf("path %s, want %s", got, tc.text)
		}
		var steps []string
		for _, s := range tc.path.steps() {
			steps = append(steps, s.Text)
		}
		if got := strings.Join(steps, "/"); got != tc.steps {
			t.Errorf("steps of %s: %s, want %s", tc.text, got, tc.steps)
		}
	}
}

// TestStepKinds checks the steps of each segment against the kinds of steps in lists of owners.
func TestStepKinds(t *testing.T) {
	t.Parallel()
	element := value(t, `{"name":"a"}`)
	keyed, set := &model.Schema{List: model.Keyed, Keys: []string{"name"}}, &model.Schema{List: model.Set}
	for _, tc := range []struct {
		segment segment
		want    model.StepKind
	}{
		{fieldSegment("a"), model.FieldStep},
		{indexSegment(0, 0), model.IndexStep},
		{elementSegment(keyed, &element), model.KeyStep},
		{elementSegment(set, &element), model.ItemStep},
	} {
		if got := tc.segment.step().Kind; got != tc.want {
			t.Errorf("%s has kind %d, want %d", path{tc.segment}, got, tc.want)
		}
	}
}

// TestLivePositions checks that a path in its live form has the positions of the live lists,
// and the name of an element that is not live.
func TestLivePositions(t *testing.T) {
	t.Parallel()
	named := &model.Schema{List: model.Sequence, Keys: []string{"slot"}, Each: &model.Schema{}}
	two := &model.Schema{List: model.Sequence, Keys: []string{"slot", "kind"}, Each: &model.Schema{}}
	disk := value(t, `{"slot":"scsi1"}`)
	for _, tc := range []struct {
		reason  string
		segment segment
		text    string
		live    string
	}{
		{"at another position", pairing{d: 0, l: 2, at: 0}.segment(named, disk), "disk[0]", "disk[2]"},
		{"at the same position", pairing{d: 1, l: 1, at: 1}.segment(named, disk), "disk[1]", "disk[1]"},
		{"gone, with a name", pairing{d: 1, l: -1, at: 1}.segment(named, disk), "disk[1]", "disk.scsi1"},
		{"gone, without a name", pairing{d: 1, l: -1, at: 1}.segment(&model.Schema{}, disk), "disk[1]", "disk[-2]"},
		{"gone, the first", pairing{d: 0, l: -1, at: 0}.segment(&model.Schema{}, disk), "disk[0]", "disk[-1]"},
		{"gone, with a name of two parts", pairing{d: 1, l: -1, at: 1}.segment(two, disk), "disk[1]", "disk[-2]"},
	} {
		p := path{fieldSegment("disk"), tc.segment}
		if got := p.String(); got != tc.text {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.text)
		}
		if got := p.live().String(); got != tc.live {
			t.Errorf("%s: live %s, want %s", tc.reason, got, tc.live)
		}
	}
}
