package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestUnownedActor names the writer of an undeclared value without an owner if the log has only
// one person who can have set it, or else the reason why it has no owner.
func TestUnownedActor(t *testing.T) {
	t.Parallel()
	edit := func(name string, at float64, fields ...string) model.AuditEvent {
		return model.AuditEvent{Writer: "curl", Fields: fields, Actor: model.Actor{Name: name, At: hour(at), Confidence: model.Exact}}
	}
	const nobody = "unknown: not the default, and managedFields names no writer: some tools leave none"
	for _, tc := range []struct {
		reason string
		events []model.AuditEvent
		want   string
	}{
		{"no log", nil, nobody},
		{"an edit of the field", []model.AuditEvent{edit("alice", 2, "port")}, "alice"},
		{"an edit of anything", []model.AuditEvent{edit("alice", 2)}, "alice"},
		{"an edit of another field", []model.AuditEvent{edit("alice", 2, "mode")}, nobody},
		{"an edit before the apply", []model.AuditEvent{edit("alice", 0.5)}, nobody},
		{"edits of two persons", []model.AuditEvent{edit("alice", 2), edit("bob", 3)}, nobody},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1,"port":2}`), Created: created, OwnersFrom: "managedFields",
			Owners: []model.Owner{{Name: "apply", Applies: true, At: hour(1), Fields: set("cpu")}}})
		s.AuditEvents, s.Kind.Unowned = tc.events, "some tools leave none"
		outcomes := Compare(s, Options{})
		if show(outcomes) != strings.TrimSpace("undeclared port "+strings.TrimPrefix(outcomes[0].Actor.Name, "unknown")) || who(outcomes[0].Actor) != tc.want {
			t.Errorf("%s: %s by %q, want it by %q", tc.reason, show(outcomes), who(outcomes[0].Actor), tc.want)
		}
	}
}

// TestUnownedReason tests the reason of an unknown writer with and without one of the kind.
func TestUnownedReason(t *testing.T) {
	t.Parallel()
	const reason = "not the default, and managedFields names no writer"
	for want, kind := range map[string]*model.Kind{reason: {}, reason + ": because": {Unowned: "because"}} {
		s := subject(value(t, `{}`), &model.Resource{OwnersFrom: "managedFields"})
		s.Kind = kind
		if got := newWalk(s, s.Claims[0], s.Live.Value, Options{}).unownedReason(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	w := &walk{subject: &model.Subject{}, live: &model.Resource{OwnersFrom: "managedFields"}}
	if got := w.unownedReason(); got != reason {
		t.Errorf("got %q, want %q", got, reason)
	}
}

// TestOwnedByController checks that an element is a controller's if a writer other than the
// declarer owns the element itself and there is evidence of its write.
func TestOwnedByController(t *testing.T) {
	t.Parallel()
	declared := `{"cpu":1,"env":[{"name":"A"}]}`
	for _, tc := range []struct {
		reason string
		owner  model.Owner
		exempt string
		want   bool
	}{
		{"it owns the element", model.Owner{Name: "tool", At: later, Fields: set(`env/{"name":"B"}`)}, "tool", true},
		{"it owns a field of the element", model.Owner{Name: "tool", At: later, Fields: set(`env/{"name":"B"}/value`)}, "tool", true},
		{"it owns another element", model.Owner{Name: "tool", At: later, Fields: set(`env/{"name":"C"}`)}, "tool", false},
		{"it owns another field", model.Owner{Name: "tool", At: later, Fields: set("cpu")}, "tool", false},
		{"it owns the list alone", model.Owner{Name: "tool", At: later, Fields: set("env")}, "tool", false},
		{"there is no evidence for it", model.Owner{Name: "hand", At: later, Fields: set(`env/{"name":"B"}`)}, "tool", false},
		{"the declarer owns the element", model.Owner{Name: "apply", Applies: true, At: created, Fields: set(`env/{"name":"B"}`)}, "apply", false},
	} {
		s := subject(value(t, declared), &model.Resource{Value: value(t, declared), Created: created,
			Owners: []model.Owner{{Name: "apply", Applies: true, At: created, Fields: set("cpu")}, tc.owner}})
		w := newWalk(s, s.Claims[0], s.Live.Value, Options{Exempt: func(write *model.Write) string {
			return map[bool]string{true: "evidence"}[write.Owner != nil && write.Owner.Name == tc.exempt]
		}})
		element := value(t, `{"name":"B"}`)
		w.path = path{fieldSegment("env"), elementSegment(s.Kind.Schema.Fields["env"], &element)}
		if got := w.ownedByController(); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestLookUp returns the value at a path, or absent.
func TestLookUp(t *testing.T) {
	t.Parallel()
	schema := testSchema()
	a, c, wheel, other := value(t, `{"name":"A"}`), value(t, `{"name":"C"}`), value(t, `"wheel"`), value(t, `"other"`)
	of := value(t, `{"spec":{"port":1,"none":null},"args":["x","y"],"env":[{"name":"A","value":"1"}],"groups":["wheel"]}`)
	env, groups := schema.Fields["env"], schema.Fields["groups"]
	for _, tc := range []struct {
		reason string
		path   path
		want   string
		ok     bool
	}{
		{"the root", path{}, texts(of), true},
		{"a field", path{fieldSegment("spec"), fieldSegment("port")}, `1`, true},
		{"an absent field", path{fieldSegment("spec"), fieldSegment("x")}, `-`, false},
		{"below an absent field", path{fieldSegment("x"), fieldSegment("y"), fieldSegment("z")}, `-`, false},
		{"below a scalar", path{fieldSegment("spec"), fieldSegment("port"), fieldSegment("x")}, `-`, false},
		{"the first position", path{fieldSegment("args"), indexSegment(0, 0)}, `"x"`, true},
		{"the last position", path{fieldSegment("args"), indexSegment(1, 1)}, `"y"`, true},
		{"behind the last position", path{fieldSegment("args"), indexSegment(2, 2)}, `-`, false},
		{"a position in no list", path{fieldSegment("spec"), indexSegment(0, 0)}, `-`, false},
		{"a named element", path{fieldSegment("env"), elementSegment(env, &a), fieldSegment("value")}, `"1"`, true},
		{"another name", path{fieldSegment("env"), elementSegment(env, &c)}, `-`, false},
		{"an element of a set", path{fieldSegment("groups"), elementSegment(groups, &wheel)}, `"wheel"`, true},
		{"another element of a set", path{fieldSegment("groups"), elementSegment(groups, &other)}, `-`, false},
		{"a name in no list", path{fieldSegment("spec"), elementSegment(env, &a)}, `-`, false},
	} {
		got, ok := lookUp(of, tc.path)
		if texts(got) != tc.want || ok != tc.ok {
			t.Errorf("%s: %s, %v, want %s, %v", tc.reason, texts(got), ok, tc.want, tc.ok)
		}
	}
}

// TestLeftToSystem checks whether the declaration's writer may have omitted a field that the
// system may fill in.
func TestLeftToSystem(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu")}
	maker := model.Owner{Name: "maker", At: created, Fields: set("cpu")}
	hand := model.Owner{Name: "hand", Delivers: true, At: later, Fields: set("port")}
	derives := &model.Schema{Extra: model.Extra{Derived: true}}
	for _, tc := range []struct {
		reason   string
		declares model.Owner
		owner    model.Owner
		schema   *model.Schema
		want     bool
	}{
		{"a field with a known default", apply, apply, &model.Schema{}, false},
		{"a derived field", apply, apply, derives, true},
		{"a derived field of another writer", apply, hand, derives, false},
		{"a derived field of a maker without a record", maker, maker, derives, false},
		{"a field of a maker without a record", maker, maker, &model.Schema{}, false},
		{"a derived field whose rule is known", apply, apply, &model.Schema{Extra: model.Extra{Derived: true, Derive: func(v model.Value) model.Value { return v }}}, false},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1}`), Created: created, Owners: []model.Owner{tc.declares, hand}})
		w := walkAt(s, "port")
		if got := w.leftToSystem(&tc.owner, tc.schema); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestIsUnrecorded reports edits in the log whose writer the record of owners lacks.
