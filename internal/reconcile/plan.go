package reconcile

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// Equal reports whether both plans make the same changes.
func (p *Plan) Equal(o *Plan) bool {
	same := func(a, b FieldChange) bool {
		return a.Where() == b.Where() && equal(a.Old, b.Old) && equal(a.New, b.New)
	}
	return slices.Equal(p.texts(), o.texts()) && p.Creates == o.Creates && p.Deletes == o.Deletes && p.Records == o.Records && p.Unseen == o.Unseen && slices.Equal(p.Addresses, o.Addresses) &&
		slices.Equal(p.Also, o.Also) && slices.Equal(p.Requests, o.Requests) && slices.EqualFunc(p.Changes, o.Changes, same)
}

func (p *Plan) texts() []string {
	return []string{p.UID, p.System, p.Asks, p.Content, p.Endpoint, p.Identity, p.HandBack, p.Restarts, p.AfterRestart, p.Person}
}

func equal(a, b *model.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// digestDomain begins everything that is digested, so that a digest has no other meaning.
const digestDomain = "driftd/action/v1\n"

// Digest returns the digest of the change that the plan makes to the subject of a finding. Approvals refer
// to it. Equal plans have equal digests.
func (p *Plan) Digest(digest func(text string) string, f *model.Finding) string {
	text, err := json.Marshal(struct {
		Finding, Basis string
		Subject        model.Key
		Plan           *Plan
	}{f.ID, f.Basis, f.Key, p})
	if err != nil {
		panic(fmt.Sprintf("reconcile: encode plan: %v", err)) // it consists of texts and values
	}
	return digest(digestDomain + string(text))
}

// Public returns the plan in its published form, without digests of secrets.
func (p Plan) Public() Plan {
	shown, changes := p.publicChanges(), p.Changes
	p.Changes = make([]FieldChange, len(shown))
	for i := range shown {
		p.Changes[i] = FieldChange{Address: changes[i].Address, Path: shown[i].Path, Old: shown[i].Recorded, New: shown[i].Live}
	}
	return p
}

// publicChanges returns the changes in their published form: Recorded is the value before, Live the value
// after.
func (p *Plan) publicChanges() []model.Change {
	f := model.Finding{Changes: make([]model.Change, len(p.Changes))}
	for i, c := range p.Changes {
		f.Changes[i] = model.Change{Path: c.Path, Recorded: c.Old, Live: c.New}
	}
	return f.Public().Changes
}

// Public returns the action in its published form: without digests of secrets and of identities, and with times in UTC.
func (a Action) Public() Action {
	a.Plan, a.Drift = a.Plan.Public(), a.Drift.Public()
	a.At, a.Expires, a.Receipt.At = a.At.UTC(), a.Expires.UTC(), a.Receipt.At.UTC()
	a.Approvals, a.Steps, a.Identities = slices.Clone(a.Approvals), slices.Clone(a.Steps), nil
	for i := range a.Approvals {
		a.Approvals[i].At, a.Approvals[i].Identities = a.Approvals[i].At.UTC(), nil
	}
	for i := range a.Steps {
		a.Steps[i].At = a.Steps[i].At.UTC()
	}
	return a
}
