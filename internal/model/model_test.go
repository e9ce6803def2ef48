package model

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersHaveOneForm(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, literal, want string }{
		{"a whole number", "12", "12"},
		{"a fraction of nothing", "12.0", "12"},
		{"an exponent", "1.2e1", "12"},
		{"below zero", "-0.50", "-0.5"},
		{"minus nothing", "-0", "0"},
		{"beyond 64 bits", "123456789012345678901234567890.5", "123456789012345678901234567890.5"},
		{"small", "1e-3", "0.001"},
	} {
		if v, ok := NumberOf(tc.literal); !ok || v.Text() != tc.want {
			t.Errorf("%s: NumberOf(%q) = %q, %t; want %q", tc.reason, tc.literal, v.Text(), ok, tc.want)
		}
	}
	for _, bad := range []string{"", "-", "1/2", "0x10", "1_000", "NaN", "Inf", "1e999999999", "+1", "01x"} {
		if v, ok := NumberOf(bad); ok {
			t.Errorf("NumberOf(%q) = %q, want none", bad, v.Text())
		}
	}
}

func TestMapsAreSortedAndTheLastWins(t *testing.T) {
	t.Parallel()
	v := MapOf(Field{"b", IntOf(1)}, Field{"a", IntOf(2)}, Field{"b", IntOf(3)})
	if got := string(v.AppendJSON(nil)); got != `{"a":2,"b":3}` {
		t.Errorf("got %s", got)
	}
	if got := string(v.With("c", BoolOf(true)).Without("a").AppendJSON(nil)); got != `{"b":3,"c":true}` {
		t.Errorf("got %s", got)
	}
	if v.At("a").Text() != "2" || !v.At("x", "y").IsNull() {
		t.Error("At finds the wrong fields")
	}
}

func anyValue() *rapid.Generator[Value] {
	scalar := rapid.OneOf(rapid.Map(rapid.String(), StringOf), rapid.Map(rapid.Int64(), IntOf), rapid.Map(rapid.Bool(), BoolOf),
		rapid.Just(Value{}), rapid.Map(rapid.StringMatching(`[0-9a-f]{8}`), DigestOf))
	return rapid.OneOf(scalar,
		rapid.Map(rapid.SliceOfN(scalar, 0, 4), func(items []Value) Value { return ListOf(items...) }),
		rapid.Map(rapid.MapOfN(rapid.String(), scalar, 0, 4), func(m map[string]Value) Value {
			var fields []Field
			for name, v := range m {
				fields = append(fields, Field{name, v})
			}
			return MapOf(fields...)
		}))
}

func TestJSONKeepsEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue().Draw(t, "value")
		var back Value
		if err := back.UnmarshalJSON(v.AppendJSON(nil)); err != nil {
			t.Fatal(err)
		}
		if !back.Equal(v) {
			t.Fatalf("%s came back as %s", v.AppendJSON(nil), back.AppendJSON(nil))
		}
	})
}

func TestBrokenJSONIsRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "{", "[1", `{"a":[1]`, "1 2", `{"a":1}}`, `"a`} {
		var v Value
		if err := v.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%q gives %s and no error", bad, v)
		}
	}
}

func TestNobodyForgesADigest(t *testing.T) {
	t.Parallel()
	forged := StringOf(secretPrefix + "abc")
	var back Value
	if err := back.UnmarshalJSON(forged.AppendJSON(nil)); err != nil || back.Kind() != String || !back.Equal(forged) {
		t.Errorf("a string came back as %v, %v", back.Kind(), err)
	}
}

func TestPublicShowsNoDigest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := MapOf(Field{"x", anyValue().Draw(t, "value")}, Field{"y", DigestOf("feedfacecafe")})
		if s := v.String(); strings.Contains(s, "feedfacecafe") {
			t.Fatalf("%s shows a digest", s)
		}
	})
}

func TestSealer(t *testing.T) {
	t.Parallel()
	one, two := NewSealer([]byte("a")), NewSealer([]byte("b"))
	if !one.Seal("x").Equal(one.Seal("x")) || one.Seal("x").Equal(one.Seal("y")) || one.Seal("x").Equal(two.Seal("x")) {
		t.Error("equal text must give equal digests under one key, and only then")
	}
	sealed := one.SealTree(MapOf(Field{"a", ListOf(StringOf("x"), Value{})}))
	if got := sealed.String(); got != `{"a":["(secret)",null]}` {
		t.Errorf("got %s", got)
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	s := Snapshot{Coverage: []Coverage{
		{Kind: "k/A.g", Complete: true},
		{Kind: "k/B.g", Place: "p", Complete: true},
		{Kind: "k/B.g", Reason: "only p"},
		{Kind: "k/*.down", Reason: "down"},
		{Complete: true},
	}}
	for _, tc := range []struct {
		kind, place string
		want        bool
	}{
		{"k/A.g", "p", true}, {"k/B.g", "p", true}, {"k/B.g", "q", false}, {"k/C.down", "p", false}, {"k/D.g", "p", true}, {"k/E", "", true},
	} {
		if got, _ := s.Covers(tc.kind, tc.place); got != tc.want {
			t.Errorf("Covers(%s, %s) = %t", tc.kind, tc.place, got)
		}
	}
	empty := Snapshot{}
	if got, reason := empty.Covers("k/A", ""); got || reason == "" {
		t.Error("an empty snapshot covers nothing, and says so")
	}
}

func TestFieldSetDepth(t *testing.T) {
	t.Parallel()
	var leaf, spec, root FieldSet
	spec.Put(Step{Text: "free"}, leaf)
	spec.Put(Step{Text: "env"}, leaf)
	root.Put(Step{Text: "spec"}, spec)
	for _, tc := range []struct {
		path []string
		want int
	}{
		{[]string{"spec"}, 1}, {[]string{"spec", "free"}, 2}, {[]string{"spec", "free", "a", "b"}, 2},
		{[]string{"spec", "other"}, -1}, {[]string{"other"}, -1},
	} {
		var steps []Step
		for _, p := range tc.path {
			steps = append(steps, Step{Text: p})
		}
		if got := root.Depth(steps); got != tc.want {
			t.Errorf("Depth(%v) = %d, want %d", tc.path, got, tc.want)
		}
	}
}

// TestSameValue checks that no value is equal to no value only.
func TestSameValue(t *testing.T) {
	t.Parallel()
	one, again, two, null := IntOf(1), IntOf(1), IntOf(2), Value{}
	for _, tc := range []struct {
		reason string
		a, b   *Value
		want   bool
	}{
		{"both absent", nil, nil, true},
		{"one absent", &one, nil, false},
		{"equal", &one, &again, true},
		{"other values", &one, &two, false},
		{"null is not absent", &null, nil, false},
	} {
		if SameValue(tc.a, tc.b) != tc.want || SameValue(tc.b, tc.a) != tc.want {
			t.Errorf("%s: want %v", tc.reason, tc.want)
		}
	}
}