func TestIsUnrecorded(t *testing.T) {
	t.Parallel()
	edit := func(change func(*model.AuditEvent)) model.AuditEvent {
		e := model.AuditEvent{Writer: "curl", Account: "alice", Actor: model.Actor{At: hour(2)}}
		if change != nil {
			change(&e)
		}
		return e
	}
	for _, tc := range []struct {
		reason string
		event  model.AuditEvent
		user   string
		want   bool
	}{
		{"an edit", edit(nil), "", true},
		{"an edit since an apply that the log has", edit(nil), "ci", true},
		{"the creation", edit(func(e *model.AuditEvent) { e.Action = model.Created }), "", false},
		{"a deletion without an account", edit(func(e *model.AuditEvent) { e.Action, e.Account = model.Deleted, "" }), "", false},
		{"an edit without an account", edit(func(e *model.AuditEvent) { e.Account = "" }), "", false},
		{"an edit of the field", edit(func(e *model.AuditEvent) { e.Fields = []string{"port"} }), "", true},
		{"an edit of another field", edit(func(e *model.AuditEvent) { e.Fields = []string{"mode"} }), "", false},
		{"an edit by a writer of the record", edit(func(e *model.AuditEvent) { e.Writer = "apply" }), "", false},
		{"an edit before an apply that the log has", edit(func(e *model.AuditEvent) { e.Actor.At = hour(0.5) }), "ci", false},
		{"an edit before an apply that only the record has", edit(func(e *model.AuditEvent) { e.Actor.At = hour(0.5) }), "", true},
		{"an edit at the time of an apply that the log has", edit(func(e *model.AuditEvent) { e.Actor.At = hour(1) }), "ci", true},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1,"port":2}`), Created: created,
			Owners: []model.Owner{{Name: "apply", Applies: true, User: tc.user, At: hour(1), Fields: set("cpu")}}})
		if got := walkAt(s, "port").isUnrecorded(&tc.event); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestExemptElement checks that an element is one exemption, unless only one field of it is
// exempt, which keeps its own path.
func TestExemptElement(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu")}
	tool := model.Owner{Name: "tool", At: later, Fields: set(`env/{"name":"B"}/name`, `env/{"name":"B"}/value`)}
	for _, tc := range []struct{ reason, element, want string }{
		{"two fields", `{"name":"B","value":"1"}`, `env[name=B] {"name":"B","value":"1"} tool: evidence`},
		{"one field", `{"name":"B"}`, `env[name=B].name B tool: evidence`},
	} {
		j := judgeWith(t, `{"cpu":1,"env":[{"name":"A"}]}`, `{"cpu":1,"env":[{"name":"A"},`+tc.element+`]}`, []model.Owner{apply, tool}, nil)
		if d := cmp.Diff(tc.want, exempted(j)); d != "" || len(j.Outcomes) > 0 {
			t.Errorf("%s: %s (-want +got):\n%s", tc.reason, show(j.Outcomes), d)
		}
	}
}

// TestMaskedFields checks that a field that the source masks is reported as a secret change if
// the log has an edit of it by another actor than the creator.
func TestMaskedFields(t *testing.T) {
	t.Parallel()
	event := func(deed model.Action, who string, fields ...string) model.AuditEvent {
		return model.AuditEvent{Action: deed, Fields: fields, Actor: model.Actor{Name: who, Confidence: model.Exact}}
	}
	for _, tc := range []struct {
		reason   string
		declared string
		events   []model.AuditEvent
		want     string
	}{
		{"nobody set it", `{"password":"x"}`, nil, ""},
		{"somebody set it", `{"password":"x"}`, []model.AuditEvent{event(model.Edited, "ann", "password")}, "changed password ann"},
		{"the last one who did", `{"password":"x"}`, []model.AuditEvent{event(model.Edited, "ann", "password"), event(model.Edited, "bob", "password")}, "changed password bob"},
		{"it is not declared", `{}`, []model.AuditEvent{event(model.Edited, "ann", "password")}, ""},
		{"somebody set another field", `{"password":"x"}`, []model.AuditEvent{event(model.Edited, "ann", "name")}, ""},
		{"somebody edited something", `{"password":"x"}`, []model.AuditEvent{event(model.Edited, "ann")}, ""},
		{"the maker set it", `{"password":"x"}`, []model.AuditEvent{event(model.Created, "ann"), event(model.Edited, "ann", "password")}, ""},
		{"another one than the maker set it", `{"password":"x"}`, []model.AuditEvent{event(model.Created, "ann"), event(model.Edited, "bob", "password")}, "changed password bob"},
		{"it was made with it", `{"password":"x"}`, []model.AuditEvent{event(model.Created, "ann", "password")}, ""},
	} {
		s := subject(value(t, tc.declared), &model.Resource{Value: value(t, `{}`)})
		s.Kind.Schema.Fields["password"], s.AuditEvents = &model.Schema{Masked: true}, tc.events
		outcomes := Compare(s, Options{})
		if d := cmp.Diff(tc.want, show(outcomes)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
		for _, o := range outcomes {
			if c := o.Changes[0]; !c.Secret || c.Declared != nil || c.Live != nil || c.Recorded != nil {
				t.Errorf("%s: %+v shows the value", tc.reason, c)
			}
		}
	}
}

// TestOrReason checks that the reason of another unknown actor replaces that of an unknown
// actor.
func TestOrReason(t *testing.T) {
	t.Parallel()
	known := model.Actor{Name: "ann", Confidence: model.Likely}
	doubted := model.Actor{Name: "bob", Confidence: model.Likely, Reason: "a doubt"}
	none := model.Actor{Name: "unknown", Confidence: model.Unknown}
	for _, tc := range []struct {
		reason   string
		a, other model.Actor
		want     string
	}{
		{"both unknown", model.UnknownActor("one"), model.UnknownActor("two"), "unknown: two"},
		{"both unknown, the other one without a reason", model.UnknownActor("one"), none, "unknown: one"},
		{"the first is known", known, model.UnknownActor("two"), "ann"},
		{"the other one is known", model.UnknownActor("one"), doubted, "unknown: one"},
		{"both are known", known, doubted, "ann"},
	} {
		if got := who(orReason(tc.a, tc.other)); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestStructured checks that two maps are compared by field, and that a map with free names, or
// a known one in a complete claim, is compared by field with an absent one.
func TestStructured(t *testing.T) {
	t.Parallel()
	open, known, none := &model.Schema{Each: &model.Schema{}}, &model.Schema{Fields: map[string]*model.Schema{"a": {}}}, &model.Schema{Fields: map[string]*model.Schema{}}
	for _, tc := range []struct {
		reason         string
		schema         *model.Schema
		declared, live string
		part, all      bool
	}{
		{"two maps", known, `{"a":1}`, `{"a":2}`, true, true},
		{"two maps without a schema", nil, `{"a":1}`, `{"a":2}`, true, true},
		{"a map with free names, and nothing", open, `{"a":1}`, ``, true, true},
		{"nothing, and a map with free names", open, ``, `{"a":1}`, false, false},
		{"a known map, and nothing", known, `{"a":1}`, ``, false, true},
		{"nothing, and a known map", known, ``, `{"a":1}`, false, true},
		{"a map without fields, and nothing", none, `{"a":1}`, ``, false, false},
		{"a map without a schema, and nothing", nil, `{"a":1}`, ``, false, false},
		{"nothing and nothing", known, ``, ``, false, false},
		{"a text, and nothing", known, `"x"`, ``, false, false},
		{"a text, and a map", known, `"x"`, `{"a":1}`, false, false},
		{"nothing, and a text", known, ``, `"x"`, false, false},
		{"a map, and a text", known, `{"a":1}`, `"x"`, false, false},
	} {
		s := subject(value(t, `{}`), &model.Resource{Value: value(t, `{}`)})
		for complete, want := range map[bool]bool{false: tc.part, true: tc.all} {
			s.Claims[0].Complete = complete
			if got := walkAt(s).structured(tc.schema, value(t, tc.declared), value(t, tc.live)); got != want {
				t.Errorf("%s, complete %v: %v, want %v", tc.reason, complete, got, want)
			}
		}
	}
}

// TestListKinds checks which lists are alike, and which are sequences.
func TestListKinds(t *testing.T) {
	t.Parallel()
	sequence := &model.Schema{List: model.Sequence}
	for _, tc := range []struct {
		a, b            string
		alike, sequence bool
	}{
		{`[]`, `[]`, true, true},
		{`[1]`, `[2]`, true, true},
		{`[1]`, `[1,2]`, false, true},
		{`[1]`, ``, false, true},
		{`[]`, ``, false, true},
		{``, ``, false, false},
		{`[]`, `"x"`, false, false},
		{`[]`, `{}`, false, false},
		{`"x"`, `"x"`, false, false},
		{`{}`, ``, false, false},
	} {
		for _, pair := range [][2]model.Value{{value(t, tc.a), value(t, tc.b)}, {value(t, tc.b), value(t, tc.a)}} {
			if got := sameLength(pair[0], pair[1]); got != tc.alike {
				t.Errorf("%s: alike %v, want %v", texts(pair[:]...), got, tc.alike)
			}
			if got := sequences(sequence, pair[0], pair[1]); got != tc.sequence {
				t.Errorf("%s: sequences %v, want %v", texts(pair[:]...), got, tc.sequence)
			}
			if sequences(nil, pair[0], pair[1]) || sequences(&model.Schema{List: model.Bag}, pair[0], pair[1]) {
				t.Errorf("%s are sequences without such a schema", texts(pair[:]...))
			}
		}
	}
}

// TestInEffect returns a live value before the restart that some of its fields need.
func TestInEffect(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason  string
		running []model.Field
		want    string
	}{
		{"nothing waits", nil, `{"cores":4,"memory":8}`},
		{"another value runs", []model.Field{{Name: "memory", Value: model.IntOf(4)}}, `{"cores":4,"memory":4}`},
		{"a field is not in effect yet", []model.Field{{Name: "memory"}}, `{"cores":4}`},
		{"a field is still in effect", []model.Field{{Name: "vga", Value: model.StringOf("std")}}, `{"cores":4,"memory":8,"vga":"std"}`},
		{"a field that never was is not in effect", []model.Field{{Name: "vga"}}, `{"cores":4,"memory":8}`},
		{"two fields wait", []model.Field{{Name: "cores", Value: model.IntOf(2)}, {Name: "memory"}}, `{"cores":2}`},
	} {
		live := &model.Resource{Value: value(t, `{"cores":4,"memory":8}`), Running: tc.running}
		if got := texts(inEffect(live)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
		if got := texts(live.Value); got != `{"cores":4,"memory":8}` {
			t.Errorf("%s: the live value became %s", tc.reason, got)
		}
	}
}
