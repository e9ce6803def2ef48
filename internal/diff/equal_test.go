package diff

import (
	"math/big"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// TestEqual tests each rule of Equal with one pair of equal values and a similar pair of
// unequal ones.
func TestEqual(t *testing.T) {
	t.Parallel()
	auto, zero, none := model.StringOf("auto"), value(t, "0"), value(t, "[]")
	text := &model.Schema{}
	withDefault, unset := &model.Schema{Default: &auto}, &model.Schema{Default: &auto, Unset: true}
	address := &model.Schema{Unset: true, Extra: model.Extra{Generated: true}}
	item := func(kind model.ListType, each *model.Schema) *model.Schema {
		return &model.Schema{List: kind, Each: each}
	}
	fields := func(of map[string]*model.Schema) *model.Schema { return &model.Schema{Fields: of} }
	for _, tc := range []struct {
		reason string
		schema *model.Schema
		a, b   string
		want   bool
	}{
		{"nothing is nothing", nil, "", "", true},
		{"nothing is null", nil, "", "null", true},
		{"without a schema an empty text is nothing", nil, "", `""`, true},
		{"without a schema zero is nothing", nil, "", "0", true},
		{"without a schema false is nothing", nil, "", "false", true},
		{"without a schema an empty list is nothing", nil, "", "[]", true},
		{"without a schema a text is something", nil, "", `"a"`, false},
		{"without a schema maps are compared by field", nil, `{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{"without a schema a field more is a difference", nil, `{"a":1}`, `{"a":1,"b":2}`, false},
		{"without a schema an empty field more is none", nil, `{"a":1}`, `{"a":1,"b":0}`, true},
		{"without a schema lists are ordered", nil, `[1,2]`, `[2,1]`, false},
		{"without a schema a number is not its text", nil, `1`, `"1"`, false},
		{"a map is no list", text, `{"a":1}`, `[1]`, false},
		{"a list is no scalar", text, `[1]`, `1`, false},
		{"a map is no scalar", text, `{"a":1}`, `"a"`, false},
		{"an empty map is no scalar", text, `{}`, `"a"`, false},
		{"a map of nothing is no scalar", text, `{"a":0}`, `1`, false},
		{"an empty list is no scalar", text, `[]`, `1`, false},
		{"an empty list is no map", text, `[]`, `{"a":1}`, false},
		{"a list is no empty text", &model.Schema{Format: model.IntOrString}, `[1]`, `""`, false},

		{"a volatile value is nothing", &model.Schema{Volatile: true}, "", "1", true},
		{"a volatile value is nothing, though it has a content", &model.Schema{Volatile: true, Content: true}, "", "1", true},
		{"where empty says something, it is not nothing", &model.Schema{Content: true}, "", "{}", false},
		{"where empty says something, false is not nothing", &model.Schema{Content: true}, "", "false", false},
		{"the default is nothing", withDefault, "", `"auto"`, true},
		{"another value is not", withDefault, "", `"manual"`, false},
		{"an empty text is not the default", withDefault, "", `""`, false},
		{"an empty list is nothing beside a default", withDefault, "", `[]`, true},
		{"an empty map is nothing beside a default", withDefault, "", `{}`, true},
		{"a full list is not", withDefault, "", `["auto"]`, false},
		{"zero as a default", &model.Schema{Default: &zero}, "", "0", true},
		{"one where zero is the default", &model.Schema{Default: &zero}, "", "1", false},
		{"an empty list as a default", &model.Schema{Default: &none}, "", "[]", true},
		{"the default in another spelling", &model.Schema{Default: pointer(model.StringOf("1")), Format: model.Quantity}, "", `"1000m"`, true},

		{"a map of defaults is nothing", fields(map[string]*model.Schema{"mode": withDefault}), "", `{"mode":"auto"}`, true},
		{"a map with another value is something", fields(map[string]*model.Schema{"mode": withDefault}), "", `{"mode":"manual"}`, false},
		{"one default and one other value are something", fields(map[string]*model.Schema{"mode": withDefault, "size": text}), "",
			`{"mode":"auto","size":1}`, false},
		{"elements of defaults are nothing in a sequence", item(model.Sequence, fields(map[string]*model.Schema{"mode": withDefault})), "",
			`[{"mode":"auto"}]`, true},
		{"one other element is something", item(model.Sequence, fields(map[string]*model.Schema{"mode": withDefault})), "",
			`[{"mode":"auto"},{"mode":"manual"}]`, false},
		{"in any other list an element is something", item(model.Ordered, fields(map[string]*model.Schema{"mode": withDefault})), "",
			`[{"mode":"auto"}]`, false},
		{"a map where a sequence belongs is compared as a map", item(model.Sequence, text), "", `{"a":1}`, false},

		{"a generated field that one side lacks", fields(map[string]*model.Schema{"ip": {Extra: model.Extra{Generated: true}}}), `{}`, `{"ip":"10.0.0.1"}`, true},
		{"a generated field on the other side", fields(map[string]*model.Schema{"ip": {Extra: model.Extra{Generated: true}}}), `{"ip":"10.0.0.1"}`, `{}`, true},
		{"a generated field that both sides have", fields(map[string]*model.Schema{"ip": {Extra: model.Extra{Generated: true}}}), `{"ip":"10.0.0.1"}`, `{"ip":"10.0.0.2"}`, false},
		{"generated below what one side lacks", fields(map[string]*model.Schema{"net": fields(map[string]*model.Schema{"ip": {Extra: model.Extra{Generated: true}}})}),
			`{}`, `{"net":{"ip":"10.0.0.1"}}`, true},
		{"generated beside something else", fields(map[string]*model.Schema{"net": fields(map[string]*model.Schema{"ip": {Extra: model.Extra{Generated: true}}})}),
			`{}`, `{"net":{"ip":"10.0.0.1","name":"a"}}`, false},
		{"generated in a map whose being there says something",
			fields(map[string]*model.Schema{"net": {Content: true, Fields: map[string]*model.Schema{"ip": {Extra: model.Extra{Generated: true}}}}}),
			`{}`, `{"net":{"ip":"10.0.0.1"}}`, false},
		{"an empty text that the system reads as unset is the default", unset, `""`, `"auto"`, true},
		{"an empty text that the system reads as unset is no other value", unset, `""`, `"manual"`, false},
		{"an empty text that the system reads as unset is nothing", unset, "", `""`, true},
		{"two empty values that the system reads as unset", unset, `""`, "0", true},
		{"zero that the system reads as unset is nothing", unset, "", "0", true},
		{"an empty generated text is no other value", address, `""`, `"10.0.0.1"`, false},
		{"an empty generated field of a map is filled in", fields(map[string]*model.Schema{"ip": address}), `{"ip":""}`, `{"ip":"10.0.0.1"}`, true},
		{"an empty field of a map is the default", fields(map[string]*model.Schema{"mode": unset}), `{"mode":""}`, `{"mode":"auto"}`, true},
		{"an empty field of a map is no other value", fields(map[string]*model.Schema{"mode": unset}), `{"mode":""}`, `{"mode":"manual"}`, false},
		{"a field with another value is not filled in", fields(map[string]*model.Schema{"ip": address}), `{"ip":"10.0.0.1"}`, `{"ip":"10.0.0.2"}`, false},

		{"a derived map fills in fields", &model.Schema{Extra: model.Extra{Derived: true}}, `{"a":1}`, `{"a":1,"b":2}`, true},
		{"a derived map fills in fields on the other side", &model.Schema{Extra: model.Extra{Derived: true}}, `{"a":1,"b":2}`, `{"a":1}`, true},
		{"a derived map changes no field", &model.Schema{Extra: model.Extra{Derived: true}}, `{"a":1}`, `{"a":2,"b":2}`, false},

		{"an ordered list", item(model.Ordered, text), `[1,2]`, `[1,2]`, true},
		{"an ordered list, turned", item(model.Ordered, text), `[1,2]`, `[2,1]`, false},
		{"an ordered list, longer", item(model.Ordered, text), `[1,2]`, `[1,2,0]`, false},
		{"a bag, turned", item(model.Bag, text), `[1,2,2]`, `[2,1,2]`, true},
		{"a bag counts", item(model.Bag, text), `[1,2,2]`, `[1,1,2]`, false},
		{"a bag, longer by nothing", item(model.Bag, text), `[1]`, `[1,0]`, false},
		{"a bag compares by meaning", item(model.Bag, &model.Schema{Format: model.Quantity}), `["1","2"]`, `["2000m",1]`, true},
		{"a bag takes each element once", item(model.Bag, &model.Schema{Format: model.Quantity}), `["1","1000m"]`, `["1","2"]`, false},
		{"a set, turned", item(model.Set, text), `["a","b"]`, `["b","a"]`, true},
		{"a set, one other", item(model.Set, text), `["a","b"]`, `["b","c"]`, false},
		{"a sequence, longer by a default", item(model.Sequence, fields(map[string]*model.Schema{"mode": withDefault})),
			`[{"size":1}]`, `[{"size":1},{"mode":"auto"}]`, true},
		{"a sequence, longer by something", item(model.Sequence, text), `[1]`, `[1,2]`, false},
		{"a sequence, turned", item(model.Sequence, text), `[1,2]`, `[2,1]`, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			a, b := value(t, tc.a), value(t, tc.b)
			if got := Equal(tc.schema, a, b); got != tc.want {
				t.Errorf("Equal(%s, %s) = %v, want %v", tc.a, tc.b, got, tc.want)
			}
			if got := Equal(tc.schema, b, a); got != tc.want {
				t.Errorf("Equal(%s, %s) = %v, want %v", tc.b, tc.a, got, tc.want)
			}
		})
	}
}

// TestEqualSpellings tests each format with spellings of one value and of others.
func TestEqualSpellings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		format model.Format
		same   []string
		others []string
	}{
		{model.Plain, []string{`"a"`}, []string{`"A"`, `" a"`, `["a"]`, `true`}},
		{model.IntOrString, []string{`80`, `"80"`}, []string{`"080"`, `81`, `"http"`, `[80]`}},
		{model.CaseFold, []string{`"HTTP"`, `"http"`, `"Http"`}, []string{`"https"`, `"ht"`}},
		{model.Base64, []string{`"aGVsbG8="`, `"aGVs\nbG8="`, `" aGVs bG8= "`}, []string{`"aGVsbG9="`, `"aGVsbG8"`}},
		{model.Boolean, []string{`true`, `1`, `"1"`, `"yes"`, `"on"`, `"TRUE"`, `"On"`}, []string{`false`, `"off"`, `"maybe"`, `2`}},
		{model.Boolean, []string{`false`, `0`, `"0"`, `"no"`, `"off"`, `"False"`}, []string{`true`, `"yes"`, `"none"`}},
		{model.Instant, []string{`"2026-01-01T00:00:00Z"`, `"2026-01-01T01:00:00+01:00"`, `"2026-01-01T00:00:00.000Z"`},
			[]string{`"2026-01-01T00:00:01Z"`, `"2026-01-01"`, `"now"`}},
		{model.Duration, []string{`"90s"`, `"1m30s"`, `"1.5m"`}, []string{`"91s"`, `"90"`, `"soon"`}},
		{model.Address, []string{`"2001:db8::1"`, `"2001:0db8:0:0::1"`, `"2001:db8::1/128"`},
			[]string{`"2001:db8::2"`, `"2001:db8::1/64"`, `"host"`, `"10.0.0.1"`}},
		{model.Address, []string{`"10.0.0.1"`, `"10.0.0.1/32"`}, []string{`"10.0.0.1/24"`, `"10.0.0.01"`, `"10.0.0.1/33"`}},
		{model.JSON, []string{`"{\"a\":1,\"b\":[2]}"`, `"{ \"b\": [2], \"a\": 1 }"`}, []string{`"{\"a\":1}"`, `"{\"a\":1,\"b\":[3]}"`, `"{"`, `""`}},
		{model.PropertyString, []string{`"size=1,mode=x"`, `"mode=x,size=1"`}, []string{`"size=1"`, `"size=1,mode=y"`, `"size=1,mode=x,size=1"`, `"x"`}},
	} {
		schema := &model.Schema{Format: tc.format}
		for i, a := range tc.same {
			for _, b := range tc.same {
				if !Equal(schema, value(t, a), value(t, b)) {
					t.Errorf("format %d: %s is not %s", tc.format, a, b)
				}
			}
			for _, b := range tc.others {
				if Equal(schema, value(t, a), value(t, b)) || Equal(schema, value(t, b), value(t, a)) {
					t.Errorf("format %d: %s is %s", tc.format, a, b)
				}
			}
			if i > 0 && Equal(&model.Schema{}, value(t, tc.same[0]), value(t, a)) {
				t.Errorf("without the format, %s is %s", tc.same[0], a)
			}
		}
	}
}

// TestEqualInside compares texts that contain trees by the schema of these.
func TestEqualInside(t *testing.T) {
	t.Parallel()
	auto := model.StringOf("auto")
	policy := &model.Schema{Format: model.JSON, Default: &auto, Fields: map[string]*model.Schema{
		"verbs": {List: model.Bag, Each: &model.Schema{}}, "mode": {Default: &auto}}}
	disk := &model.Schema{Format: model.PropertyString, Keys: []string{"file"}, Fields: map[string]*model.Schema{"backup": {Default: pointer(model.StringOf("1"))}}}
	for _, tc := range []struct {
		reason string
		schema *model.Schema
		a, b   string
		want   bool
	}{
		{"lists inside go by their type", policy, `{"verbs":["a","b"]}`, `{"verbs":["b","a"]}`, true},
		{"defaults inside are filled in", policy, `{"verbs":["a"]}`, `{"verbs":["a"],"mode":"auto"}`, true},
		{"another value inside", policy, `{"verbs":["a"]}`, `{"verbs":["a"],"mode":"manual"}`, false},
		{"the default of the text is none of the tree", policy, `null`, `"auto"`, false},
		{"a part without a name is the first key's", disk, "local:1,size=2", "size=2,file=local:1", true},
		{"a property with its default", disk, "local:1", "local:1,backup=1", true},
		{"a property with another value", disk, "local:1", "local:1,backup=0", false},
		{"two parts without a name are no property string", disk, "local:1,local:2", "local:2,local:1", false},
		{"what cannot be read equals itself", disk, "local:1,local:2", "local:1,local:2", true},
	} {
		if got := Equal(tc.schema, model.StringOf(tc.a), model.StringOf(tc.b)); got != tc.want {
			t.Errorf("%s: Equal(%s, %s) = %v, want %v", tc.reason, tc.a, tc.b, got, tc.want)
		}
	}
}

// TestFillsIn tests the values that a system may fill in if none is declared.
func TestFillsIn(t *testing.T) {
	t.Parallel()
	auto := model.StringOf("auto")
	schema := &model.Schema{Fields: map[string]*model.Schema{
		"ip": {Extra: model.Extra{Generated: true}}, "policy": {Extra: model.Extra{Derived: true}}, "mode": {Default: &auto}, "name": {},
		"entry": {Content: true, Fields: map[string]*model.Schema{"ip": {Extra: model.Extra{Generated: true}}}},
	}}
	for _, tc := range []struct {
		live string
		want bool
	}{
		{`{}`, true},
		{`{"ip":"10.0.0.1"}`, true},
		{`{"policy":{"a":1}}`, true},
		{`{"mode":"auto"}`, true},
		{`{"ip":"10.0.0.1","policy":"x","mode":"auto"}`, true},
		{`{"mode":"manual"}`, false},
		{`{"ip":"10.0.0.1","name":"a"}`, false},
		{`{"name":""}`, true},
		{`{"entry":{"ip":"10.0.0.1"}}`, false},
		{`["a"]`, false},
		{`"a"`, false},
	} {
		if got := fillsIn(schema, value(t, tc.live)); got != tc.want {
			t.Errorf("fillsIn(%s) = %v, want %v", tc.live, got, tc.want)
		}
	}
}

// TestUnpaired lists the elements of two bags without an equal one.
func TestUnpaired(t *testing.T) {
	t.Parallel()
	quantity := &model.Schema{List: model.Bag, Each: &model.Schema{Format: model.Quantity}}
	for _, tc := range []struct {
		reason, a, b string
		left, right  []int
	}{
		{"both empty", `[]`, `[]`, nil, nil},
		{"equal", `[1,2]`, `[1,2]`, nil, nil},
		{"turned", `[1,2]`, `[2,1]`, nil, nil},
		{"one more on the left", `[1,2]`, `[1]`, []int{1}, nil},
		{"one more on the right", `[1]`, `[2,1]`, nil, []int{0}},
		{"an element that repeats has one equal", `[1,1]`, `[1]`, []int{1}, nil},
		{"the equal at the same position goes first", `["1","1000m"]`, `["2","1"]`, []int{1}, []int{0}},
		{"all others", `[1,2]`, `[3,4,5]`, []int{0, 1}, []int{0, 1, 2}},
	} {
		left, right := unpaired(quantity, value(t, tc.a).Items(), value(t, tc.b).Items())
		if !slices.Equal(left, tc.left) || !slices.Equal(right, tc.right) {
			t.Errorf("%s: %v and %v are unpaired, want %v and %v", tc.reason, left, right, tc.left, tc.right)
		}
	}
}

// TestQuantities parses quantities like a Kubernetes API server.
func TestQuantities(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"0", "0"}, {"1", "1"}, {"+1", "1"}, {"-1", "-1"}, {"1.", "1"}, {".5", "1/2"}, {"1.5", "3/2"},
		{"1n", "1/1000000000"}, {"1u", "1/1000000"}, {"1m", "1/1000"},
		{"1k", "1000"}, {"1M", "1000000"}, {"1G", "1000000000"}, {"1T", "1000000000000"},
		{"1P", "1000000000000000"}, {"1E", "1000000000000000000"},
		{"1Ki", "1024"}, {"1Mi", "1048576"}, {"1Gi", "1073741824"}, {"1Ti", "1099511627776"},
		{"1Pi", "1125899906842624"}, {"1Ei", "1152921504606846976"},
		{"1e3", "1000"}, {"1E3", "1000"}, {"1e-3", "1/1000"},
		{"", ""}, {"m", ""}, {"1K", ""}, {"1ki", ""}, {"1i", ""}, {"1x", ""}, {"1mm", ""}, {"1xi", ""}, {"1Kii", ""},
		{"..", ""}, {".", ""}, {"1 ", ""}, {"one", ""},
	} {
		rat, err := parseQuantity(tc.text)
		switch {
		case (err != nil) != (tc.want == ""):
			t.Errorf("parseQuantity(%q): %v, want %q", tc.text, err, tc.want)
		case err == nil && rat.RatString() != tc.want:
			t.Errorf("parseQuantity(%q) = %s, want %s", tc.text, rat.RatString(), tc.want)
		}
	}
}

// TestMilli compares the parser of common quantities with that of all.
func TestMilli(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "1": "1000", "-1": "-1000", "1000m": "1000", "500m": "500", "1k": "1000000", "16Gi": "17179869184000",
		"9P": "9000000000000000000", "8Pi": "9007199254740992000", "-9P": "-9000000000000000000", "9223372036854775807m": "9223372036854775807",
		"-9223372036854775808m": "-9223372036854775808",
		"10P":                   "", "-10P": "", "9Pi": "", "1E": "", "1Ei": "", "9223372036854775807": "", "9223372036854775808m": "",
		"1n": "", "1u": "", "1.5": "", "+1": "", "01": "", "-0": "", "1e3": "", "1e3k": "", "": "", "m": "", "1x": "", "1 ": "",
	} {
		got, ok := milli(text)
		if ok != (want != "") || ok && strconv.FormatInt(got, 10) != want {
			t.Errorf("milli(%q) = %d, %t, want %q", text, got, ok, want)
		}
	}
	suffixes := []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "K", "i", "e3", "x"}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+]?0?[0-9]{1,20}(\.[0-9]{0,3})?`).Draw(t, "number") + rapid.SampledFrom(suffixes).Draw(t, "suffix")
		got, ok := milli(text)
		if !ok {
			return
		}
		want, err := parseQuantity(text)
		if err != nil || big.NewRat(got, 1000).Cmp(want) != 0 {
			t.Errorf("milli(%q) = %d, want %v thousandths (%v)", text, got, want, err)
		}
	})
}

// TestEqualIsAnEquivalence checks that equality is symmetric, and independent of the order of a
// bag's elements.
func TestEqualIsAnEquivalence(t *testing.T) {
	t.Parallel()
	schema := &model.Schema{List: model.Bag, Each: &model.Schema{Format: model.Quantity}}
	spellings := []string{"1", "1000m", "2", "2000m", "3", "3k"}
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom(spellings), 0, 6).Draw(t, "texts")
		other := rapid.Permutation(texts).Draw(t, "other")
		list := func(of []string) model.Value {
			var items []model.Value
			for _, s := range of {
				items = append(items, model.StringOf(s))
			}
			return model.ListOf(items...)
		}
		if !Equal(schema, list(texts), list(other)) {
			t.Fatalf("%v is not %v", texts, other)
		}
		if len(texts) > 0 && Equal(schema, list(texts), list(other[1:])) {
			t.Fatalf("%v is %v", texts, other[1:])
		}
	})
}
