package diff

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestDisagreement lists the paths at which two claims declare different values.
func TestDisagreement(t *testing.T) {
	t.Parallel()
	schema := testSchema()
	schema.Fields["secret"] = &model.Schema{Masked: true}
	schema.Fields["steps"] = &model.Schema{List: model.Sequence, Each: &model.Schema{}}
	for _, tc := range []struct {
		reason string
		a, b   string
		want   string
	}{
		{"nothing", `{}`, `{}`, ""},
		{"the same", `{"port":1}`, `{"port":1}`, ""},
		{"the same in another spelling", `{"cpu":"1"}`, `{"cpu":"1000m"}`, ""},
		{"another value", `{"port":1}`, `{"port":2}`, "port"},
		{"only one declares it", `{"port":1}`, `{"cpu":1}`, ""},
		{"only one declares the map", `{"probe":{"path":"/"}}`, `{}`, ""},
		{"one declares nothing", `{"port":1}`, `{"port":null}`, ""},
		{"a default and nothing", `{"mode":"auto"}`, `{}`, ""},
		{"a default and another value", `{"mode":"auto"}`, `{"mode":"manual"}`, "mode"},
		{"a volatile field", `{"noise":1}`, `{"noise":2}`, ""},
		{"a field that the system never shows", `{"secret":"a"}`, `{"secret":"b"}`, ""},
		{"fields of maps", `{"probe":{"path":"/a","every":1}}`, `{"probe":{"path":"/b","every":1}}`, "probe.path"},
		{"two fields of maps", `{"probe":{"path":"/a","every":1}}`, `{"probe":{"path":"/b","every":2}}`, "probe.every probe.path"},
		{"a map and a text", `{"probe":{"path":"/a"}}`, `{"probe":"x"}`, "probe"},
		{"a text and a map", `{"probe":"x"}`, `{"probe":{"path":"/a"}}`, "probe"},
		{"labels of each", `{"labels":{"a":"1"}}`, `{"labels":{"b":"1"}}`, ""},
		{"an ordered list", `{"args":["a"]}`, `{"args":["b"]}`, "args"},
		{"an ordered list of another length", `{"args":["a"]}`, `{"args":["a","b"]}`, "args"},
		{"elements of each", `{"env":[{"name":"A"}]}`, `{"env":[{"name":"B"}]}`, ""},
		{"a field of an element of both", `{"env":[{"name":"A","value":"1"}]}`, `{"env":[{"name":"B"},{"name":"A","value":"2"}]}`, "env[name=A].value"},
		{"elements that cannot be named", `{"env":[{"name":"A","value":"1"},{"name":"A"}]}`, `{"env":[{"name":"A","value":"2"}]}`, "env"},
		{"a list and a text", `{"env":[{"name":"A"}]}`, `{"env":"x"}`, "env"},
		{"a text and a list", `{"env":"x"}`, `{"env":[{"name":"A"}]}`, "env"},
		{"a set and a map", `{"groups":["a"]}`, `{"groups":{"a":1}}`, "groups"},
		{"groups of each", `{"groups":["a"]}`, `{"groups":["b"]}`, ""},
		{"an element of a sequence", `{"steps":["a","b"]}`, `{"steps":["a","c"]}`, "steps[1]"},
		{"a field of an element of a sequence", `{"steps":[{"x":1,"y":1}]}`, `{"steps":[{"x":1,"y":2}]}`, "steps[0].y"},
		{"sequences of other lengths", `{"steps":["a","b"]}`, `{"steps":["a"]}`, "steps"},
		{"a sequence and a text", `{"steps":["a"]}`, `{"steps":"a"}`, "steps"},
	} {
		for _, pair := range [][2]string{{tc.a, tc.b}, {tc.b, tc.a}} {
			d := conflictFinder{paths: map[fieldRef]path{}}
			d.node(schema, value(t, pair[0]), value(t, pair[1]))
			var got []string
			for about, p := range d.paths {
				if p.String() != about.path {
					t.Errorf("%s: path %s is kept as %s", tc.reason, about.path, p)
				}
				got = append(got, about.path)
			}
			slices.Sort(got)
			if line := strings.Join(got, " "); line != tc.want {
				t.Errorf("%s: %s and %s disagree on %q, want %q", tc.reason, pair[0], pair[1], line, tc.want)
			}
		}
	}
}

