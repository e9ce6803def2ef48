package diff

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// judgeWith compares a live object with owners, of which "tool" is exempt.
func judgeWith(t *testing.T, declared, live string, owners []model.Owner, change func(*model.Subject)) model.Judged {
	t.Helper()
	r := &model.Resource{Value: value(t, live), Created: created.Add(-time.Hour), Generation: 3, OwnersFrom: "managedFields", Owners: owners}
	s := subject(value(t, declared), r)
	if change != nil {
		change(s)
	}
	return Judge(s, Options{Exempt: func(w *model.Write) string {
		if w.Missing == "alice" {
			return ""
		}
		if w.Owner != nil && w.Owner.Name == "tool" || w.Supplier != "" || w.Owner == nil && (w.Admits || len(w.Admission) > 0) {
			return "evidence"
		}
		return ""
	}})
}

func exempted(j model.Judged) string {
	var all []string
	for _, e := range j.Exempt {
		all = append(all, strings.TrimSpace(e.Path+" "+e.Live+" "+e.Writer)+": "+e.Why)
	}
	return strings.Join(all, "; ")
}

func TestJudge(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu")}
	tool := func(paths ...string) model.Owner { return model.Owner{Name: "tool", At: later, Fields: set(paths...)} }
	hand := func(paths ...string) model.Owner { return model.Owner{Name: "hand", At: later, Fields: set(paths...)} }
	updates := model.Owner{Name: "helm", Delivers: true, At: created, Fields: set("cpu", "port", "policy")}
	records := model.Owner{Name: "apply", Records: true, At: created, Fields: set("cpu", "port", "policy")}
	element := []string{`env/{"name":"B"}/name`, `env/{"name":"B"}/value`}
	const env = `{"cpu":1,"env":[{"name":"A"}]}`
	const more = `{"cpu":1,"env":[{"name":"A"},{"name":"B","value":"1"}]}`
	tests := map[string]struct {
		reason, declared, live string
		owners                 []model.Owner
		change                 func(*model.Subject)
		found, exempt          string
	}{
		"exempt":                  {"there is evidence", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply, tool("port")}, nil, "", "port 2 tool: evidence"},
		"not exempt":              {"there is none", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply, hand("port")}, nil, "undeclared port", ""},
		"a declared field":        {"evidence is for what no declaration sets", `{"cpu":2}`, `{"cpu":1}`, []model.Owner{tool("cpu")}, nil, "changed cpu", ""},
		"co-owned":                {"one evidence is enough", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply, hand("port"), tool("port")}, nil, "", "port 2 tool: evidence"},
		"an element":              {"it is one exemption", env, more, []model.Owner{apply, tool(element...)}, nil, "", `env[name=B] {"name":"B","value":"1"} tool: evidence`},
		"a part of another":       {"a part is one, too", env, more, []model.Owner{apply, tool(element[0]), hand(element[1])}, nil, "undeclared env[name=B].value", "env[name=B].name B tool: evidence"},
		"an update":               {"its writer applies the declaration, and anyone can write under its name", `{"cpu":1}`, `{"cpu":1,"port":2,"policy":"x"}`, []model.Owner{updates}, nil, "undeclared port", ""},
		"not in the record":       {"it was never in the record", `{"cpu":1}`, `{"cpu":1,"port":2,"policy":"x"}`, []model.Owner{records}, func(s *model.Subject) { s.Claims[0].Recorded = &s.Claims[0].Value }, "undeclared port", ""},
		"an update's zero":        {"it is not the default", `{"cpu":1}`, `{"cpu":1,"port":0}`, []model.Owner{updates}, nil, "undeclared port", ""},
		"a zero as the default":   {"the system may have filled it in", `{"cpu":1}`, `{"cpu":1,"port":0}`, []model.Owner{updates}, zeroPort, "", ""},
		"an apply's zero":         {"only what was in the request has it for an owner", `{"cpu":1}`, `{"cpu":1,"port":0}`, []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("cpu", "port")}}, nil, "pending port", ""},
		"an exempt zero":          {"there is evidence", `{"cpu":1}`, `{"cpu":1,"port":0}`, []model.Owner{apply, tool("port")}, nil, "", "port 0 tool: evidence"},
		"a zero of a filled kind": {"the system fills in what no schema describes", `{"cpu":1}`, `{"cpu":1,"port":0}`, []model.Owner{updates}, func(s *model.Subject) { s.Kind.Schema.Filled = true }, "", ""},
		"an unowned zero":         {"no writer is recorded, and it is not the default", `{"cpu":1}`, `{"cpu":1,"port":0}`, []model.Owner{apply}, nil, "undeclared port", ""},
		"an unowned default":      {"the system fills it in", `{"cpu":1}`, `{"cpu":1,"port":0}`, []model.Owner{apply}, zeroPort, "", ""},
		"an unowned zero, open":   {"other defaults may exist", `{"cpu":1}`, `{"cpu":1,"port":0}`, []model.Owner{apply}, func(s *model.Subject) { s.Kind.Schema.Closed = false }, "", ""},
		"an unrecorded zero":      {"a dump has no record", `{"cpu":1}`, `{"cpu":1,"port":0}`, nil, nil, "", ""},
		"unowned, a zero default": {"a webhook may have set it", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply}, func(s *model.Subject) { zeroPort(s); s.Live.Admission = []model.Ref{{Kind: "k"}} }, "", "port 2: evidence"},
		"a filled kind":           {"the system fills in what no schema describes", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{updates}, func(s *model.Subject) { s.Kind.Schema.Filled = true }, "", ""},
		"no schema":               {"unknown defaults", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{updates}, func(s *model.Subject) { s.Kind = nil }, "", "port 2 helm: not every default of the kind is known"},
		"inherited":               {"derived from an earlier version", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, []model.Owner{apply, {Name: "before", Inherits: true, At: later, Fields: set("policy")}}, nil, "", "policy x before: the system may have derived it when the object was made"},
		"inherited, set":          {"set by a writer", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply, {Name: "before", Inherits: true, At: later, Fields: set("port")}}, nil, "undeclared port", ""},
		"unowned":                 {"no writer is recorded, and it is no default", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply}, nil, "undeclared port", ""},
		"unowned, derived":        {"the system derives it", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, []model.Owner{apply}, nil, "", ""},
		"unowned, open":           {"other defaults may exist", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply}, func(s *model.Subject) { s.Kind.Schema.Closed = false }, "", "port 2: no field manager, and not every default of the kind is known"},
		"unowned, described":      {"its definition has every default", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply}, described, "undeclared port", ""},
		"described, a default":    {"a map as its default has it", `{"cpu":1}`, `{"cpu":1,"limits":{"a":"b"}}`, []model.Owner{apply}, described, "", ""},
		"described, no default":   {"a map with more than its default", `{"cpu":1}`, `{"cpu":1,"limits":{"a":"c"}}`, []model.Owner{apply}, described, "undeclared limits.a", ""},
		"unrecorded, described":   {"a controller may have written it", `{"cpu":1}`, `{"cpu":1,"port":2}`, nil, described, "", "port 2: the object has no record of its writers"},
		"emptied, described":      {"its writers were removed from the record", `{"cpu":1}`, `{"cpu":1,"port":2}`, nil, emptied(described), "undeclared port", ""},
		"emptied, at admission":   {"a declared object changes it there", `{"cpu":1}`, `{"cpu":1,"port":2}`, nil, emptied(func(s *model.Subject) { described(s); s.Admission = []model.Ref{{Kind: "k"}} }), "", "port 2: evidence"},
		"emptied, open":           {"other defaults may exist", `{"cpu":1}`, `{"cpu":1,"port":2}`, nil, emptied(func(s *model.Subject) { s.Kind.Schema.Closed = false }), "", "port 2: no field manager, and not every default of the kind is known"},
		"emptied":                 {"no controller writes it", `{"cpu":1}`, `{"cpu":1,"port":2}`, nil, emptied(nil), "undeclared port", ""},
		"emptied, a zero":         {"it is not the default", `{"cpu":1}`, `{"cpu":1,"port":0}`, nil, emptied(nil), "undeclared port", ""},
		"emptied, derived":        {"the system may have derived any value", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, nil, emptied(nil), "", ""},
		"emptied, not as derived": {"set by a writer", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, nil, emptied(derivesFromCPU), "undeclared policy", ""},
		"emptied, as derived":     {"it is what the system derives", `{"cpu":1}`, `{"cpu":1,"policy":1}`, nil, emptied(derivesFromCPU), "", ""},
		"unrecorded":              {"no controller writes it", `{"cpu":1}`, `{"cpu":1,"port":2}`, nil, nil, "undeclared port", ""},
		"unrecorded, open": {"other defaults may exist", `{"cpu":1}`, `{"cpu":1,"port":2}`, nil, func(s *model.Subject) { s.Kind.Schema.Closed = false }, "",
			"port 2: the object has no record of its writers, and the value may be a default"},
		"unowned, filled":          {"the system fills in what no schema describes", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply}, func(s *model.Subject) { s.Kind.Schema.Closed, s.Kind.Schema.Filled = false, true }, "", ""},
		"at admission":             {"a declared object changes it there", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply}, func(s *model.Subject) { s.Admission = []model.Ref{{Kind: "k"}} }, "", "port 2: evidence"},
		"perhaps":                  {"an object changes it there", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply}, func(s *model.Subject) { s.Live.Admission = []model.Ref{{Kind: "k"}} }, "", "port 2: evidence"},
		"a default, perhaps":       {"kubectl scale leaves no owner either", `{"cpu":1}`, `{"cpu":1,"mode":"x"}`, []model.Owner{apply}, func(s *model.Subject) { s.Live.Admission = []model.Ref{{Kind: "k"}} }, "undeclared mode", ""},
		"decided":                  {"another object decides it", `{"cpu":1}`, `{"cpu":2}`, []model.Owner{hand("cpu")}, decides(model.Delegation{Path: "cpu", To: "Scaler s"}), "", "cpu 2 Scaler s: decided by another declared object"},
		"decided, unset":           {"another object decides it", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply, hand("port")}, decides(model.Delegation{Path: "port", To: "Scaler s"}), "", "port 2 Scaler s: decided by another declared object"},
		"decided by a secret":      {"no output shows the value", `{"cpu":1}`, `{"cpu":2}`, []model.Owner{hand("cpu")}, hides("cpu"), "", "cpu  Secret s: decided by another declared object"},
		"next to a secret":         {"its value is none", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply, tool("port")}, hides("por"), "", "port 2 tool: evidence"},
		"an element with a secret": {"the element contains the value", env, more, []model.Owner{apply, tool(element...)}, hides("env[name=B].value"), "", "env[name=B]  tool: evidence"},
		"a part of a secret":       {"a field below it is one, too", `{"cpu":1,"limits":{"a":"b"}}`, `{"cpu":1,"limits":{"a":"c"}}`, []model.Owner{hand("limits")}, hides("limits"), "", "limits.a  Secret s: decided by another declared object"},
		"decided elsewhere":        {"another field", `{"cpu":1}`, `{"cpu":2}`, []model.Owner{hand("cpu")}, decides(model.Delegation{Path: "cp", To: "Scaler s"}), "changed cpu", ""},
		"added":                    {"another object adds it", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply, hand("port")}, decides(model.Delegation{Path: "port", To: "Issuer i", Adds: true}), "", "port 2 hand: evidence"},
		"derived by its maker":     {"it came with the object", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, []model.Owner{apply, {Name: "maker", At: created.Add(-time.Hour), Fields: set("policy")}}, nil, "", "policy x maker: the system may have derived it when the object was made"},
		"derived, in the log": {"its maker has edited the object since", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, []model.Owner{apply, {Name: "maker", At: created.Add(-time.Hour), Fields: set("policy")}}, func(s *model.Subject) {
			s.AuditEvents = []model.AuditEvent{{Action: model.Created, Writer: "maker"}, {Action: model.Edited, Writer: "maker", Actor: model.Actor{Name: "alice", At: later}}}
		}, "undeclared policy", ""},
		"derived, made in the log": {"its maker has only made the object", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, []model.Owner{apply, {Name: "maker", At: created.Add(-time.Hour), Fields: set("policy")}}, func(s *model.Subject) {
			s.AuditEvents = []model.AuditEvent{{Action: model.Created, Writer: "maker"}, {Action: model.Edited, Writer: "other", Actor: model.Actor{Name: "alice", At: later}}}
		}, "", "policy x maker: the system may have derived it when the object was made"},
		"not derived":                 {"the system derives another value", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, nil, setByHand, "undeclared policy", ""},
		"not derived, an update's":    {"anyone can write under the name of its writer", `{"cpu":1}`, `{"cpu":1,"port":2,"policy":"x"}`, []model.Owner{updates}, func(s *model.Subject) { setByHand(s); s.Claims[0].Value = value(t, `{"cpu":1,"port":2}`) }, "undeclared policy", ""},
		"not derived, unowned":        {"its owner was removed from the record", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, []model.Owner{apply}, setByHand, "undeclared policy", ""},
		"as derived":                  {"it is what the system derives", `{"cpu":1}`, `{"cpu":1,"policy":1}`, []model.Owner{apply, hand("policy")}, derivesFromCPU, "", ""},
		"not as derived":              {"a derived value that differs", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, []model.Owner{apply, {Name: "before", Inherits: true, At: later, Fields: set("policy")}}, derivesFromCPU, "undeclared policy", ""},
		"not as derived, an update's": {"its writer set it", `{"cpu":1}`, `{"cpu":1,"port":2,"policy":"x"}`, []model.Owner{updates}, func(s *model.Subject) { derivesFromCPU(s); s.Claims[0].Value = value(t, `{"cpu":1,"port":2}`) }, "undeclared policy", ""},
		"not as derived, unowned":     {"set by a writer", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, []model.Owner{apply}, derivesFromCPU, "undeclared policy", ""},
		"not as derived, unrecorded":  {"a dump has no record", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, nil, derivesFromCPU, "", ""},
		"derived, edited":             {"a tool for editing set it", `{"cpu":1}`, `{"cpu":1,"policy":"x"}`, []model.Owner{apply, {Name: "maker", Edits: true, At: created.Add(-time.Hour), Fields: set("policy")}}, nil, "undeclared policy", ""},
		"an empty list":               {"an empty value has no effect", `{"cpu":1}`, `{"cpu":1,"args":[]}`, []model.Owner{apply, hand("args")}, nil, "", ""},
		"a zero of another apply":     {"set by a writer", `{"cpu":1}`, `{"cpu":1,"port":0}`, []model.Owner{apply, {Name: "other", Applies: true, At: later, Fields: set("port")}}, nil, "undeclared port", ""},
		"an empty map":                {"an empty value has no effect", `{"cpu":1}`, `{"cpu":1,"select":{}}`, []model.Owner{apply, hand("select")}, selects(false), "", ""},
		"an empty map of content":     {"it selects everything", `{"cpu":1}`, `{"cpu":1,"select":{}}`, []model.Owner{apply, hand("select")}, selects(true), "undeclared select", ""},
		"content in a list":           {"it selects everything", `{"cpu":1,"peers":[{"from":"a"}]}`, `{"cpu":1,"peers":[{"from":"a","select":{}}]}`, []model.Owner{apply, hand("peers")}, selects(true), "changed peers[0].select", ""},
		"an empty map in a list":      {"an empty value has no effect", `{"cpu":1,"peers":[{"from":"a"}]}`, `{"cpu":1,"peers":[{"from":"a","select":{}}]}`, []model.Owner{apply, hand("peers")}, selects(false), "", ""},
		"a new element":               {"elements are named", `{"cpu":1}`, `{"cpu":1,"env":[{"name":"B"}]}`, []model.Owner{apply, hand(element[0])}, nil, "undeclared env[name=B]", ""},
		"unowned, no schema":          {"unknown defaults", `{"cpu":1}`, `{"cpu":1,"port":2}`, []model.Owner{apply}, func(s *model.Subject) { s.Kind = nil }, "", "port 2: no field manager, and not every default of the kind is known"},
		"unowned, a list default":     {"others may fill it in otherwise", `{"cpu":1}`, `{"cpu":1,"verbs":["get"]}`, []model.Owner{apply}, func(s *model.Subject) { s.Kind.Schema = openWithVerbs() }, "", `verbs ["get"]: no field manager, and not every default of the kind is known`},
		"decided by two": {"each has its field", `{"cpu":1,"port":1}`, `{"cpu":2,"port":2}`, []model.Owner{hand("cpu", "port")}, func(s *model.Subject) {
			s.Delegated = []model.Delegation{{Path: "cpu", To: "Scaler s"}}
			s.Claims[0].Delegated = []model.Delegation{{Path: "port", To: "Scaler t"}}
		}, "", "cpu 2 Scaler s: decided by another declared object; port 2 Scaler t: decided by another declared object"},
		"decided, recorded otherwise": {"the record is not compared either", `{"cpu":2}`, `{"cpu":2}`, []model.Owner{hand("cpu")}, func(s *model.Subject) {
			s.Delegated, s.Claims[0].Recorded = []model.Delegation{{Path: "cpu", To: "Scaler s"}}, pointer(model.MapOf(model.Field{Name: "cpu", Value: model.IntOf(1)}))
		}, "", ""},
		"decided, declared no longer": {"another object keeps it", `{}`, `{"cpu":2}`, []model.Owner{hand("cpu")}, func(s *model.Subject) {
			s.Delegated, s.Claims[0].Recorded = []model.Delegation{{Path: "cpu", To: "Scaler s"}}, pointer(model.MapOf(model.Field{Name: "cpu", Value: model.IntOf(1)}))
		}, "", ""},
		"of another claim, declared no longer here": {"another declaration has it now", `{}`, `{"cpu":2}`, []model.Owner{hand("cpu")}, func(s *model.Subject) {
			cpu := func(n int64) model.Value { return model.MapOf(model.Field{Name: "cpu", Value: model.IntOf(n)}) }
			s.Claims[0].Recorded = pointer(cpu(1))
			s.Claims = append(s.Claims, &model.Claim{Declaration: "e", Value: cpu(2)})
		}, "", ""},
		"applied with an earlier record": {"an apply that also writes the record it found puts nothing past it", `{"cpu":1}`, `{"cpu":1,"port":2}`,
			[]model.Owner{{Name: "apply", Applies: true, Records: true, At: created, Fields: set("cpu", "port")}}, func(s *model.Subject) {
				s.Live.LastApplied, s.Claims[0].Evidence = &s.Claims[0].Value, &model.Evidence{}
			}, "bypassed port", ""},
		"added, declared": {"what is declared is compared", `{"cpu":1}`, `{"cpu":2}`, []model.Owner{hand("cpu")}, decides(model.Delegation{Path: "cpu", To: "Issuer i", Adds: true}), "changed cpu", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judgeWith(t, tt.declared, tt.live, tt.owners, tt.change)
			got := show(j.Outcomes)
			if i := strings.LastIndex(got, " "); strings.Count(got, " ") > 1 && i > 0 {
				got = got[:i] // without the actor
			}
			if diff := cmp.Diff(tt.found+" | "+tt.exempt, got+" | "+exempted(j)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestMissingEdit has an edit in the log that the record of owners lacks. Exemptions by owner
// do not count then, unless the declaration was applied since.
func TestMissingEdit(t *testing.T) {
	t.Parallel()
	edit := func(hours float64, writer, account string, fields ...string) model.AuditEvent {
		return model.AuditEvent{Action: model.Edited, Writer: writer, Account: account, Fields: fields,
			Actor: model.Actor{Name: account, At: created.Add(time.Duration(hours * float64(time.Hour))), Evidence: "audit 1", Confidence: model.Exact}}
	}
	tool := model.Owner{Name: "tool", At: later, Fields: set("port")}
	admits := func(s *model.Subject) { s.Admission = []model.Ref{{Kind: "k"}} }
	for name, tc := range map[string]struct {
		reason string
		user   string
		owners []model.Owner
		change func(*model.Subject)
		events []model.AuditEvent
		want   string
	}{
		"later":                  {"the editor may have renamed the entry", "", []model.Owner{tool}, nil, []model.AuditEvent{edit(1, "hand", "alice")}, "undeclared port alice"},
		"unowned":                {"the editor may have removed the entry", "", nil, admits, []model.AuditEvent{edit(1, "hand", "alice")}, "undeclared port alice"},
		"several":                {"the last edit that may not is named", "", []model.Owner{tool}, nil, []model.AuditEvent{edit(1, "hand", "alice"), edit(2, "robot", "bot")}, "undeclared port alice"},
		"another account":        {"it may write the field", "", []model.Owner{tool}, nil, []model.AuditEvent{edit(1, "hand", "bot")}, ""},
		"no account":             {"the log does not record it", "", []model.Owner{tool}, nil, []model.AuditEvent{edit(1, "hand", "")}, ""},
		"recorded":               {"the record has the editor's writer", "", []model.Owner{tool, {Name: "hand", At: later, Fields: set("noise")}}, nil, []model.AuditEvent{edit(1, "hand", "alice")}, ""},
		"of the field":           {"the log names it", "", []model.Owner{tool}, nil, []model.AuditEvent{edit(1, "hand", "alice", "port")}, "undeclared port alice"},
		"of another field":       {"the log names that", "", []model.Owner{tool}, nil, []model.AuditEvent{edit(1, "hand", "alice", "cpu")}, ""},
		"applied since":          {"the log confirms the time", "git", []model.Owner{tool}, nil, []model.AuditEvent{edit(-0.1, "hand", "alice")}, ""},
		"in the same second":     {"the record has no fractions", "git", []model.Owner{tool}, nil, []model.AuditEvent{edit(0, "hand", "alice")}, "undeclared port alice"},
		"applied since, forged?": {"the log does not confirm the time", "", []model.Owner{tool}, nil, []model.AuditEvent{edit(-0.1, "hand", "alice")}, "undeclared port alice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owners := append([]model.Owner{{Name: "apply", Applies: true, At: created, User: tc.user, Fields: set("cpu")}}, tc.owners...)
			j := judgeWith(t, `{"cpu":1}`, `{"cpu":1,"port":2}`, owners, func(s *model.Subject) {
				s.AuditEvents = tc.events
				if tc.change != nil {
					tc.change(s)
				}
			})
			if diff := cmp.Diff(tc.want, show(j.Outcomes)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if len(j.Outcomes) > 0 && j.Outcomes[0].Actor.Confidence != model.Likely {
				t.Errorf("%s: %s", tc.reason, j.Outcomes[0].Actor.Confidence)
			}
		})
	}
}

// described changes the subject's kind to one of a custom resource definition, with a default
// for a map.
func described(s *model.Subject) {
	s.Kind.Defaulted, s.Kind.Schema.Closed = true, false
	s.Kind.Schema.Fields["limits"] = &model.Schema{Each: &model.Schema{Content: true},
		Default: pointer(model.MapOf(model.Field{Name: "a", Value: model.StringOf("b")}))}
}

// emptied changes the subject to one of a source that records the owners of every other
// resource.
func emptied(more func(*model.Subject)) func(*model.Subject) {
	return func(s *model.Subject) {
		s.Live.OwnersRemoved = true
		if more != nil {
			more(s)
		}
	}
}

// selects adds a selector, and a list of peers with one.
func selects(content bool) func(*model.Subject) {
	return func(s *model.Subject) {
		selector := &model.Schema{Content: content, Fields: map[string]*model.Schema{"a": {}}}
		s.Kind.Schema.Fields["select"] = selector
		s.Kind.Schema.Fields["peers"] = &model.Schema{Each: &model.Schema{Fields: map[string]*model.Schema{"from": {}, "select": selector}}}
	}
}

// zeroPort sets a default port of zero.
func zeroPort(s *model.Subject) { s.Kind.Schema.Fields["port"].Default = pointer(model.IntOf(0)) }

// derivesFromCPU makes the policy a field that is derived from the field cpu.
func derivesFromCPU(s *model.Subject) {
	s.Kind.Schema.Fields["policy"].Derive = func(holder model.Value) model.Value { return holder.At("cpu") }
}

// openWithVerbs returns the schema of a kind that may have more defaults than those known, with
// a default for verbs.
func openWithVerbs() *model.Schema {
	schema := testSchema()
	schema.Closed = false
	schema.Fields["verbs"].Default = pointer(model.ListOf(model.StringOf("*")))
	return schema
}

// setByHand has a policy that is not what the system derives.
func setByHand(s *model.Subject) { s.Live.NotDerived = []string{"policy"} }

// hides leaves a field of the claim to a secret.
func hides(path string) func(*model.Subject) {
	return func(s *model.Subject) {
		s.Claims[0].Delegated = []model.Delegation{{Path: path, To: "Secret s", Hidden: true}}
	}
}

func decides(d model.Delegation) func(*model.Subject) {
	return func(s *model.Subject) { s.Delegated = []model.Delegation{d} }
}

// TestExemptValueIsBrief checks that exemptions have neither secrets nor long values.
func TestExemptValueIsBrief(t *testing.T) {
	t.Parallel()
	secret := model.MapOf(model.Field{Name: "a", Value: model.DigestOf("feedface")})
	if got := brief(secret); got != `{"a":"(secret)"}` {
		t.Errorf("a secret: %s", got)
	}
	if got := []rune(brief(model.StringOf(strings.Repeat("ä", maxBrief+1)))); len(got) != maxBrief || got[maxBrief-1] != '…' {
		t.Errorf("a long value: %d", len(got))
	}
	if got := brief(model.StringOf(strings.Repeat("ä", maxBrief))); strings.Contains(got, "…") {
		t.Error("a value of the right length was cut")
	}
}

// TestNothingIsExempt compares without exemptions.
func TestNothingIsExempt(t *testing.T) {
	t.Parallel()
	s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1,"port":2}`), Created: created,
		Owners: []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("cpu")}, {Name: "tool", At: later, Fields: set("port")}}})
	if diff := cmp.Diff("undeclared port tool", show(Compare(s, Options{}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWaitingElement reports an element that is no longer declared, with the applied value as
// the live one.
func TestWaitingElement(t *testing.T) {
	t.Parallel()
	applied := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu", `env/{"name":"B"}/name`, `env/{"name":"B"}/value`)}
	shared := applied
	shared.Fields = set("cpu", `env/{"name":"B"}/value`)
	for name, tc := range map[string]struct {
		reason   string
		owners   []model.Owner
		evidence *model.Evidence
		verdict  model.Verdict
		recorded bool
	}{
		"not asked":          {"pending or bypassed", []model.Owner{applied}, nil, model.Pending, true},
		"never declared":     {"bypassed", []model.Owner{applied}, &model.Evidence{}, model.Bypassed, true},
		"declared before":    {"pending", []model.Owner{applied}, declaredBefore(value(t, `{"env":[{"name":"B","value":"1"}]}`)), model.Pending, true},
		"a hand's in part":   {"what may be bypassed is worse than what is undeclared", []model.Owner{shared, {Name: "hand", At: later, Fields: set(`env/{"name":"B"}/name`)}}, nil, model.Pending, true},
		"a hand's, declared": {"what is undeclared is worse than what is pending", []model.Owner{shared, {Name: "hand", At: later, Fields: set(`env/{"name":"B"}/name`)}}, declaredBefore(value(t, `{"env":[{"name":"B","value":"1"}]}`)), model.Undeclared, false},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1,"env":[{"name":"B","value":"1"}]}`), Created: created, Generation: 3, Owners: tc.owners})
		s.Claims[0].Evidence = tc.evidence
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 || len(outcomes[0].Changes) != 1 || outcomes[0].Verdict != tc.verdict || outcomes[0].Changes[0].Path != "env[name=B]" {
			t.Errorf("%s: %s, want %s: %s", name, show(outcomes), tc.verdict, tc.reason)
			continue
		}
		if c := outcomes[0].Changes[0]; (c.Recorded != nil && c.Recorded.Equal(*c.Live)) != tc.recorded {
			t.Errorf("%s: recorded %v, live %v", name, c.Recorded, c.Live)
		}
	}
}

