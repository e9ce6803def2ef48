package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// The prefixes of keys in the bucket of actions: the ID of an action follows, that of an action and the
// position of the approval or of the step of a person, or that of a control. Each record has one person at most, so that
// the audit log can have a reference in place of the name.
const (
	actionPrefix   = "action\x00"
	approvalPrefix = "approval\x00"
	stepPrefix     = "step\x00"
	controlPrefix  = "control\x00"
)

// The data of the entries about actions. Persons are references.
type (
	actionData struct {
		ID       string          `json:"id"`
		State    reconcile.State `json:"state"`
		Finding  string          `json:"finding"`
		Revision string          `json:"revision,omitempty"`
		Subject  string          `json:"subject"`
		Rule     string          `json:"rule"`
		Digest   string          `json:"digest"`
		By       string          `json:"by,omitempty"`
		Endpoint string          `json:"endpoint,omitempty"`
		Identity string          `json:"identity,omitempty"`
		Request  string          `json:"request,omitempty"`
		// Person is who made the state what it is; "" for driftd itself.
		Person string `json:"person,omitempty"`
		Note   string `json:"note,omitempty"`
	}
	approvalData struct {
		Action string `json:"action"`
		Digest string `json:"digest"`
		By     string `json:"by"`
		Via    string `json:"via"`
		Reason string `json:"reason,omitempty"`
	}
	// stepPerson is who made a step of an action.
	stepPerson struct {
		By string `json:"by"`
	}
	controlData struct {
		ID     string                `json:"id"`
		Kind   reconcile.ControlKind `json:"kind"`
		Source string                `json:"source,omitempty"`
		Rule   string                `json:"rule,omitempty"`
		Until  time.Time             `json:"until,omitzero"`
		By     string                `json:"by"`
		Via    string                `json:"via"`
		Reason string                `json:"reason,omitempty"`
	}
)

// Standing returns all actions and controls, and whether the audit log is in doubt.
func (s *Store) Standing() (standing reconcile.Standing, err error) {
	err = s.view("read actions", func(t *txn) error {
		standing, err = t.standing()
		return err
	})
	return standing, err
}

// parseActing decodes a record in the bucket of actions: an Action, an Approval, a stepPerson or a
// Control.
func (c codec) parseActing(k, v []byte) (any, error) {
	prefix, id, _ := strings.Cut(string(k), "\x00")
	switch prefix + "\x00" {
	case actionPrefix:
		var a reconcile.Action
		if err := c.unpackJSON(v, &a); err != nil {
			return nil, err
		}
		if a.ID != id || len(a.Steps) == 0 {
			return nil, fmt.Errorf("%w: action %q is stored under %q, with %d steps", errCorrupt, a.ID, id, len(a.Steps))
		}
		return a, nil
	case approvalPrefix:
		var p reconcile.Approval
		err := c.unpackJSON(v, &p)
		return p, err
	case stepPrefix:
		var p stepPerson
		err := c.unpackJSON(v, &p)
		return p, err
	case controlPrefix:
		var o reconcile.Control
		err := c.unpackJSON(v, &o)
		return o, err
	}
	return nil, fmt.Errorf("%w: unknown record %q", errCorrupt, k)
}

func (t *txn) standing() (s reconcile.Standing, err error) {
	approvals, persons := map[string][]reconcile.Approval{}, map[string]string{}
	err = each(t.actions, nil, func(k, v []byte) error {
		record, err := t.parseActing(k, v)
		switch r := record.(type) {
		case reconcile.Action:
			s.History = append(s.History, r)
		case reconcile.Approval:
			_, id, _ := strings.Cut(string(k), "\x00")
			id, _, _ = strings.Cut(id, "\x00")
			approvals[id] = append(approvals[id], r)
		case stepPerson:
			persons[string(k)] = r.By
		case reconcile.Control:
			s.Controls = append(s.Controls, r)
		}
		return err
	})
	if err != nil {
		return s, err
	}
	for i := range s.History {
		a := &s.History[i]
		a.Approvals = approvals[a.ID]
		for n := range a.Steps {
			a.Steps[n].By = persons[string(stepKey(a, n))]
		}
	}
	s.Sort()
	d, err := t.readDoubt()
	if d != nil {
		s.Doubt = d.What
	}
	return s, err
}