// TestDisputedValues reports the value of every claim and the live one, and the claim that
// differs from all others.
func TestDisputedValues(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		live   string
		claims []string
		want   string
		says   string
	}{
		{"the first stands alone", `{"port":2}`, []string{`{"port":1}`, `{"port":2}`}, "port 1 2: a=1 b=2", "a differs, b and k8s agree"},
		{"the second stands alone", `{"port":1}`, []string{`{"port":1}`, `{"port":2}`}, "port 1 1: a=1 b=2", "b differs, a and k8s agree"},
		{"no two agree", `{"port":3}`, []string{`{"port":1}`, `{"port":2}`}, "port 1 3: a=1 b=2", "a, b and k8s all differ"},
		{"live lacks it", `{}`, []string{`{"port":1}`, `{"port":2}`}, "port 1 -: a=1 b=2", "a, b and k8s all differ"},
		{"three claims, two agree with live", `{"port":2}`, []string{`{"port":2}`, `{"port":1}`, `{"port":2}`}, "port 2 2: a=2 b=1 c=2", "b differs, a and c and k8s agree"},
		{"three claims, three values", `{"port":9}`, []string{`{"port":1}`, `{"port":2}`, `{"port":3}`}, "port 1 9: a=1 b=2 c=3", ""},
		{"a claim that does not declare it is not shown", `{"port":2}`, []string{`{"cpu":1}`, `{"port":1}`, `{"port":2}`}, "port 1 2: b=1 c=2", "b differs, c and k8s agree"},
		{"two fields", `{"port":2,"cpu":1}`, []string{`{"port":1,"cpu":1}`, `{"port":2,"cpu":2}`}, "cpu 1 1: a=1 b=2; port 1 2: a=1 b=2",
			"cpu: b differs, a and k8s agree; port: a differs, b and k8s agree"},
	} {
		s := subject(model.Value{}, &model.Resource{Value: value(t, tc.live)})
		s.Source, s.Claims = "k8s", nil
		for i, text := range tc.claims {
			s.Claims = append(s.Claims, &model.Claim{Declaration: string(rune('a' + i)), Value: value(t, text)})
		}
		outcomes := slices.DeleteFunc(Compare(s, Options{}), func(o model.Outcome) bool { return o.Verdict != model.Disputed })
		if len(outcomes) != 1 {
			t.Errorf("%s: %+v, want one dispute", tc.reason, outcomes)
			continue
		}
		var got []string
		for _, c := range outcomes[0].Changes {
			line := c.Path + " " + texts(deref(c.Declared), deref(c.Live)) + ":"
			for _, claimed := range c.Claims {
				line += " " + claimed.Declaration + "=" + texts(claimed.Value)
			}
			got = append(got, line)
		}
		if line := strings.Join(got, "; "); line != tc.want || outcomes[0].Reason != tc.says {
			t.Errorf("%s: %s (%s), want %s (%s)", tc.reason, line, outcomes[0].Reason, tc.want, tc.says)
		}
	}
}

// TestSecretDisputes checks that a disputed field is secret if the live value or that of any
// claim is.
func TestSecretDisputes(t *testing.T) {
	t.Parallel()
	text, a, b := model.StringOf("x"), model.DigestOf("aa"), model.DigestOf("bb")
	for _, tc := range []struct {
		reason              string
		live, first, second model.Value
		want                bool
	}{
		{"none", text, model.StringOf("y"), model.StringOf("z"), false},
		{"live", a, model.StringOf("y"), model.StringOf("z"), true},
		{"the first claim", text, a, model.StringOf("z"), true},
		{"the second claim", text, model.StringOf("z"), b, true},
		{"all", a, a, b, true},
	} {
		field := func(v model.Value) model.Value { return model.MapOf(model.Field{Name: "key", Value: v}) }
		s := subject(field(tc.first), &model.Resource{Value: field(tc.live)})
		s.Claims = append(s.Claims, &model.Claim{Declaration: "e", Value: field(tc.second)})
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 || outcomes[0].Verdict != model.Disputed || outcomes[0].Changes[0].Secret != tc.want {
			t.Errorf("%s: %+v, want one dispute with secret %v", tc.reason, outcomes, tc.want)
		}
	}
}

// TestLastWriterOf names the last writer of a disputed live field. The declaration's writer
// wrote the fields that it owns, and those that are as in its record.
func TestLastWriterOf(t *testing.T) {
	t.Parallel()
	apply := func(at float64, paths ...string) model.Owner {
		return model.Owner{Name: "apply", Applies: true, At: hour(at), Fields: set(paths...)}
	}
	hand := model.Owner{Name: "hand", At: hour(2), Fields: set("port")}
	nobody := "unknown: managedFields keeps no trace of who removed a field"
	for _, tc := range []struct {
		reason  string
		owners  []model.Owner
		applied string
		live    string
		want    string
	}{
		{"nobody, without a record of owners", nil, ``, `{"port":1}`, "unknown: the live object carries no record of its writers"},
		{"nobody, without a record of owners, as it was applied", nil, `{"port":1}`, `{"port":1}`, "unknown: the live object carries no record of its writers"},
		{"who wrote it by hand", []model.Owner{apply(1, "cpu"), hand}, ``, `{"port":1}`, "hand"},
		{"who wrote it by hand, though the declarer applied it later", []model.Owner{apply(3, "cpu", "port"), hand}, ``, `{"cpu":1,"port":1}`, "hand"},
		{"the declarer, who alone owns it", []model.Owner{apply(1, "cpu", "port")}, ``, `{"cpu":1,"port":1}`, "apply"},
		{"nobody owns it, and it is as it was applied", []model.Owner{apply(1, "cpu")}, `{"port":1}`, `{"cpu":1,"port":1}`, "apply"},
		{"nobody owns it, and it is not as it was applied", []model.Owner{apply(1, "cpu")}, `{"port":2}`, `{"cpu":1,"port":1}`, nobody},
		{"nobody owns it, and it was not applied", []model.Owner{apply(1, "cpu")}, `{"cpu":1}`, `{"cpu":1,"port":1}`, nobody},
		{"nobody owns it, and nothing is recorded", []model.Owner{apply(1, "cpu")}, ``, `{"cpu":1,"port":1}`, nobody},
		{"it is gone, and was applied", []model.Owner{apply(1, "cpu")}, `{"port":1}`, `{"cpu":1}`, nobody},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, tc.live), Created: created, OwnersFrom: "managedFields", Owners: tc.owners})
		if tc.applied != "" {
			s.Live.LastApplied = pointer(value(t, tc.applied))
		}
		if got := who(lastWriterOf(s, s.Claims[0], path{fieldSegment("port")}, Options{})); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestAsRecorded compares a live field with the resource's own record of applied values, which
