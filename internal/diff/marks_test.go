package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestMarks adds labels that the declaration lacks. Those with the prefix of a controller are reported
// under the applier's name, unless they are marks of a tool that applies declarations.
func TestMarks(t *testing.T) {
	t.Parallel()
	const none, mark, cloud = `{"cpu":1}`, `{"cpu":1,"labels":{"tool/id":"x"}}`, `{"cpu":1,"labels":{"cloud/lb":"x"}}`
	const exemptMark = `labels["tool/id"] x apply: a mark of a tool that applies declarations`
	records := model.Owner{Name: "apply", Records: true, At: created, Fields: labelSet("cpu")}
	applies := model.Owner{Name: "apply", Applies: true, At: created, Fields: labelSet("cpu")}
	tool := model.Owner{Name: "tool", Applies: true, At: created, Fields: labelSet("cpu")}
	cpu := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu")}
	for name, tc := range map[string]struct {
		reason, recorded, live string
		owners                 []model.Owner
		change                 func(*model.Subject)
		found, exempt          string
	}{
		"edited under the applier's name":  {"it is no mark", none, cloud, []model.Owner{records}, nil, `undeclared labels["cloud/lb"] apply`, ""},
		"applied":                          {"it is no mark", cloud, cloud, []model.Owner{records}, nil, `pending labels["cloud/lb"] apply`, ""},
		"applied by the server":            {"it is no mark", "", cloud, []model.Owner{applies}, nil, `pending labels["cloud/lb"] apply`, ""},
		"applied, changed":                 {"it is no mark", `{"cpu":1,"labels":{"cloud/lb":"y"}}`, cloud, []model.Owner{records}, nil, `conflict labels["cloud/lb"] apply`, ""},
		"a mark":                           {"the tool knows by it what it applied", none, mark, []model.Owner{records}, nil, "", exemptMark},
		"a mark, applied":                  {"the tool knows by it what it applied", mark, mark, []model.Owner{records}, nil, "", exemptMark},
		"a mark, applied by the server":    {"the tool knows by it what it applied", "", mark, []model.Owner{applies}, nil, "", exemptMark},
		"a mark of its tool":               {"there is evidence", "", mark, []model.Owner{tool}, nil, "", ""},
		"a mark of its tool, applied":      {"there is evidence", mark, mark, []model.Owner{tool}, nil, "", ""},
		"a mark of its tool, with an edit": {"the record lacks the editor", "", mark, []model.Owner{tool}, editedByAlice, `undeclared labels["tool/id"] alice`, ""},
		"unowned":                          {"a controller may have written it", "", cloud, []model.Owner{cpu}, nil, "", `labels["cloud/lb"] x: no field manager, and a label or annotation of a controller`},
		"by a controller":                  {"there is evidence", "", cloud, []model.Owner{cpu, {Name: "tool", At: later, Fields: labelSet()}}, nil, "", `labels["cloud/lb"] x tool: evidence`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judgeWith(t, none, tc.live, tc.owners, func(s *model.Subject) {
				if tc.recorded != "" {
					s.Live.LastApplied = pointer(value(t, tc.recorded))
				}
				if tc.change != nil {
					tc.change(s)
				}
			})
			if diff := cmp.Diff(tc.found+" | "+tc.exempt, strings.TrimSpace(show(j.Outcomes))+" | "+exempted(j)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// labelSet returns the field set of paths and of all labels in the test.
func labelSet(paths ...string) model.FieldSet {
	fields, labels := set(paths...), model.FieldSet{}
	for _, name := range []string{"cloud/lb", "tool/id"} {
		labels.Put(model.Step{Kind: model.FieldStep, Text: name}, model.FieldSet{})
	}
	fields.Put(model.Step{Kind: model.FieldStep, Text: "labels"}, labels)
	return fields
}

func editedByAlice(s *model.Subject) {
	s.AuditEvents = []model.AuditEvent{{Action: model.Edited, Writer: "hand", Account: "alice", Actor: model.Actor{Name: "alice", At: later}}}
}

// TestGeneratedByHand sets values that the system allocates if none is declared.
func TestGeneratedByHand(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu")}
	by := func(change func(*model.Owner)) []model.Owner {
		o := model.Owner{Name: "hand", Edits: true, At: later, Fields: set("ip")}
		change(&o)
		return []model.Owner{apply, o}
	}
	derives := func(s *model.Subject) {
		s.Kind.Schema.Fields["ip"].Derive = func(holder model.Value) model.Value { return holder.At("cpu") }
	}
	for name, tc := range map[string]struct {
		reason, live string
		owners       []model.Owner
		change       func(*model.Subject)
		want         string
	}{
		"by hand":             {"a tool for edits owns it", `{"cpu":1,"ip":2}`, by(func(*model.Owner) {}), nil, "undeclared ip hand"},
		"a part":              {"it is reported once", `{"cpu":1,"ip":{"a":1,"b":2}}`, by(func(o *model.Owner) { o.Fields = set("ip/a") }), nil, "undeclared ip hand"},
		"by another writer":   {"it is not the system", `{"cpu":1,"ip":2}`, by(func(o *model.Owner) { o.Edits = false }), nil, "undeclared ip hand"},
		"by a controller":     {"there is evidence", `{"cpu":1,"ip":2}`, by(func(o *model.Owner) { o.Name, o.Edits = "tool", false }), nil, ""},
		"by its maker":        {"it was allocated then", `{"cpu":1,"ip":2}`, by(func(o *model.Owner) { o.Edits, o.Inherits = false, true }), nil, ""},
		"by the applier":      {"it was applied", `{"cpu":1,"ip":2}`, []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("cpu", "ip")}}, nil, ""},
		"by nobody":           {"the system allocated it", `{"cpu":1,"ip":2}`, []model.Owner{apply}, nil, ""},
		"derived, as derived": {"it follows from another field", `{"cpu":1,"ip":1}`, by(func(*model.Owner) {}), derives, ""},
		"derived, otherwise":  {"it does not", `{"cpu":1,"ip":2}`, by(func(*model.Owner) {}), derives, "undeclared ip hand"},
		"decided elsewhere":   {"another object decides it", `{"cpu":1,"ip":2}`, by(func(*model.Owner) {}), decides(model.Delegation{Path: "ip", To: "Scaler s"}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := show(judgeWith(t, `{"cpu":1}`, tc.live, tc.owners, tc.change).Outcomes); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestCompleted compares elements in which the system sets a field according to others.
func TestCompleted(t *testing.T) {
	t.Parallel()
	item := &model.Schema{Extra: model.Extra{Complete: func(v model.Value) model.Value {
		if _, ok := v.Get("request"); ok {
			return v
		}
		return v.With("request", v.At("limit"))
	}}}
	for _, tc := range []struct{ reason, live, want string }{
		{"as completed", `{"rules":[{"limit":{"cpu":1},"request":{"cpu":1}}]}`, ""},
		{"an entry more", `{"rules":[{"limit":{"cpu":1},"request":{"cpu":1,"memory":2}}]}`, "changed rules[0].request.memory hand"},
		{"an entry more in both", `{"rules":[{"limit":{"cpu":1,"memory":2},"request":{"cpu":1,"memory":2}}]}`, "changed rules[0].limit.memory hand\nchanged rules[0].request.memory hand"},
	} {
		owners := []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("cpu")}, {Name: "hand", Edits: true, At: later, Fields: set("rules")}}
		j := judgeWith(t, `{"rules":[{"limit":{"cpu":1}}]}`, tc.live, owners, func(s *model.Subject) {
			s.Kind.Schema.Fields["rules"] = &model.Schema{List: model.Bag, Each: item}
		})
		if got := show(j.Outcomes); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}