// Propose calls propose with the stored actions and the open finding with the ID, or nil if it is
// not open, and stores the returned action in the same transaction. If propose returns an error,
// Propose stores nothing and returns that error.
func (s *Announcing) Propose(id string, propose func(*reconcile.Standing, *model.Finding) (reconcile.Action, error)) (a reconcile.Action, err error) {
	err = s.update("propose an action", func(t *txn) error {
		standing, err := t.standing()
		if err != nil {
			return err
		}
		finding, err := t.openFinding(id)
		if err != nil {
			return err
		}
		if a, err = propose(&standing, finding); err != nil {
			return err
		}
		standing.Number(&a, 0)
		if err := t.saveAction(nil, &a); err != nil {
			return err
		}
		return t.announce(s.messages, nil, &a, finding)
	})
	return a, unwrapped(err)
}

// ChangeAction calls change with the action whose ID begins with idPrefix, the stored actions, and
// the open finding of the action, or nil if it is not open. It stores the changed action in the
// same transaction, unless change returns an error. If the action becomes armed and the audit log
// cannot record that, ChangeAction stores nothing and returns an *UnrecordedError, so that no
// request is sent without a record.
func (s *Announcing) ChangeAction(idPrefix string, change func(*reconcile.Action, *reconcile.Standing, *model.Finding) error) (a reconcile.Action, err error) {
	err = s.update("change action "+idPrefix, func(t *txn) error {
		standing, err := t.standing()
		if err != nil {
			return err
		}
		was, err := reconcile.FindAction(standing.History, idPrefix)
		if err != nil {
			return err
		}
		a = was
		a.Approvals, a.Steps = slices.Clone(was.Approvals), slices.Clone(was.Steps)
		finding, err := t.openFinding(was.Finding)
		if err != nil {
			return err
		}
		if err := change(&a, &standing, finding); err != nil {
			return err
		}
		standing.Number(&a, len(was.Steps))
		if err := t.saveAction(&was, &a); err != nil {
			return err
		}
		return t.announce(s.messages, &was, &a, finding)
	})
	return a, unwrapped(err)
}

// unwrapped returns a refusal without the text around it: it is an answer, not a failure of the store.
func unwrapped(err error) error {
	if refusal := (*reconcile.Refusal)(nil); errors.As(err, &refusal) {
		return refusal
	}
	return err
}

// openFinding returns an open finding; nil if there is none with the ID.
func (t *txn) openFinding(id string) (*model.Finding, error) {
	v := t.open.get([]byte(id))
	if v == nil {
		return nil, nil
	}
	h, err := parseHead(v)
	if err != nil {
		return nil, err
	}
	f, err := t.finding(id, &h)
	return &f, err
}

// saveAction stores an action and its new approvals, and records both. was is nil for a new action.
func (t *txn) saveAction(was, a *reconcile.Action) error {
	known := 0
	if was != nil {
		known = len(was.Approvals)
	}
	for i := known; i < len(a.Approvals); i++ {
		p := a.Approvals[i]
		if err := t.putJSON(approvalKey(a, i), p); err != nil {
			return err
		}
		by, err := t.ref(p.By)
		if err != nil {
			return err
		}
		data := approvalData{a.ID, p.Digest, by, p.Via, shorten(p.Reason, maxReason)}
		if err := t.record(audit.Entry{Kind: audit.KindApproval, Time: p.At, Data: data}); err != nil {
			return err
		}
	}
	if was != nil && was.State == a.State && len(was.Steps) == len(a.Steps) {
		return nil
	}
	if err := t.putAction(was, a); err != nil {
		return err
	}
	if a.State == reconcile.Armed {
		t.strict = true
		if t.signer == nil {
			return &UnrecordedError{"it has no key"}
		}
	}
	by, err := t.ref(a.By)
	if err != nil {
		return err
	}
	last := a.Steps[len(a.Steps)-1]
	person, err := t.ref(last.By)
	if err != nil {
		return err
	}
	data := actionData{ID: a.ID, State: a.State, Finding: a.Finding, Revision: shorten(a.Revision, maxText), Person: person, Subject: shorten(a.Subject.String(), maxText), Rule: a.Rule, Digest: a.Digest, By: by,
		Endpoint: shorten(a.Plan.Endpoint, maxText), Identity: shorten(a.Plan.Identity, maxText), Request: shorten(a.Receipt.Request, maxText),
		Note: shorten(last.Note, maxText)}
	return t.record(audit.Entry{Kind: audit.KindAction, Time: a.Since(), Data: data})
}

