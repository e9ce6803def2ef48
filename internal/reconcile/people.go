package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// identityDomain begins every identity that is digested.
const identityDomain = "driftd/identity/v1\n"

// marks returns keyed digests of the identities of a person, so that a person who gets another name in the
// configuration is known again.
func (r *Reconciler) marks(person string) []string {
	if r.Identities == nil || person == "" {
		return nil
	}
	var marks []string
	for _, id := range r.Identities(person) {
		marks = append(marks, r.Options.Digest(identityDomain+id))
	}
	return marks
}

// A party is a person who asked for an action, or approves it.
type party struct {
	name  string
	marks []string
}

func (a *Action) requester() party { return party{a.By, a.Identities} }

func (p *Approval) party() party { return party{p.By, p.Identities} }

// is reports whether both are the same person, under any name.
func (p party) is(o party) bool {
	return p.name != "" && p.name == o.name || slices.ContainsFunc(p.marks, func(m string) bool { return slices.Contains(o.marks, m) })
}

// approvers judge approvals by the people of the configuration as it is now.
type approvers struct {
	// identities returns what identifies a person in the systems, as "kind:ID", and nothing for a name
	// that is none of a person; nil if there is no table of people.
	identities func(person string) []string
	// others are the findings that the action puts back besides its own, as they are now.
	others []*model.Finding
}

// made reports whether a person had a part in the drift of an action's finding, under any name. f is the finding as
// it is now; nil if it is gone. The name of a field manager is none of a person: who writes chooses it. An API token of
// Proxmox VE counts as its user.
func (s *approvers) made(name string, a *Action, f *model.Finding) bool {
	actors := []*model.Actor{&a.Drift}
	for _, f := range append(slices.Clone(s.others), f) {
		if f == nil {
			continue
		}
		actors = append(actors, &f.Actor)
		for i := range f.Changes {
			actors = append(actors, f.Changes[i].Actor, f.Changes[i].LiveActor)
		}
	}
	names := []string{name}
	if s.identities != nil {
		for _, id := range s.identities(name) {
			_, id, _ = strings.Cut(id, ":")
			names = append(names, id)
		}
	}
	return slices.ContainsFunc(actors, func(actor *model.Actor) bool {
		if actor == nil {
			return false
		}
		of := *actor
		of.Name = tokenUser(of.Name)
		return of.IsPerson() && slices.ContainsFunc(impersonated(of.Name), func(n string) bool { return slices.Contains(names, n) })
	})
}

// tokenUser returns the user of an API token of Proxmox VE: "alice@pam" of "alice@pam!cli". It returns other names as they
// are.
func tokenUser(actor string) string {
	user, _, isToken := strings.Cut(actor, "!")
	if !isToken || !strings.Contains(user, "@") {
		return actor
	}
	return user
}

// impersonated returns the names in that of an actor: "bob (by alice)" is bob, whom alice impersonated.
func impersonated(actor string) []string {
	as, by, ok := strings.Cut(strings.TrimSuffix(actor, ")"), " (by ")
	if !ok {
		return []string{actor}
	}
	return []string{actor, as, by}
}

// valid returns the approvals that count: of different persons of the configuration, none of whom asked for the action
// or had a part in the drift, and for what is to be done now.
func (s *approvers) valid(a *Action, f *model.Finding) []Approval {
	var valid []Approval
	for i := range a.Approvals {
		p := &a.Approvals[i]
		same := func(v Approval) bool { return v.party().is(p.party()) }
		known := s.identities == nil || len(s.identities(p.By)) > 0
		if p.Digest == a.Digest && p.By != "" && known && !p.party().is(a.requester()) && !s.made(p.By, a, f) && !slices.ContainsFunc(valid, same) {
			valid = append(valid, *p)
		}
	}
	return valid
}

// mayNotApprove returns why a person may not approve an action for a finding; "" if the person may. The approval is the
// one that would be added.
func (s *approvers) mayNotApprove(a *Action, f *model.Finding, p *Approval) string {
	switch {
	case p.By == "":
		return "who approves must be a person: add them to people in the configuration"
	case p.Digest != a.Digest:
		return fmt.Sprintf("that is not the digest of what would be done now: look again with `driftd actions show %s`", a.ID)
	case p.party().is(a.requester()):
		return p.By + " asked for it: another person must approve it"
	case s.made(p.By, a, f):
		return p.By + " made the drift: another person must approve it"
	case slices.ContainsFunc(a.Approvals, func(o Approval) bool { return o.Digest == p.Digest && o.party().is(p.party()) }):
		return p.By + " has approved it already"
	}
	return ""
}
