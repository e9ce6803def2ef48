package diff

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// contentKind is a kind with a field of each sort that content treats in its own way.
func contentKind() *model.Kind {
	one := model.StringOf("1")
	text := func(f model.Format) *model.Schema { return &model.Schema{Format: f} }
	container := &model.Schema{Fields: map[string]*model.Schema{"cpu": text(model.Quantity), "name": {}}}
	return &model.Kind{Schema: &model.Schema{Fields: map[string]*model.Schema{
		"restarted": {Volatile: true},
		"allocated": {Extra: model.Extra{Generated: true}},
		"bundle":    {Extra: model.Extra{Derived: true}},
		"count":     {Default: &one},
		"marks":     {Fields: map[string]*model.Schema{"restarted": {Volatile: true}}},
		"all":       {List: model.Keyed, Keys: []string{"name"}, Each: container},
		"verbs":     {List: model.Set},
		"args":      {List: model.Ordered},
		"port":      text(model.IntOrString),
		"on":        text(model.Boolean),
		"at":        text(model.Instant),
		"wait":      text(model.Duration),
		"case":      text(model.CaseFold),
		"address":   text(model.Address),
		"json":      text(model.JSON),
		"data":      text(model.Base64),
		"options":   {Format: model.PropertyString, Keys: []string{"a"}},
	}}}
}

// TestInstalledContent checks which changes of an object that an installation lists change its content.
func TestInstalledContent(t *testing.T) {
	t.Parallel()
	injector := model.Owner{Name: "injector", Fields: set("bundle", "all/c/name", "free")}
	of := func(live string, owners ...model.Owner) model.Value {
		s := &model.Subject{Key: model.Key{Kind: "k", ID: "a"}, Kind: contentKind(), UndeclaredBy: [][]string{{"git"}},
			Live: &model.Resource{Value: value(t, live), Owners: owners}, InstalledBy: []model.Installer{{Ref: model.Ref{Kind: "tool", ID: "b"}}}}
		out := Compare(s, Options{Exempt: func(w *model.Write) string {
			if w.Owner != nil && w.Owner.Name == "injector" && len(w.Path) > 0 && w.Path[0].Text == "bundle" {
				return "it injects bundles"
			}
			return ""
		}})
		if len(out) != 1 || out[0].InstalledBy.ID != "b" {
			t.Fatalf("got %+v", out)
		}
		return out[0].Content
	}
	for reason, tc := range map[string]struct {
		before, after string
		owners        []model.Owner
		same          bool
	}{
		"a restart":                       {before: `{"restarted":1}`, after: `{"restarted":2}`, same: true},
		"the first restart":               {before: `{"free":1}`, after: `{"free":1,"marks":{"restarted":1}}`, same: true},
		"another mark":                    {before: `{"marks":{"restarted":1}}`, after: `{"marks":{"restarted":1,"x":1}}`},
		"an allocated value":              {before: `{"allocated":1}`, after: `{"allocated":2}`, same: true},
		"a bundle that is injected":       {before: `{"bundle":1}`, after: `{"bundle":2}`, owners: []model.Owner{injector}, same: true},
		"a bundle by two writers":         {before: `{"bundle":1}`, after: `{"bundle":2}`, owners: []model.Owner{injector, {Name: "curl", Fields: set("bundle")}}},
		"a bundle without a writer":       {before: `{"bundle":1}`, after: `{"bundle":2}`},
		"another field of the injector":   {before: `{"free":1}`, after: `{"free":2}`, owners: []model.Owner{injector}},
		"a default":                       {before: `{"count":"1","free":1}`, after: `{"free":1}`, same: true},
		"another value than the default":  {before: `{"count":"2"}`, after: `{}`},
		"a zero value that is no default": {before: `{"free":false}`, after: `{}`},
		"the spelling of a quantity":      {before: `{"all":[{"name":"a","cpu":"1000m"}]}`, after: `{"all":[{"name":"a","cpu":1}]}`, same: true},
		"another quantity":                {before: `{"all":[{"name":"a","cpu":"1000m"}]}`, after: `{"all":[{"name":"a","cpu":"1001m"}]}`},
		"no quantity":                     {before: `{"all":[{"name":"a","cpu":"x"}]}`, after: `{"all":[{"name":"a","cpu":"y"}]}`},
		"the order of elements with keys": {before: `{"all":[{"name":"a"},{"name":"b"}]}`, after: `{"all":[{"name":"b"},{"name":"a"}]}`, same: true},
		"an element":                      {before: `{"all":[{"name":"a"}]}`, after: `{"all":[{"name":"a"},{"name":"b"}]}`},
		"the order of a set":              {before: `{"verbs":["get","list"]}`, after: `{"verbs":["list","get"]}`, same: true},
		"an item of a set":                {before: `{"verbs":["get","list"]}`, after: `{"verbs":["get","*"]}`},
		"the order of a list":             {before: `{"args":["a","b"]}`, after: `{"args":["b","a"]}`},
		"a list without a schema":         {before: `{"free":["a","b"]}`, after: `{"free":["b","a"]}`},
		"the spelling of a port":          {before: `{"port":80}`, after: `{"port":"80"}`, same: true},
		"the spelling of a boolean":       {before: `{"on":"yes"}`, after: `{"on":true}`, same: true},
		"another boolean":                 {before: `{"on":"yes"}`, after: `{"on":"no"}`},
		"the spelling of a time":          {before: `{"at":"2026-01-02T03:00:00Z"}`, after: `{"at":"2026-01-02T04:00:00+01:00"}`, same: true},
		"the spelling of a duration":      {before: `{"wait":"90s"}`, after: `{"wait":"1m30s"}`, same: true},
		"the case of a text":              {before: `{"case":"A"}`, after: `{"case":"a"}`, same: true},
		"the case of another text":        {before: `{"free":"A"}`, after: `{"free":"a"}`},
		"the spelling of an address":      {before: `{"address":"::1"}`, after: `{"address":"0:0::1"}`, same: true},
		"the spelling of JSON":            {before: `{"json":"{\"a\":1,\"b\":2}"}`, after: `{"json":"{ \"b\":2,\"a\":1}"}`, same: true},
		"other JSON":                      {before: `{"json":"{\"a\":1}"}`, after: `{"json":"{\"a\":2}"}`},
		"line breaks in Base64":           {before: `{"data":"YWJj"}`, after: `{"data":"YW\nJj"}`, same: true},
		"the order of properties":         {before: `{"options":"1,b=2"}`, after: `{"options":"b=2,a=1"}`, same: true},
		"an empty map":                    {before: `{"free":{}}`, after: `{}`},
	} {
		a, b := of(tc.before, tc.owners...), of(tc.after, tc.owners...)
		if a.Equal(b) != tc.same {
			t.Errorf("%s: the same: %t, %s and %s", reason, !tc.same, a.AppendJSON(nil), b.AppendJSON(nil))
		}
	}
}

// TestCanonical checks that values with different meanings have different canonical forms.
func TestCanonical(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schema, a, b := world(t).Kind.Schema, tree().Draw(t, "a"), tree().Draw(t, "b")
		x, y := canonical(schema, a), canonical(schema, b)
		if x.Equal(y) && !Equal(schema, a, b) && !strings.Contains(string(a.AppendJSON(b.AppendJSON(nil))), "null") {
			t.Fatalf("%s and %s are both %s", a.AppendJSON(nil), b.AppendJSON(nil), x.AppendJSON(nil))
		}
	})
}
