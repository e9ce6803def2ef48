package diff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestForgedRecord checks that a forged record of owners, which anyone who can write the
// resource can write, changes the reported actor and hides no change.
func TestForgedRecord(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: hour(1), Fields: set("cpu")}
	as := func(change func(*model.Owner)) model.Owner {
		o := model.Owner{Name: "hand", At: hour(2), Fields: set("port")}
		change(&o)
		return o
	}
	for _, tc := range []struct {
		reason string
		owners []model.Owner
		want   string
	}{
		{
			reason: "an honest entry",
			owners: []model.Owner{apply, as(func(*model.Owner) {})},
			want:   "undeclared port hand",
		},
		{
			reason: "without an entry",
			owners: []model.Owner{apply},
			want:   "undeclared port",
		},
		{
			reason: "without any entry",
			owners: nil,
			want:   "undeclared port",
		},
		{
			reason: "without a time",
			owners: []model.Owner{apply, as(func(o *model.Owner) { o.At = time.Time{} })},
			want:   "undeclared port hand",
		},
		{
			reason: "with a time before the apply",
			owners: []model.Owner{apply, as(func(o *model.Owner) { o.At = hour(-9) })},
			want:   "undeclared port hand",
		},
		{
			reason: "with a time in the future",
			owners: []model.Owner{apply, as(func(o *model.Owner) { o.At = hour(1e5) })},
			want:   "undeclared port hand",
		},
		{
			reason: "with the time of the creation",
			owners: []model.Owner{apply, as(func(o *model.Owner) { o.At = created })},
			want:   "undeclared port hand",
		},
		{
			reason: "without a name",
			owners: []model.Owner{apply, as(func(o *model.Owner) { o.Name = "" })},
			want:   "undeclared port",
		},
		{
			reason: "under the name of the declaration's writer, as an update",
			owners: []model.Owner{apply, as(func(o *model.Owner) { o.Name = "apply" })},
			want:   "undeclared port apply",
		},
		{
			reason: "twice",
			owners: []model.Owner{apply, as(func(*model.Owner) {}), as(func(*model.Owner) {})},
			want:   "undeclared port hand",
		},
		{
			reason: "through a subresource",
			owners: []model.Owner{apply, as(func(o *model.Owner) { o.Through = "scale" })},
			want:   "undeclared port hand",
		},
		{
			reason: "as the one who inherits from all before",
			owners: []model.Owner{apply, as(func(o *model.Owner) { o.Inherits = true })},
			want:   "undeclared port hand",
		},
		{
			reason: "as an apply of the declaration: it may be one, and waits for proof",
			owners: []model.Owner{{Name: "apply", Applies: true, At: hour(1), Fields: set("cpu", "port")}},
			want:   "pending? port apply",
		},
		{
			reason: "as another apply",
			owners: []model.Owner{apply, as(func(o *model.Owner) { o.Applies = true })},
			want:   "undeclared port hand",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1,"port":2}`), Created: created, Generation: 3,
				OwnersFrom: "managedFields", Owners: tc.owners})
			outcomes := Compare(s, Options{})
			got := show(outcomes)
			if len(outcomes) == 1 && outcomes[0].Changes[0].Unproven {
				got = strings.Replace(got, " ", "? ", 1)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestStrangeNames compares fields and elements of empty, repeated and unprintable names.
func TestStrangeNames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, declared, live string
		want                   string
	}{
		{
			"a label without a name",
			`{"labels":{"":"1"}}`, `{"labels":{"":"2"}}`,
			`changed labels[""]`,
		},
		{
			"a label that looks like a path",
			`{"labels":{"a.b[0]":"1"}}`, `{"labels":{"a.b[0]":"2"}}`,
			`changed labels["a.b[0]"]`,
		},
		{
			"a label with a line break",
			`{"labels":{"a\nb":"1"}}`, `{"labels":{"a\nb":"2"}}`,
			`changed labels["a\nb"]`,
		},
		{
			"elements without a name that resemble each other in nothing",
			`{"env":[{"value":"1","from":"a"}]}`, `{"env":[{"value":"2","from":"b"}]}`,
			"changed env[0]\nchanged env[1]",
		},
		{
			"elements with an empty name",
			`{"env":[{"name":"","value":"1"}]}`, `{"env":[{"name":"","value":"2"}]}`,
			`changed env[name=].value`,
		},
		{
			"a name twice in live",
			`{"env":[{"name":"A","value":"1"}]}`, `{"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}`,
			`changed env`,
		},
		{
			"a name twice in both, in one order",
			`{"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}`, `{"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}`,
			``,
		},
		{
			"a name that is a map",
			`{"env":[{"name":{"x":1},"value":"1"}]}`, `{"env":[{"name":{"x":1},"value":"2"}]}`,
			`changed env[name=].value`,
		},
		{
			"a text in the place of elements",
			`{"env":[{"name":"A"}]}`, `{"env":"A"}`,
			`changed env`,
		},
		{
			"elements in the place of a map",
			`{"labels":{"a":"1"}}`, `{"labels":[{"a":"1"}]}`,
			`changed labels`,
		},
	} {
		s := subject(value(t, tc.declared), &model.Resource{Value: value(t, tc.live)})
		if d := cmp.Diff(tc.want, show(Compare(s, Options{}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestHugeLists checks that long lists of named elements are compared in linear time, and that
// long lists without names are one change.
func TestHugeLists(t *testing.T) {
	t.Parallel()
	const many = 1000
	list := func(name string, element func(int) string, from, to int) model.Value {
		var items []string
		for i := from; i < to; i++ {
			items = append(items, element(i))
		}
		return literal(`{"` + name + `":[` + strings.Join(items, ",") + `]}`)
	}
	named := func(i int) string { return fmt.Sprintf(`{"name":"n%d","value":"%d"}`, i, i) }
	text := func(i int) string { return fmt.Sprintf(`"%d"`, i) }
	for _, tc := range []struct {
		reason         string
		declared, live model.Value
		changes        int
	}{
		{"equal elements with names", list("env", named, 0, many), list("env", named, 0, many), 0},
		{"one element with a name went", list("env", named, 0, many), list("env", named, 1, many), 1},
		{"one element with a name came", list("env", named, 1, many), list("env", named, 0, many), 1},
		{"equal elements of a set", list("groups", text, 0, many), list("groups", text, 0, many), 0},
		{"all elements of a set are others", list("groups", text, 0, many), list("groups", text, many, 2*many), 2 * many},
		{"equal texts in order", list("args", text, 0, many), list("args", text, 0, many), 0},
		{"one text fewer", list("args", text, 0, many), list("args", text, 1, many), 1},
	} {
		changes := 0
		for _, o := range Compare(subject(tc.declared, &model.Resource{Value: tc.live}), Options{}) {
			changes += len(o.Changes)
		}
		if changes != tc.changes {
			t.Errorf("%s: %d changes, want %d", tc.reason, changes, tc.changes)
		}
	}
}

// TestSecretsOnEitherSide checks that a secret is compared by its digest, is not reported as
// text, and is equal to no text.
func TestSecretsOnEitherSide(t *testing.T) {
	t.Parallel()
	one, two, text := model.DigestOf("feedface"), model.DigestOf("deadbeef"), model.StringOf("feedface")
	for _, tc := range []struct {
		reason                   string
		declared, recorded, live model.Value
		want                     string
	}{
		{"equal digests", one, model.Value{}, one, ""},
		{"other digests", one, model.Value{}, two, "changed port secret"},
		{"a digest and the text that spells it", one, model.Value{}, text, "changed port secret"},
		{"a text and the digest that it spells", text, model.Value{}, one, "changed port secret"},
		{"declared, and gone", one, model.Value{}, model.Value{}, "changed port secret"},
		{"undeclared", model.Value{}, model.Value{}, one, "undeclared port secret"},
		{"only the record is secret", text, one, text, "codified port secret"},
		{"recorded as live, declared anew", two, one, one, "pending port secret"},
		{"no secret", text, model.Value{}, model.StringOf("x"), "changed port"},
	} {
		of := func(v model.Value) model.Value {
			if v.IsNull() {
				return model.MapOf()
			}
			return model.MapOf(model.Field{Name: "port", Value: v})
		}
		s := subject(of(tc.declared), &model.Resource{Value: of(tc.live)})
		if !tc.recorded.IsNull() {
			s.Claims[0].Recorded = pointer(of(tc.recorded))
		}
		var got []string
		for _, o := range Compare(s, Options{}) {
			for _, c := range o.Changes {
				line := string(o.Verdict) + " " + c.Path
				if c.Secret {
					line += " secret"
				}
				got = append(got, line)
			}
		}
		if d := cmp.Diff(tc.want, strings.Join(got, "\n")); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestForgedHistory checks that a commit date, which its author chooses, proves nothing if it
// is missing or in the future, and that earlier scans take precedence over it.
func TestForgedHistory(t *testing.T) {
	t.Parallel()
	head := model.Version{Value: pointer(value(t, `{"port":2}`)), From: model.Commit{Hash: "c2"}}
	old := func(until, seen float64) []model.Version {
		v := model.Version{Value: pointer(value(t, `{"port":1}`)), From: model.Commit{Hash: "c1"}, Until: model.Commit{Hash: "c2"}}
		if until != 0 {
			v.Until.When = hour(until)
		}
		if seen != 0 {
			v.Until.Seen = hour(seen)
		}
		return []model.Version{head, v}
	}
	for _, tc := range []struct {
		reason   string
		versions []model.Version
		live     []model.Observation
		want     string
	}{
		{
			reason:   "superseded before it was applied",
			versions: old(2, 0),
			want:     "bypassed: an older version (c1) was applied after c2",
		},
		{
			reason:   "superseded after it was applied",
			versions: old(15, 0),
			want:     "pending: ",
		},
		{
			reason:   "a date in the future",
			versions: old(500, 0),
			want:     "pending?: pending or bypassed: commit c2 has a date in the future",
		},
		{
			reason:   "no date",
			versions: old(0, 0),
			want:     "pending?: pending or bypassed: commit c2 has no date",
		},
		{
			reason:   "a date in the future, but driftd read the next version before it was applied",
			versions: old(500, 2),
			want:     "bypassed: an older version (c1) was applied after c2",
		},
		{
			reason:   "a date long ago, but driftd read the next version only after it was applied",
			versions: old(-900, 15),
			want:     "pending: ",
		},
		{
			reason:   "a forged time of the writer, but a scan read another value since",
			versions: old(2, 0),
			live:     observations(t, `18 {"port":1}`, `17 {"port":7}`),
			want:     "bypassed: an older version (c1) was applied after c2",
		},
	} {
		s := subject(value(t, `{"port":2}`), &model.Resource{Value: value(t, `{"port":1}`), Created: created,
			Owners: []model.Owner{{Name: "apply", Applies: true, At: hour(10), Fields: set("port")}}})
		s.Claims[0].Evidence = &model.Evidence{Past: model.Past{Versions: tc.versions}, Now: hour(20), DeployWindow: time.Hour, Live: tc.live}
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 || len(outcomes[0].Changes) != 1 {
			t.Errorf("%s: %+v, want one change", tc.reason, outcomes)
			continue
		}
		got := string(outcomes[0].Verdict)
		if outcomes[0].Changes[0].Unproven {
			got += "?"
		}
		if got += ": " + outcomes[0].Reason; got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}
