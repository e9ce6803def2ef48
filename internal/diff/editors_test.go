package diff

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// handOwner returns a manual writer at an hour; "apply" applies the declaration.
func handOwner(name string, at float64, paths ...string) model.Owner {
	return model.Owner{Name: name, Applies: name == "apply", At: hour(at), Fields: set(paths...)}
}

// TestChangedBy names the actor of a changed field: the last writer other than the
// declaration's own, unless the latter was used for an edit.
func TestChangedBy(t *testing.T) {
	t.Parallel()
	update := handOwner("ci", 3, "cpu", "port")
	records := model.Owner{Name: "kubectl", Records: true, At: hour(1), Fields: set("cpu", "port")}
	for _, tc := range []struct {
		reason string
		owners []model.Owner
		record bool
		want   string
	}{
		{"a hand", []model.Owner{handOwner("apply", 1, "cpu"), handOwner("a", 2, "port")}, false, "a"},
		{"the later of two", []model.Owner{handOwner("apply", 1, "cpu"), handOwner("a", 2, "port"), handOwner("b", 3, "port")}, false, "b"},
		{"the later of two, in any order", []model.Owner{handOwner("b", 3, "port"), handOwner("a", 2, "port"), handOwner("apply", 1, "cpu")}, false, "b"},
		{"a hand before the declaration was applied again", []model.Owner{handOwner("apply", 9, "cpu", "port"), handOwner("a", 2, "port")}, false, "a"},
		{"a writer that applied it by an update", []model.Owner{update}, false, "ci"},
		{"an update that wrote it before a hand", []model.Owner{update, handOwner("a", 4, "port")}, false, "a"},
		{"only the applier, whose record is of fields", []model.Owner{handOwner("apply", 1, "cpu", "port")}, false,
			"unknown: managedFields keeps no trace of who removed a field"},
		{"only the applier, whose record has another value", []model.Owner{records}, true, "kubectl"},
		{"a hand beside a record", []model.Owner{records, handOwner("a", 2, "port")}, true, "a"},
		{"nobody, beside a record", []model.Owner{handOwner("apply", 1, "cpu")}, true, "unknown: managedFields keeps no trace of who removed a field"},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1,"port":2}`), Created: created.Add(-time.Hour), OwnersFrom: "managedFields", Owners: tc.owners})
		if tc.record {
			s.Live.LastApplied = pointer(value(t, `{"cpu":1,"port":1}`))
		}
		if got := who(walkAt(s, "port").changedBy()); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestRemovedBy names the actor that removed a field without an owner. It is likely if there is
// one manual writer, or if the creator did not set it.
func TestRemovedBy(t *testing.T) {
	t.Parallel()
	apply := handOwner("apply", 1, "probe/every", "cpu")
	made := model.Owner{Name: "maker", At: created, Fields: set("cpu", "probe/every")}
	edit := func(name string, at float64, fields ...string) model.AuditEvent {
		return model.AuditEvent{Writer: name, Fields: fields, Actor: model.Actor{Name: name, At: hour(at), Confidence: model.Exact}}
	}
	const nobody = "unknown: managedFields keeps no trace of who removed a field"
	for _, tc := range []struct {
		reason string
		owners []model.Owner
		events []model.AuditEvent
		kind   *model.Kind
		want   string
	}{
		{"no record of owners: the log", nil, []model.AuditEvent{edit("alice", 3)}, nil, "alice"},
		{"nobody wrote since the last apply", []model.Owner{apply}, nil, nil, nobody},
		{"one hand wrote beside it", []model.Owner{apply, handOwner("a", 2, "probe/path")}, nil, nil, "a"},
		{"one hand wrote elsewhere", []model.Owner{apply, handOwner("a", 2, "port")}, nil, nil, nobody},
		{"one hand wrote beside it before the last apply", []model.Owner{apply, handOwner("a", 0.5, "probe/path")}, nil, nil, nobody},
		{"two hands wrote", []model.Owner{apply, handOwner("b", 2, "probe/path"), handOwner("a", 3, "port")}, nil, nil,
			nobody + ", and several wrote since the last apply: a, b"},
		{"a log names who did", []model.Owner{apply, handOwner("alice", 2, "port")}, []model.AuditEvent{edit("alice", 2)}, nil, "alice"},
		{"a log names the field", []model.Owner{apply, handOwner("b", 2, "port")}, []model.AuditEvent{edit("alice", 2, "probe.path")}, nil, "alice"},
		{"a log names another field", []model.Owner{apply}, []model.AuditEvent{edit("alice", 2, "port")}, nil, nobody},
		{"a log names two", []model.Owner{apply}, []model.AuditEvent{edit("alice", 2), edit("bob", 3)}, nil,
			nobody + ", and several wrote since the last apply: alice, bob"},
		{"its maker never set it", []model.Owner{made}, nil, nil, "maker"},
		{"its maker, and a hand elsewhere since", []model.Owner{made, handOwner("a", 2, "port")}, nil, nil, nobody},
		{"the kind says why nobody is known", []model.Owner{apply}, nil, &model.Kind{Schema: testSchema(), WriterUnknown: "no audit log"}, "unknown: no audit log"},
		{"a kind that does not", []model.Owner{apply}, nil, &model.Kind{Schema: testSchema()}, nobody},
	} {
		s := subject(value(t, `{"cpu":1,"probe":{"every":1}}`), &model.Resource{Value: value(t, `{"cpu":1,"probe":{"every":1}}`), Created: created,
			OwnersFrom: "managedFields", Owners: tc.owners})
		s.AuditEvents, s.Kind = tc.events, tc.kind
		if got := who(walkAt(s, "probe", "path").removedBy()); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestNamedEditors bounds the names in a reason, and names each once.
func TestNamedEditors(t *testing.T) {
	t.Parallel()
	owners := []model.Owner{handOwner("apply", 1, "cpu")}
	for _, name := range []string{"g", "f", "e", "d", "c", "b", "a"} {
		owners = append(owners, handOwner(name, 2, "port"))
	}
	owners[1].Before = []string{"a", "z"}
	s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1}`), Created: created, OwnersFrom: "managedFields", Owners: owners})
	w := walkAt(s, "mode")
	if got := strings.Join(w.editorNames(w.editorsSinceApply()), " "); got != "a b c d e f g z" {
		t.Errorf("editors %s", got)
	}
	if got := w.removedBy().Reason; !strings.HasSuffix(got, ": a, b, c, d, e") {
		t.Errorf("reason %q, want five names", got)
	}
}

