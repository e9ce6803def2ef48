package table_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

func parse(t *testing.T, text string) model.Value {
	t.Helper()
	var v model.Value
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return v
}

func context() *table.Context {
	return &table.Context{Sealer: model.NewSealer([]byte("test")), Plain: table.AsSent, Texts: table.Texts{}}
}

func TestForms(t *testing.T) {
	t.Parallel()
	upper := table.Text(func(text string) string { return text + "!" })
	for _, tc := range []struct {
		reason    string
		form      table.Form
		raw, want string
	}{
		{"as sent", table.Plain(), `"a"`, `{"f":"a"}`},
		{"false is a value", table.Plain(), `false`, `{"f":false}`},
		{"0 is a value", table.Plain(), `0`, `{"f":0}`},
		{"an empty text is absent", table.Plain(), `""`, `{}`},
		{"an empty list is absent", table.Plain(), `[]`, `{}`},
		{"null is absent", table.Plain(), `null`, `{}`},
		{"never kept", table.Absent(), `"a"`, `{}`},
		{"text", table.Boolean(), `" On "`, `{"f":true}`},
		{"number", table.Boolean(), `0`, `{"f":false}`},
		{"not a boolean", table.Boolean(), `"maybe"`, `{"f":"maybe"}`},
		{"a list is not a boolean", table.Boolean(), `["true"]`, `{"f":["true"]}`},
		{"text", table.Number(), `"8080"`, `{"f":8080}`},
		{"not a number", table.Number(), `"many"`, `{"f":"many"}`},
		{"rewritten", upper, `"a"`, `{"f":"a!"}`},
		{"a map is not rewritten", upper, `{"a":1}`, `{"f":{"a":1}}`},
		{"an empty secret is absent", table.Secret(), `""`, `{}`},
		{"a block", table.Block(table.Number().Of("a")), `{"a":"1","b":2}`, `{"f":{"a":1}}`},
		{"an empty block is absent", table.Block(table.Number().Of("a")), `{"b":2}`, `{}`},
		{"not a block", table.Block(table.Number().Of("a")), `"x"`, `{"f":"x"}`},
		{"sorted, without duplicates", table.Set(table.Number()), `["10",9,null,"9","x"]`, `{"f":[9,10,"x"]}`},
		{"not a list", table.Set(table.Number()), `"x"`, `{"f":"x"}`},
		{"sorted, with duplicates", table.Bag(table.Plain()), `["b","a","b"]`, `{"f":["a","b","b"]}`},
		{"sorted by key", table.Keyed(table.Plain(), "k"), `[{"k":"10","a":1},{"k":"9"},{"k":"10","a":0}]`, `{"f":[{"k":"9"},{"a":0,"k":"10"},{"a":1,"k":"10"}]}`},
		{"in order", table.Sequence(table.Plain()), `["b","a"]`, `{"f":["b","a"]}`},
		{"in order", table.Ordered(table.Number()), `["2","1"]`, `{"f":[2,1]}`},
		{"entries with empty values", table.Entries(table.Plain()), `{"a":"","b":null,"c":"x"}`, `{"f":{"a":"","c":"x"}}`},
		{"no entries", table.Entries(table.Plain()), `{"b":null}`, `{}`},
	} {
		v := model.MapOf(tc.form.Of("f").Read(context(), parse(t, `{"f":`+tc.raw+`}`), nil)...)
		if got := string(v.AppendJSON(nil)); got != tc.want {
			t.Errorf("%s: %s is %s, want %s", tc.reason, tc.raw, got, tc.want)
		}
		again := model.MapOf(tc.form.Of("f").Read(context(), v, nil)...)
		if !again.Equal(v) && tc.reason != "rewritten" {
			t.Errorf("%s: reading %s again gives %s", tc.reason, v.AppendJSON(nil), again.AppendJSON(nil))
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	secrets := table.Join(table.Secret().Of("a"), table.Set(table.Secret()).Of("b"), table.Entries(table.Secret()).Of("c"))
	for _, f := range secrets.Read(context(), parse(t, `{"a":"x","b":["x"],"c":{"k":"x"}}`), nil) {
		if !f.Value.HasSecret() || !secrets.Field(f.Name).Form.Secret {
			t.Errorf("%s is not sealed: %s", f.Name, f.Value.AppendJSON(nil))
		}
	}
	for text, want := range map[string]bool{"http://u:p@h/": true, "http://u@h/": false, "http://h/": false, "http://u:p@h/%zz": true, "%zz": false, "text": false} {
		if table.HasPassword(text) != want {
			t.Errorf("HasPassword(%q) = %t", text, !want)
		}
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	fields := table.Join(table.Plain().Of("b>renamed a"), table.Number().Low().Of("a"), table.Plain().UpTo(2).High("reason").Of("net#"))
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	if diff := cmp.Diff([]string{"a", "net#", "renamed"}, names); diff != "" {
		t.Errorf("the last of two fields wins, sorted (-want +got):\n%s", diff)
	}
	if fields.Field("net7") == nil || fields.Field("net") != nil || fields.Field("b") != nil || fields.Has("net7") || !fields.Has("renamed") {
		t.Error("a field is found by its name, a numbered one by its prefix")
	}
	schema := fields.Schema()
	if len(schema.Fields) != 4 || schema.Fields["net0"] != schema.Fields["net1"] {
		t.Errorf("numbered fields share a schema: %v", schema.Fields)
	}
	v := model.MapOf(fields.Read(context(), parse(t, `{"a":"1","b":"x","c":"y"}`), nil)...)
	if got := string(v.AppendJSON(nil)); got != `{"a":1,"renamed":"x"}` {
		t.Errorf("Read() = %s", got)
	}
	want := []model.SeverityRule{
		{Verdicts: table.Edited(), Path: "a", Severity: model.Low, Reason: "a label"},
		{Verdicts: table.Edited(), Path: "net0", Severity: model.High, Reason: "reason"},
		{Verdicts: table.Edited(), Path: "net1", Severity: model.High, Reason: "reason"},
	}
	if diff := cmp.Diff(want, fields.Rules(table.Edited())); diff != "" {
		t.Errorf("Rules() (-want +got):\n%s", diff)
	}
}

func TestModifiersCopy(t *testing.T) {
	t.Parallel()
	plain := table.Plain()
	changed := plain.Or(model.IntOf(1)).Derived().Generated().Volatile().Content().As(model.Address).UpTo(2).To("cloud/net").Medium("x")
	if plain.Schema.Default != nil || plain.Schema.Refers.Kind != "" || plain.Schema.Derived || plain.Severity != "" || plain.Count != 0 {
		t.Error("a modifier changes the form that it is called on")
	}
	s := changed.Schema
	if s.Default == nil || !s.Derived || !s.Generated || !s.Volatile || !s.Content || s.Format != model.Address || changed.Severity != model.Medium || s.Refers.Kind != "cloud/net" {
		t.Errorf("a modifier has no effect: %+v", changed)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	where := table.Is("a", "x")
	want := []model.SeverityRule{
		{Verdicts: table.Edited(), Path: "a", Where: []model.Condition{where}, Severity: model.High, Reason: "r"},
		{Verdicts: table.Edited(), Path: "b", Where: []model.Condition{where}, Severity: model.High, Reason: "r"},
	}
	if diff := cmp.Diff(want, table.Rate(model.High, "r", "a b", table.Edited(), where)); diff != "" {
		t.Errorf("Rate() with two fields (-want +got):\n%s", diff)
	}
	if rules := table.Rate(model.High, "r", "", table.Unmanaged()); len(rules) != 1 || rules[0].Path != "" {
		t.Errorf("Rate() without fields = %v", rules)
	}
	if all := table.Exposed(model.ExposesReach, "a b"); len(all) != 2 || all[1].Path != "b" {
		t.Errorf("Exposed() = %v", all)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	var none table.Texts
	if none.Keep("a") != "a" {
		t.Error("Keep() of nil Texts does not return the text")
	}
	some := table.Texts{}
	for range 1 << 15 {
		some.Keep(string(rune('a'+len(some)%26)) + string(rune(len(some)+0x4e00)))
	}
	if len(some) > 1<<14 {
		t.Errorf("%d texts are kept, want at most %d", len(some), 1<<14)
	}
}
