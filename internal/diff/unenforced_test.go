package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestUnenforced checks which differences are of fields that the tool of the declaration leaves as they are.
func TestUnenforced(t *testing.T) {
	t.Parallel()
	name := func(names ...string) []model.Pick {
		var picks []model.Pick
		for _, n := range names {
			picks = append(picks, model.Pick{Name: n})
		}
		return picks
	}
	where := func(text string) model.Pick {
		v := value(t, text)
		return model.Pick{Where: &v}
	}
	const declared = `{"port":1,"labels":{"a":"1"},"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]}`
	const live = `{"port":2,"labels":{"a":"2"},"env":[{"name":"B","value":"9"},{"name":"A","value":"8"}]}`
	const all = "env[name=A].value env[name=B].value labels.a port"
	for reason, tc := range map[string]struct {
		rule model.Unenforced
		want string
	}{
		"a field":                           {model.Unenforced{Path: name("port")}, "port"},
		"a field with all below it":         {model.Unenforced{Path: name("labels")}, "labels.a"},
		"a field below does not count":      {model.Unenforced{Path: name("port", "0")}, ""},
		"another field":                     {model.Unenforced{Path: name("labels", "b")}, ""},
		"a name that begins alike":          {model.Unenforced{Path: name("por")}, ""},
		"a position is one in either list":  {model.Unenforced{Path: name("env", "0", "value")}, "env[name=A].value env[name=B].value"},
		"a position that is none":           {model.Unenforced{Path: name("env", "2")}, ""},
		"a negative position":               {model.Unenforced{Path: name("env", "-1")}, ""},
		"a name for a position":             {model.Unenforced{Path: name("env", "A")}, ""},
		"each element":                      {model.Unenforced{Path: append(name("env"), where(`{}`))}, "env[name=A].value env[name=B].value"},
		"the elements with a field":         {model.Unenforced{Path: append(name("env"), where(`{"name":"B"}`))}, "env[name=B].value"},
		"no element has the field":          {model.Unenforced{Path: append(name("env"), where(`{"name":"C"}`))}, ""},
		"each field":                        {model.Unenforced{Path: []model.Pick{where(`{}`)}}, all},
		"fields of a writer":                {model.Unenforced{Path: []model.Pick{where(`{}`)}, Writer: "hand"}, "port"},
		"fields of a writer without a path": {model.Unenforced{Writer: "hand"}, "port"},
		"the whole resource is of no field": {model.Unenforced{}, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			tc.rule.Why = "left"
			r := &model.Resource{Value: value(t, live), Created: created, OwnersFrom: "managedFields", Owners: []model.Owner{{Name: "hand", Edits: true, At: later, Fields: set("port")}}}
			s := subject(value(t, declared), r)
			s.Claims[0].Unenforced = []model.Unenforced{tc.rule}
			var got, left []string
			for _, o := range Compare(s, Options{}) {
				for _, c := range o.Changes {
					if got = append(got, c.Path); c.Unenforced == "left" {
						left = append(left, c.Path)
					}
				}
			}
			if d := cmp.Diff(all, strings.Join(got, " ")); d != "" {
				t.Errorf("a difference is hidden (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.want, strings.Join(left, " ")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
