package diff

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// editOf returns the log of an edit of a field.
func editOf(field string) []model.AuditEvent {
	return []model.AuditEvent{{Action: model.Edited, Fields: []string{field}, Actor: model.Actor{Name: "alice", Confidence: model.Exact}}}
}

// TestFromTemplate checks that a field with a default in the claim has the value of the
// template.
func TestFromTemplate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason             string
		template           string
		named              bool
		generated, own     bool
		declared, recorded string
		live               string
		unread, edited     string
		want               bool
	}{
		{reason: "no template", live: `4`},
		{reason: "as the template has it", template: `{"memory":4}`, named: true, live: `4`, want: true},
		{reason: "otherwise than the template has it", template: `{"memory":4}`, named: true, live: `8`},
		{reason: "declared", template: `{"memory":4}`, named: true, declared: `2`, live: `4`},
		{reason: "declared as nothing", template: `{"memory":4}`, named: true, declared: `0`, live: `4`, want: true},
		{reason: "the template lacks it", template: `{}`, named: true, live: `8`},
		{reason: "the template is gone", named: true, live: `8`, want: true},
		{reason: "the template is gone, and it is declared", named: true, declared: `2`, live: `8`},
		{reason: "the system makes a new one", template: `{"memory":4}`, named: true, generated: true, live: `8`, want: true},
		{reason: "the template was not read", named: true, live: `8`, unread: "node down", want: true},
		{reason: "the template of another claim was not read", live: `8`, unread: "node down", want: true},
		{reason: "the template was not read, and it is declared", named: true, declared: `2`, live: `8`, unread: "node down"},
		{reason: "edited as the template has it", template: `{"memory":4}`, named: true, live: `4`, edited: "memory"},
		{reason: "another field was edited", template: `{"memory":4}`, named: true, live: `4`, edited: "cores", want: true},
		{reason: "edited, and recorded since", template: `{"memory":4}`, named: true, recorded: `4`, live: `4`, edited: "memory", want: true},
		{reason: "edited, and recorded otherwise", template: `{"memory":4}`, named: true, recorded: `2`, live: `4`, edited: "memory"},
		{reason: "edited, and the template is gone", named: true, live: `8`, edited: "memory"},
		{reason: "edited, and the template was not read", named: true, live: `8`, unread: "node down", edited: "memory"},
		{reason: "edited, recorded since, and the template was not read", named: true, recorded: `8`, live: `8`, unread: "node down", edited: "memory", want: true},
		{reason: "the system makes a new one, and the disk was edited", template: `{"memory":4}`, named: true, generated: true, live: `8`, edited: "memory", want: true},
		{reason: "as the template has it, and a clone does not get it", template: `{"memory":4}`, named: true, own: true, live: `4`},
		{reason: "the template is gone, and a clone does not get it", named: true, own: true, live: `4`},
		{reason: "the template was not read, and a clone does not get it", named: true, own: true, live: `4`, unread: "node down"},
	} {
		lens := newRenamedLens(map[string]string{"ram": "memory"}, "")
		s := &model.Subject{Live: &model.Resource{Value: value(t, `{"memory":8}`)}, Claims: []*model.Claim{{Lens: lens}}, TemplateUnread: tc.unread}
		if tc.named {
			s.Claims[0].Template = model.Ref{ID: "100"}
		}
		if tc.template != "" {
			s.Template = &model.Resource{Value: value(t, tc.template)}
		}
		if tc.edited != "" {
			s.AuditEvents = editOf(tc.edited)
		}
		w := walkAt(s, "ram")
		got := w.fromTemplate(&model.Schema{Extra: model.Extra{Generated: tc.generated, Own: tc.own}}, value(t, tc.declared), value(t, tc.recorded), value(t, tc.live))
		if got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
		if unchecked := len(w.differences) == 1 && w.differences[0].verdict == model.Unchecked; unchecked != (tc.want && tc.unread != "") {
			t.Errorf("%s: %+v", tc.reason, w.differences)
		}
	}
}

func TestTemplateThatIsGone(t *testing.T) {
	t.Parallel()
	claim := &model.Claim{Value: value(t, `{"disk":[],"node":"one"}`), Lens: newGuestLens(), RecordOnly: true, Complete: true,
		Template: model.Ref{Kind: "guest", ID: "9"}}
	s := model.Subject{Live: &model.Resource{Value: value(t, `{"disk":[{"slot":"scsi0","size":2}],"node":"two"}`)}, Claims: []*model.Claim{claim}}
	if diff := gocmp.Diff([]string{`moved node "one" "two"`}, sketch(Compare(&s, Options{}))); diff != "" {
		t.Errorf("what the template may have had is not judged, the rest is: %s", diff)
	}
}