// TestSoleEditor names the only person who can have edited the resource since the last apply.
func TestSoleEditor(t *testing.T) {
	t.Parallel()
	edit := func(name, writer string, at float64, fields ...string) model.AuditEvent {
		return model.AuditEvent{Writer: writer, Fields: fields, Actor: model.Actor{Name: name, At: hour(at), Confidence: model.Exact}}
	}
	made := edit("alice", "curl", 3)
	made.Action = model.Created
	robot := edit("robot", "ctrl-x", 3)
	for _, tc := range []struct {
		reason string
		hands  []string
		events []model.AuditEvent
		want   string
	}{
		{"no log", nil, nil, ""},
		{"one edit", nil, []model.AuditEvent{edit("alice", "curl", 3)}, "alice"},
		{"two edits of one person", nil, []model.AuditEvent{edit("alice", "curl", 3), edit("alice", "kubectl", 4)}, "alice"},
		{"edits of two persons", nil, []model.AuditEvent{edit("alice", "curl", 3), edit("bob", "curl", 4)}, ""},
		{"edits of two persons, the last of which names the field", nil, []model.AuditEvent{edit("alice", "curl", 3), edit("bob", "curl", 4, "port")}, "bob"},
		{"an edit of another field", nil, []model.AuditEvent{edit("alice", "curl", 3, "cpu")}, ""},
		{"an edit before the last apply", nil, []model.AuditEvent{edit("alice", "curl", 0.5)}, ""},
		{"an edit of the field before the last apply", nil, []model.AuditEvent{edit("alice", "curl", 0.5, "port")}, "alice"},
		{"the apply itself", nil, []model.AuditEvent{edit("ci", "apply", 3)}, ""},
		{"a controller", nil, []model.AuditEvent{robot}, ""},
		{"the creation", nil, []model.AuditEvent{made}, ""},
		{"a hand that the log has", []string{"curl"}, []model.AuditEvent{edit("alice", "curl", 3)}, "alice"},
		{"a hand that the log lacks", []string{"vim"}, []model.AuditEvent{edit("alice", "curl", 3)}, ""},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1,"port":2}`), Created: created,
			Owners: []model.Owner{handOwner("apply", 1, "cpu")}})
		s.AuditEvents = tc.events
		w := walkAt(s, "port")
		w.writers.controller = func(name string) bool { return strings.HasPrefix(name, "ctrl") }
		var hands []*model.Owner
		for _, name := range tc.hands {
			hands = append(hands, &model.Owner{Name: name})
		}
		got, ok := w.soleEditor(hands)
		if name := map[bool]string{true: got.Name}[ok]; name != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, name, tc.want)
		}
	}
}

// TestWriterActor names the user of a writer: the user in the log, the only editor of a write
// without a time, or the writer itself.
func TestWriterActor(t *testing.T) {
	t.Parallel()
	apply := handOwner("apply", 1, "cpu")
	timed := handOwner("vim", 2, "port")
	timeless := model.Owner{Name: "vim", Fields: set("port")}
	signed := timeless
	signed.User, signed.Evidence = "carol", "audit 7"
	edit := []model.AuditEvent{{Writer: "vim", Actor: model.Actor{Name: "alice", At: hour(3), Confidence: model.Exact}}}
	two := append(slices.Clone(edit), model.AuditEvent{Writer: "vim", Actor: model.Actor{Name: "bob", At: hour(4), Confidence: model.Exact}})
	for _, tc := range []struct {
		reason string
		owner  model.Owner
		events []model.AuditEvent
		want   string
	}{
		{"a writer", timed, nil, "vim likely"},
		{"a writer with a time, beside an edit in the log", timed, edit, "vim likely"},
		{"a writer without a time: the only editor", timeless, edit, "alice likely"},
		{"a writer without a time, and two editors", timeless, two, "vim likely"},
		{"a writer without a time, and no log", timeless, nil, "vim likely"},
		{"a user of the log", signed, nil, "carol exact"},
		{"a user of the log goes before an editor", signed, edit, "carol exact"},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Value: value(t, `{"cpu":1,"port":2}`), Created: created, Owners: []model.Owner{apply, tc.owner}})
		s.AuditEvents = tc.events
		got := walkAt(s, "port").actor(&tc.owner)
		if line := got.Name + " " + string(got.Confidence); line != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, line, tc.want)
		}
	}
}

// TestCreatorOf names the creator of a resource.
func TestCreatorOf(t *testing.T) {
	t.Parallel()
	scaled := handOwner("scaled", -5, "port")
	scaled.Through = "scale"
	made := model.AuditEvent{Action: model.Created, Actor: model.Actor{Name: "alice", At: hour(1)}}
	edited := model.AuditEvent{Action: model.Edited, Actor: model.Actor{Name: "bob", At: hour(2)}}
	for _, tc := range []struct {
		reason string
		owners []model.Owner
		events []model.AuditEvent
		want   string
	}{
		{"nobody is known", nil, nil, "unknown: the live object carries no record of its writers"},
		{"the log", []model.Owner{handOwner("a", 1, "cpu")}, []model.AuditEvent{made, edited}, "alice"},
		{"an edit is no creation", nil, []model.AuditEvent{edited}, "unknown: the live object carries no record of its writers"},
		{"the first writer", []model.Owner{handOwner("b", 2, "cpu"), handOwner("a", 1, "cpu"), handOwner("c", 3, "cpu")}, nil, "a"},
		{"a subresource is no creation", []model.Owner{scaled, handOwner("a", 1, "cpu")}, nil, "a"},
		{"a controller reacts in the same second", []model.Owner{{Name: "a", At: hour(1)}, {Name: "b", At: hour(1), Edits: true}, {Name: "c", At: hour(1), Edits: true}}, nil, "b"},
		{"a controller reacts to an apply", []model.Owner{{Name: "a", At: hour(1)}, {Name: "b", At: hour(1), Applies: true}}, nil, "b"},
		{"a controller reacts to a delivery", []model.Owner{{Name: "a", At: hour(1)}, {Name: "b", At: hour(1), Delivers: true}}, nil, "b"},
		{"the order does not matter", []model.Owner{{Name: "b", At: hour(1), Edits: true}, {Name: "a", At: hour(1)}}, nil, "b"},
		{"a tool that wrote later", []model.Owner{{Name: "a", At: hour(1)}, {Name: "b", At: hour(2), Edits: true}}, nil, "a"},
		{"a write without a time is none", []model.Owner{{Name: "x"}, handOwner("a", 1, "cpu")}, nil, "a"},
	} {
		s := &model.Subject{Live: &model.Resource{Created: created, Owners: tc.owners}, AuditEvents: tc.events}
		got := creator(s, Options{})
		if who(got) != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, who(got), tc.want)
		}
		if len(tc.events) == 0 && !got.At.Equal(created) {
			t.Errorf("%s: made at %s, want %s", tc.reason, got.At, created)
		}
	}
}
