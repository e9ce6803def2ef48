package mapping

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// tree parses the JSON form of a value.
func tree(t testing.TB, text string) model.Value {
	t.Helper()
	var v model.Value
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestConversions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		as, reason string
		// live and declared are the inputs, want is the common form.
		live, declared, want string
	}{
		{"gib", "bytes count in GiB", `8589934592`, `8`, `8`},
		{"gib", "a part of a GiB counts", `8858370048`, `8.25`, `8.25`},
		{"gib", "the smallest part of one", `1`, `0.000000000931322574615478515625`, `0.000000000931322574615478515625`},
		{"gib", "what is no number of bytes stays", `"8G"`, `"8G"`, `"8G"`},
		{"gib", "a fraction is no number of bytes", `1.5`, `1.5`, `1.5`},
		{"size", "the largest unit that loses nothing", `3221225472`, `"3072M"`, `"3G"`},
		{"size", "less than a unit", `1536`, `"1536"`, `"1536"`},
		{"size", "a fraction of a unit", `1610612736`, `"1.5G"`, `"1536M"`},
		{"size", "units in their other spellings", `1099511627776`, `"1TiB"`, `"1T"`},
		{"size", "nothing", `0`, `"0"`, `"0"`},
		{"size", "what is no size stays", `"all"`, `"all"`, `"all"`},
		{"size", "no text is no size", `""`, `""`, `""`},
		{"per(1000)", "a larger unit", `20500`, `20.5`, `20.5`},
		{"per(1000)", "what is no number stays", `"x"`, `"x"`, `"x"`},
		{"per(x)", "an argument that is no count changes nothing", `7`, `7`, `7`},
		{"json", "keys in order, numbers in one notation", `{"b":[1],"a":2}`, `" {\"a\": 2.0, \"b\": [1]}\n"`, `"{\"a\":2,\"b\":[1]}"`},
		{"json", "an empty tree is nothing", `{}`, `"{}"`, `null`},
		{"json", "null is nothing", `null`, `"null"`, `null`},
		{"json", "a scalar is its text", `3`, `"3"`, `"3"`},
		{"json", "a text stays", `"a {b}"`, `"a {b}"`, `"a {b}"`},
		{"json", "what is no JSON stays", `"{"`, `"{"`, `"{"`},
		{"only", "the element of a list of one", `[3]`, `3`, `3`},
		{"only", "of several none", `[3,4]`, `null`, `null`},
		{"only(port)", "what it holds", `[{"port":7}]`, `7`, `7`},
		{"each(id)", "one field of each", `[2,1]`, `[{"id":2,"name":"b"},{"id":1}]`, `[2,1]`},
		{"has(b)", "whether it is in a list", `["a","b"]`, `true`, `true`},
		{"has(c)", "or not", `["a","b"]`, `false`, `false`},
		{"time", "seconds as a moment", `1767225600`, `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00Z"`},
		{"time", "beyond what can be written", `253402300800`, `253402300800`, `253402300800`},
		{"time", "before all time", `-1`, `-1`, `-1`},
		{"not", "the reverse", `true`, `false`, `false`},
		{"not", "the reverse of the reverse", `false`, `true`, `true`},
		{"not", "what is no boolean stays", `1`, `1`, `1`},
		{"present", "something is there", `"no"`, `true`, `true`},
		{"number", "a number as text", `7`, `"7"`, `7`},
		{"number", "another text", `"a"`, `"a"`, `"a"`},
		{"text", "line ends behind a text do not count", `"a\nb"`, `"a\nb\n"`, `"a\nb"`},
		{"text", "blanks alone are nothing", `" "`, `""`, `""`},
		{"text", "each text of a list", `["k"]`, `["k\n"]`, `["k"]`},
		{"text", "a number is no text", `1`, `1`, `1`},
		{"lines", "one element a line", `["a b","c"]`, `"\n a b\nc \n\n"`, `"a b\nc"`},
		{"list", "a text in Proxmox's separators", `["a","b"]`, `"a, b"`, `["a","b"]`},
		{"list", "a list is one", `["a"]`, `["a"]`, `["a"]`},
		{"join( )", "order counts", `["b","a"]`, `"b,a"`, `"b a"`},
		{"sorted(;)", "order does not count", `["b","a"]`, `"b;a"`, `"a;b"`},
		{"sorted(;)", "numbers by what they are", `[100,30]`, `"100; 30"`, `"30;100"`},
		{"sorted(;)", "no elements", `[]`, `""`, `""`},
		{"word(1)", "one word of a line", `"lxc.idmap: u 0 100000 65536"`, `"u"`, `"u"`},
		{"word(2)", "a number", `"lxc.idmap: u 5 100000 65536"`, `5`, `5`},
		{"property(order)", "one part of a property string", `["scsi0","net0"]`, `"legacy=,order=scsi0;net0"`, `"scsi0;net0"`},
		{"property(order)", "without its name", `["scsi0"]`, `"scsi0"`, `"scsi0"`},
		{"property(order)", "not there", `""`, `"legacy=cdn"`, `""`},
		{"properties", "in any order", `{"ip":"dhcp","gw":"192.0.2.1"}`, `"ip=dhcp, gw=192.0.2.1"`, `"gw=192.0.2.1,ip=dhcp"`},
		{"properties(type)", "the part that needs no name comes first", `{"enable-s3":false,"type":"q35"}`, `"enable-s3=0,type=q35"`, `"q35,enable-s3=0"`},
		{"properties(type)", "without its name", `{"type":"q35","viommu":"intel"}`, `"viommu=intel,q35"`, `"q35,viommu=intel"`},
		{"properties", "lists and booleans inside", `{"full":true,"vanished":["a","b"]}`, `"vanished=a;b,full=1"`, `"full=1,vanished=a;b"`},
		{"properties", "nothing", `{}`, `""`, `""`},
	} {
		t.Run(tc.as+" "+tc.reason, func(t *testing.T) {
			t.Parallel()
			c, err := parseConversion(tc.as)
			if err != nil {
				t.Fatal(err)
			}
			for side, convert := range map[string]func(model.Value) model.Value{tc.live: c.view, tc.declared: c.declared} {
				got := tree(t, side)
				if convert != nil {
					got = convert(got)
				}
				// The same text on both sides is one entry: either function may convert it.
				if want := tree(t, tc.want); !got.Equal(want) {
					t.Errorf("%s became %s, want %s", side, got.AppendJSON(nil), tc.want)
				}
				if c.declared != nil && !c.declared(got).Equal(got) {
					t.Errorf("the form of %s changes when it is read again", side)
				}
			}
		})
	}
}