// putAction stores an action without its approvals. It stores the persons of new steps in separate
// records.
func (t *txn) putAction(was, a *reconcile.Action) error {
	stored := *a
	stored.Approvals, stored.Steps = nil, slices.Clone(a.Steps)
	known := 0
	if was != nil {
		known = len(was.Steps)
	}
	for n := range stored.Steps {
		by := stored.Steps[n].By
		if stored.Steps[n].By = ""; by == "" || n < known {
			continue
		}
		if err := t.putJSON(stepKey(a, n), stepPerson{by}); err != nil {
			return err
		}
	}
	return t.putJSON([]byte(actionPrefix+a.ID), stored)
}

// AddControl stores a control and records it in the audit log.
func (s *Store) AddControl(c reconcile.Control) error {
	return s.update("save what a person said about actions", func(t *txn) error {
		standing, err := t.standing()
		if err != nil {
			return err
		}
		standing.NumberControl(&c)
		if err := t.putJSON([]byte(controlPrefix+c.ID), c); err != nil {
			return err
		}
		by, err := t.ref(c.By)
		if err != nil {
			return err
		}
		data := controlData{c.ID, c.Kind, c.Source, c.Rule, c.Until, by, c.Via, shorten(c.Reason, maxReason)}
		return t.record(audit.Entry{Kind: audit.KindControl, Time: c.At, Data: data})
	})
}

func (t *txn) putJSON(key []byte, v any) error {
	packed, err := t.packJSON(v)
	if err != nil {
		return err
	}
	return t.actions.put(key, packed)
}

// checkErasable returns an error if a person takes part in an action that has not ended. Without
// the name, the person could take part in it again.
func (t *txn) checkErasable(name string) error {
	standing, err := t.standing()
	if err != nil {
		return err
	}
	for i := range standing.History {
		a := &standing.History[i]
		part := a.By == name || slices.ContainsFunc(a.Approvals, func(p reconcile.Approval) bool { return p.By == name }) ||
			slices.ContainsFunc(a.Steps, func(s reconcile.Step) bool { return s.By == name })
		if a.State.IsOpen() && part {
			return &reconcile.StateError{Text: fmt.Sprintf("action %s is %s, and %s has a part in it: decline it, or wait until it is over", a.ID, a.State, name)}
		}
	}
	return nil
}

// renameActors replaces the name of a person in each action, approval, step and control, and
// removes the digests of the person's identities.
func (t *txn) renameActors(name, to string) error {
	renamed := map[string][]byte{}
	err := each(t.actions, nil, func(k, v []byte) error {
		var fields map[string]json.RawMessage
		var by string
		if err := t.unpackJSON(v, &fields); err != nil || fields["by"] == nil {
			return err
		}
		if err := parseJSON(fields["by"], &by); err != nil || by != name {
			return err
		}
		quoted, err := json.Marshal(to)
		if err != nil {
			return fmt.Errorf("encode a reference: %w", err)
		}
		fields["by"] = quoted
		delete(fields, "identities")
		renamed[string(k)], err = t.packJSON(fields)
		return err
	})
	if err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(renamed)) {
		if err := t.actions.put([]byte(k), renamed[k]); err != nil {
			return err
		}
	}
	return nil
}

// pruneActions removes the actions and controls that ended before the cut and that the guards no
// longer need.
func (p *pruner) pruneActions() error {
	s, err := p.standing()
	if err != nil {
		return err
	}
	actions, controls := s.Obsolete(p.cut.time(), p.at)
	var gone [][]byte
	for i := range actions {
		a := &actions[i]
		gone = append(gone, []byte(actionPrefix+a.ID))
		for n := range a.Approvals {
			gone = append(gone, approvalKey(a, n))
		}
		for n := range a.Steps {
			if a.Steps[n].By != "" {
				gone = append(gone, stepKey(a, n))
			}
		}
	}
	for i := range controls {
		gone = append(gone, []byte(controlPrefix+controls[i].ID))
	}
	p.removed += len(gone)
	if err := removeAll(p.actions, gone); err != nil {
		return err
	}
	return p.releaseActions(actions)
}

func stepKey(a *reconcile.Action, n int) []byte {
	return fmt.Appendf(nil, "%s%s\x00%04d", stepPrefix, a.ID, n)
}

func approvalKey(a *reconcile.Action, n int) []byte {
	return fmt.Appendf(nil, "%s%s\x00%04d", approvalPrefix, a.ID, n)
}
