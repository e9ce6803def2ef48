package diff

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestListWithoutSchema compares lists of a kind without a schema, in which live elements have further
// fields. The system fills in defaults within the request of the writer of the list.
func TestListWithoutSchema(t *testing.T) {
	t.Parallel()
	const declared = `{"http":[{"to":[{"host":"a"}]}]}`
	const more = `{"http":[{"to":[{"host":"a","port":1}]}]}`
	const exempt = `http [{"to":[{"host":"a","port":1}]}]`
	const unknown = "no schema: the fields that are not declared may be defaults"
	records := model.Owner{Name: "apply", Records: true, At: created, Fields: set("http")}
	elsewhere := model.Owner{Name: "apply", Records: true, At: created, Fields: set("x")}
	hand := model.Owner{Name: "hand", Edits: true, At: later, Fields: set("http")}
	owned := func(change func(*model.Owner)) model.Owner {
		o := hand
		change(&o)
		return o
	}
	for name, tc := range map[string]struct {
		reason, declared, recorded, live string
		owners                           []model.Owner
		found, exempt                    string
	}{
		"the applier": {"a default", declared, declared, more, []model.Owner{records}, "", exempt + " apply: " + unknown},
		"an apply":    {"a default", declared, "", more, []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("http")}}, "", exempt + " apply: " + unknown},
		"an apply since": {"a default", declared, declared, more, []model.Owner{elsewhere, {Name: "flux", Applies: true, At: later, Fields: set("http")}}, "",
			exempt + " flux: " + unknown},
		"by hand":                  {"another writer took the list", declared, declared, more, []model.Owner{elsewhere, hand}, "changed http[0].to[0].port hand", ""},
		"by hand, without record":  {"another writer took the list", declared, "", more, []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("x")}, hand}, "changed http[0].to[0].port hand", ""},
		"by an evident controller": {"there is evidence", declared, declared, more, []model.Owner{elsewhere, owned(func(o *model.Owner) { o.Name, o.Edits = "tool", false })}, "", exempt + " tool: evidence"},
		"by its maker": {"the object was made with it", declared, declared, more,
			[]model.Owner{elsewhere, owned(func(o *model.Owner) { o.Edits, o.At = false, created.Add(-time.Hour) })}, "", exempt + " hand: " + unknown},
		"by hand, when made": {"a tool for edits", declared, declared, more, []model.Owner{elsewhere, owned(func(o *model.Owner) { o.At = created.Add(-time.Hour) })}, "changed http[0].to[0].port hand", ""},
		"inherited":          {"the writer is not known", declared, declared, more, []model.Owner{elsewhere, owned(func(o *model.Owner) { o.Edits, o.Inherits = false, true })}, "", exempt + " hand: " + unknown},
		"no writer":          {"the writer is not known", declared, declared, more, nil, "", exempt + ": " + unknown},
		"equal":              {"nothing to exempt", declared, declared, declared, []model.Owner{elsewhere, hand}, "", ""},
		"no longer declared": {"the record has it", declared, more, more, []model.Owner{records}, "pending http[0].to[0].port apply", ""},
		"no longer declared, with a default": {"the record lacks only the default", declared, more, `{"http":[{"to":[{"host":"a","port":1}],"kind":"x"}]}`, []model.Owner{records},
			"pending http[0].to[0].port apply", `http [{"kind":"x","to":[{"host":"a","port":1}]}] apply: ` + unknown},
		"declared otherwise, with a default": {"only what is declared differs", `{"http":[{"to":[{"host":"b"}]}]}`, declared, more, []model.Owner{records},
			"pending http[0].to[0].host apply", exempt + " apply: " + unknown},
		"more elements": {"an element is no default", declared, declared, `{"http":[{"to":[{"host":"a"},{"host":"b"}]}]}`, []model.Owner{records}, "changed http[0].to apply", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judgeWith(t, tc.declared, tc.live, tc.owners, func(s *model.Subject) {
				s.Kind = nil
				if tc.recorded != "" {
					s.Live.LastApplied = pointer(value(t, tc.recorded))
				}
			})
			if diff := cmp.Diff(tc.found+" | "+tc.exempt, strings.TrimSpace(show(j.Outcomes))+" | "+exempted(j)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestListBelowFreeFields compares a list in a part of a schema that has no defaults: none of its fields was filled in.
func TestListBelowFreeFields(t *testing.T) {
	t.Parallel()
	j := judgeWith(t, `{"http":[{"host":"a"}]}`, `{"http":[{"host":"a","port":1}]}`, []model.Owner{{Name: "apply", Records: true, At: created, Fields: set("http")}}, func(s *model.Subject) {
		s.Kind.Defaulted, s.Kind.Schema = true, &model.Schema{}
		s.Live.LastApplied = pointer(value(t, `{"http":[{"host":"a"}]}`))
	})
	if got := strings.TrimSpace(show(j.Outcomes)); got == "" || len(j.Exempt) != 0 {
		t.Errorf("found %q, exempt %v", got, j.Exempt)
	}
}