func TestConversionsKeepSecrets(t *testing.T) {
	t.Parallel()
	secret := model.NewSealer([]byte("k")).Seal("x")
	for name, make := range conversions() {
		c := make("1")
		for _, v := range []model.Value{secret, model.ListOf(secret), model.MapOf(model.Field{Name: "a", Value: secret})} {
			for side, convert := range map[string]func(model.Value) model.Value{"view": c.view, "declared": c.declared} {
				if convert == nil || name == "present" || name == "word()" {
					continue
				}
				if got := convert(v); !got.Equal(v) {
					t.Errorf("%s, %s: a secret became %s", name, side, got.AppendJSON(nil))
				}
			}
		}
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	attributes := `{"vm":410,"zero":0,"name":"a","none":null,"blank":"","id":"n1/qemu/410","clone":[{"vm":9}],"empty":[],"map":{"x":"y"}}`
	for _, tc := range []struct{ reason, template, element, want, lacks string }{
		{reason: "text alone", template: "cluster", want: "cluster"},
		{reason: "a number", template: "qemu/{vm}/{name}", want: "qemu/410/a"},
		{reason: "the first alternative that holds something", template: "{none|blank|name}", want: "a"},
		{reason: "a text if none does", template: "{none|'0'}", want: "0"},
		{reason: "below a map", template: "{map.x}", want: "y"},
		{reason: "through a block", template: "{clone.vm}", want: "9"},
		{reason: "in the element at hand", template: "{.path}?{name}", element: `{"path":"/"}`, want: "/?a"},
		{reason: "a part of an id", template: "{id:2}", want: "410"},
		{reason: "the last part of an id", template: "{id:-1}", want: "410"},
		{reason: "a part that is not there", template: "{id:7}", lacks: "id"},
		{reason: "a part before the first", template: "{id:-4}", lacks: "id"},
		{reason: "null", template: "x{none}", lacks: "none"},
		{reason: "zero is no id", template: "{zero}", lacks: "zero"},
		{reason: "an empty block", template: "{empty.vm}", lacks: "empty.vm"},
		{reason: "no scalar", template: "{map}", lacks: "map"},
		{reason: "nothing of that name", template: "{other}", lacks: "other"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			template, err := parseTemplate(tc.template)
			if err != nil {
				t.Fatal(err)
			}
			var element model.Value
			if tc.element != "" {
				element = tree(t, tc.element)
			}
			got, err := template.expand(tree(t, attributes), element)
			if got != tc.want || (err == nil) != (tc.lacks == "") {
				t.Fatalf("got %q, %v", got, err)
			}
			if err != nil && err.Error() != "attribute "+tc.lacks+" is not set" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTemplatesKeepSecrets(t *testing.T) {
	t.Parallel()
	template, err := parseTemplate("{id}")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := template.expand(model.MapOf(model.Field{Name: "id", Value: model.NewSealer([]byte("k")).Seal("x")}), model.Value{}); err == nil {
		t.Errorf("a secret became the id %q", got)
	}
}