// TestControllersByAccount identifies controllers by the accounts of a log, if it records any:
// a client can choose any name.
func TestControllersByAccount(t *testing.T) {
	t.Parallel()
	w := writers{controller: func(who string) bool { return who == "tool" || who == "system:a" || who == "system:b" }}
	for reason, tc := range map[string]struct {
		owner model.Owner
		want  bool
	}{
		"by name":               {model.Owner{Name: "tool"}, true},
		"unknown":               {model.Owner{Name: "hand"}, false},
		"a person under a name": {model.Owner{Name: "tool", Accounts: []string{"alice"}}, false},
		"an account":            {model.Owner{Name: "hand", Accounts: []string{"system:a", "system:b"}}, true},
		"an account and others": {model.Owner{Name: "tool", Accounts: []string{"alice", "system:a"}}, false},
	} {
		if got := w.isController(&tc.owner); got != tc.want {
			t.Errorf("%s: %t", reason, got)
		}
	}
	if (&writers{}).isController(&model.Owner{Name: "tool", Accounts: []string{"system:a"}}) {
		t.Error("no controllers are known")
	}
}

// TestLeftByOneOfTwoClaims checks a field that one of two claims of different forms leaves as it is: the other one is compared alone.
func TestLeftByOneOfTwoClaims(t *testing.T) {
	t.Parallel()
	tool := newRenamedLens(map[string]string{"memory_mb": "memory", "title": "name"}, "")
	inventory := newRenamedLens(map[string]string{"memory": "memory", "name": "name"}, "")
	const why = "in ignore_changes: no apply changes it back"
	for _, tc := range []struct {
		reason, live, tool, inventory string
		want                          []string
	}{
		{"both declare the same", `{"memory":16}`, `{"memory_mb":4}`, `{"memory":4}`, []string{"changed memory - 16"}},
		{"they contradict each other", `{"memory":16}`, `{"memory_mb":4}`, `{"memory":8}`, []string{"changed memory - 16"}},
		{"the other one agrees", `{"memory":8,"name":"b"}`, `{"memory_mb":4,"title":"a"}`, `{"memory":8}`, []string{`changed title "a" "b"`}},
	} {
		claims := []*model.Claim{
			{Declaration: "tool", Address: "vm.a", Value: value(t, tc.tool), Lens: tool, RecordOnly: true, Delegated: []model.Delegation{{Path: "memory_mb", Why: why}}},
			{Declaration: "inventory", Address: "vm/1", Value: value(t, tc.inventory), Lens: inventory, ClaimMatching: model.ClaimMatching{ByIdentity: true}},
		}
		j := Judge(&model.Subject{Live: &model.Resource{Value: value(t, tc.live)}, Claims: claims}, Options{})
		if diff := cmp.Diff(tc.want, sketch(j.Outcomes)); diff != "" {
			t.Errorf("%s: %s", tc.reason, diff)
		}
		if len(j.Exempt) != 1 || j.Exempt[0].Path != "memory_mb" || j.Exempt[0].Why != why {
			t.Errorf("%s: exempt %+v", tc.reason, j.Exempt)
		}
	}
}

// TestPositive checks a delegation to an object that does nothing while the value is 0.
func TestPositive(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		declared, recorded, live string
		want                     []string
	}{
		"another value":            {`{"n":2}`, `{"n":2}`, `{"n":9}`, nil},
		"0":                        {`{"n":2}`, `{"n":2}`, `{"n":0}`, []string{"changed n 2 0"}},
		"from 0":                   {`{"n":0}`, `{"n":0}`, `{"n":9}`, []string{"changed n 0 9"}},
		"no longer declared":       {`{}`, `{"n":2}`, `{"n":9}`, nil},
		"no longer declared and 0": {`{}`, `{"n":2}`, `{"n":0}`, []string{"codified n 2 0"}},
		"0, and declared since":    {`{"n":0}`, `{"n":2}`, `{"n":0}`, []string{"codified n 2 0"}},
	} {
		s := subject(value(t, tc.declared), &model.Resource{Value: value(t, tc.live), LastApplied: pointer(value(t, tc.recorded))})
		s.Claims[0].Delegated = []model.Delegation{{Path: "n", To: "scaler", Positive: true}}
		if diff := cmp.Diff(tc.want, sketch(Judge(s, Options{}).Outcomes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