// TestTemplateThatWasNotRead verifies that an open finding on a field that may come from an unread template is not
// compared, and that the other fields are.
func TestTemplateThatWasNotRead(t *testing.T) {
	t.Parallel()
	claim := &model.Claim{Value: value(t, `{"cpu":[{"cores":1}],"disk":[],"node":"one"}`), Lens: newGuestLens(), RecordOnly: true, Complete: true,
		Template: model.Ref{Kind: "guest", ID: "9"}}
	s := model.Subject{Live: &model.Resource{Value: value(t, `{"cores":4,"disk":[{"slot":"scsi0","size":2}],"node":"two"}`)}, Claims: []*model.Claim{claim}}
	read := s
	read.Template = &model.Resource{Value: value(t, `{"cores":2,"disk":[{"slot":"scsi0","size":2}]}`)}
	before := Compare(&read, Options{})
	if diff := gocmp.Diff([]string{"changed cpu[0].cores 1 4", `moved node "one" "two"`}, sketch(before)); diff != "" {
		t.Fatal(diff)
	}
	s.TemplateUnread = "node down"
	outcomes := Compare(&s, Options{})
	want := []string{`moved node "one" "two"`, "unchecked cpu[0].cores 1 4", `unchecked disk[0].size - 2`, `unchecked disk[0].slot - "scsi0"`}
	if diff := gocmp.Diff(want, sketch(outcomes)); diff != "" {
		t.Error(diff)
	}
	if last := outcomes[len(outcomes)-1]; last.Reason != "node down" || last.Actor.Confidence != model.Unknown {
		t.Errorf("unchecked for %q, by %+v", last.Reason, last.Actor)
	}
	if judged := (&model.Judged{Outcomes: outcomes}); judged.Checked(before[0].Changes) || !judged.Checked(before[1].Changes) {
		t.Error("the finding on the field is over, or that on the other one is not checked")
	}
}

// TestInherited verifies that a value which no claim can declare is no drift while the template has it, too, and no log
// has an edit of it.
func TestInherited(t *testing.T) {
	t.Parallel()
	stray := &model.Schema{Extra: model.Extra{Stray: true}}
	stray.Each = stray
	lens := newGuestLens()
	lens.schema.Fields["tpm"] = stray
	const template = `{"args":"-x","tpm":{"file":"s:vm-9-disk-1","version":"v2.0"}}`
	for reason, c := range map[string]struct {
		live, template string
		unread         string
		events         []model.AuditEvent
		want           []string
	}{
		"no template":      {`{"args":"-x"}`, ``, "", nil, []string{`undeclared args - "-x"`}},
		"inherited":        {`{"args":"-x"}`, template, "", nil, nil},
		"another value":    {`{"args":"-y"}`, template, "", nil, []string{`undeclared args - "-y"`}},
		"edited":           {`{"args":"-x"}`, template, "", editOf("args"), []string{`undeclared args - "-x"`}},
		"another edited":   {`{"args":"-x"}`, template, "", editOf("cores"), nil},
		"its own volume":   {`{"tpm":{"file":"s:vm-1-disk-0","version":"v2.0"}}`, template, "", nil, nil},
		"another version":  {`{"tpm":{"file":"s:vm-1-disk-0","version":"v1.2"}}`, template, "", nil, []string{`undeclared tpm.version - "v1.2"`}},
		"a new volume":     {`{"tpm":{"file":"s:vm-1-disk-0"}}`, `{}`, "", nil, []string{`undeclared tpm.file - "s:vm-1-disk-0"`}},
		"not read":         {`{"args":"-x"}`, ``, "node down", nil, []string{`unchecked args - "-x"`}},
		"not read, edited": {`{"args":"-x"}`, ``, "node down", editOf("args"), []string{`undeclared args - "-x"`}},
		"not read, absent": {`{}`, ``, "node down", nil, nil},
	} {
		for _, named := range []bool{false, true} {
			claim := &model.Claim{Value: value(t, `{}`), Lens: lens, RecordOnly: true, Complete: true}
			s := model.Subject{Live: &model.Resource{Value: value(t, c.live)}, Claims: []*model.Claim{claim}, AuditEvents: c.events, TemplateUnread: c.unread}
			if c.template != "" {
				s.Template = &model.Resource{Value: value(t, c.template)}
			}
			if named {
				s.Template, s.NamedTemplate = nil, s.Template
				s.TemplateUnread, s.NamedTemplateUnread = "", s.TemplateUnread
			}
			if diff := gocmp.Diff(c.want, sketch(Compare(&s, Options{}))); diff != "" {
				t.Errorf("%s, by name %t: %s", reason, named, diff)
			}
		}
	}
}