// has the form of the live kind.
func TestAsRecorded(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason        string
		applied, live string
		lens, want    bool
	}{
		{"no record", ``, `{"port":1}`, false, false},
		{"as it was applied", `{"port":1}`, `{"port":1}`, false, true},
		{"as it was applied, in another spelling", `{"port":"1"}`, `{"port":1}`, false, true},
		{"another value", `{"port":2}`, `{"port":1}`, false, false},
		{"not applied", `{}`, `{"port":1}`, false, false},
		{"not applied, and empty", `{}`, `{"port":0}`, false, false},
		{"applied, and gone", `{"port":1}`, `{}`, false, false},
		{"applied as empty, and gone", `{"port":0}`, `{}`, false, false},
		{"neither applied nor live", `{}`, `{}`, false, false},
		{"a claim in other words", `{"port":1}`, `{"port":1}`, true, false},
		{"a claim in other words without a record", ``, `{"port":1}`, true, false},
	} {
		s := subject(value(t, `{"port":9}`), &model.Resource{Value: value(t, tc.live)})
		if tc.applied != "" {
			s.Live.LastApplied = pointer(value(t, tc.applied))
		}
		if tc.lens {
			s.Claims[0].Lens = newRenamedLens(map[string]string{"port": "port"}, "")
		}
		if got := walkAt(s, "port").asRecorded(); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestLastToAct names, for a field that is as no claim declares it, the last actor known to
// have declared or written it.
func TestLastToAct(t *testing.T) {
	t.Parallel()
	known := func(name string, at float64) model.Actor {
		return model.Actor{Name: name, At: hour(at), Confidence: model.Likely}
	}
	unknown := model.UnknownActor("not told")
	owners := []model.Owner{{Name: "apply"}}
	for _, tc := range []struct {
		reason         string
		declared, hand model.Actor
		owners         []model.Owner
		want           string
	}{
		{"the later declares", known("ann", 2), known("bob", 1), owners, "ann"},
		{"the later writes", known("ann", 1), known("bob", 2), owners, "bob"},
		{"only the author is known", known("ann", 1), unknown, owners, "ann"},
		{"only the writer is known", unknown, known("bob", 1), owners, "bob"},
		{"none is known, and a record exists", unknown, unknown, owners,
			"unknown: live is as none of the declarations has it, and managedFields does not tell who made it so"},
		{"none is known, and there is no record", model.UnknownActor("no author"), unknown, nil, "unknown: not told"},
	} {
		s := &model.Subject{Live: &model.Resource{OwnersFrom: "managedFields", Owners: tc.owners}}
		if got := who(lastToAct(s, tc.declared, tc.hand)); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestSchemaAt returns the schema at the steps of a path.
func TestSchemaAt(t *testing.T) {
	t.Parallel()
	schema, element := testSchema(), value(t, `{"name":"A"}`)
	env := schema.Fields["env"]
	for at, tc := range map[string]struct {
		path path
		want *model.Schema
	}{
		"the root":             {path{}, schema},
		"a field":              {path{fieldSegment("cpu")}, schema.Fields["cpu"]},
		"an unknown field":     {path{fieldSegment("other")}, nil},
		"below an unknown one": {path{fieldSegment("other"), fieldSegment("x"), indexSegment(0, 0)}, nil},
		"an element by name":   {path{fieldSegment("env"), elementSegment(env, &element)}, env.Each},
		"a field of it":        {path{fieldSegment("env"), elementSegment(env, &element), fieldSegment("value")}, env.Each.Fields["value"]},
		"a position":           {path{fieldSegment("args"), indexSegment(3, 3)}, schema.Fields["args"].Each},
		"a free name":          {path{fieldSegment("labels"), fieldSegment("a")}, schema.Fields["labels"].Each},
	} {
		if got := schemaAt(schema, tc.path); got != tc.want {
			t.Errorf("%s: %s", at, cmp.Diff(tc.want != nil, got != nil))
		}
	}
}
