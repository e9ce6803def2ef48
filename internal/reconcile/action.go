package reconcile

import (
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A State is the state of an action.
type State string

// The states of an action. It is armed, in the store and in the audit log, before its request is
// sent.
const (
	Proposed     State = "proposed"      // waits for an approval, or to be carried out by an automatic rule.
	Approved     State = "approved"      // is about to be checked once more.
	Armed        State = "armed"         // the request may have been sent.
	Written      State = "written"       // the system confirmed the change.
	Unknown      State = "unknown"       // the request may have had an effect: a person has to look.
	Converged    State = "converged"     // the live system is as declared.
	NotConverged State = "not-converged" // the live system is neither as declared nor as it was.
	Failed       State = "failed"        // the system rejected the request: nothing changed.
	Refused      State = "refused"       // a guard refused it: no request was sent.
	Declined     State = "declined"      // a person declined it.
	Cancelled    State = "cancelled"     // a person cancelled it.
	Expired      State = "expired"       // it was not approved in time.
	Superseded   State = "superseded"    // the finding, or what would be done, changed.
)

// States lists the states in the order of an action's life.
func States() []State {
	return []State{Proposed, Approved, Armed, Written, Unknown, Converged, NotConverged, Failed, Refused, Declined,
		Cancelled, Expired, Superseded}
}

// IsOpen reports whether an action in the state is not over. A resource has one open action at
// most.
func (s State) IsOpen() bool { return s == Proposed || s == Approved || s.MayHaveWritten() }

// MayHaveWritten reports whether a request may have changed the system, and the result is not
// known yet.
func (s State) MayHaveWritten() bool { return s == Armed || s == Written || s == Unknown }

// Settlements lists the states with which a person may settle an action that may have written.
func Settlements() []State { return []State{Converged, NotConverged, Failed} }

// An Action is a change of one live resource that puts a finding back.
type Action struct {
	// ID is unique.
	ID string `json:"id"`
	// Finding is the ID of the finding, Basis its basis, and Verdict its verdict when the action
	// was proposed.
	Finding string        `json:"finding"`
	Basis   string        `json:"basis"`
	Verdict model.Verdict `json:"verdict"`
	// Subject is the resource, Name and Place its name and place, and Declaration the declaration
	// that it is put back to.
	Subject     model.Key `json:"subject"`
	Name        string    `json:"name"`
	Place       string    `json:"place,omitempty"`
	Declaration string    `json:"declaration"`
	// Revision is the commit of the declaration: when the action was proposed, and from then on that
	// of the last read before it was armed.
	Revision string `json:"revision,omitempty"`
	// Drift is who made the drift: a revert destroys the evidence for it in the live system.
	Drift model.Actor `json:"drift"`

	// Rule is the name of the rule that allows it, RuleDigest the digest of its text, and Mode
	// its mode.
	Rule       string `json:"rule"`
	RuleDigest string `json:"rule_digest"`
	Mode       Mode   `json:"mode"`
	// By is the person who asked for it, "" for driftd itself, Via the way of the request, and Reason why.
	// Identities are keyed digests of the identities of that person.
	By         string    `json:"by,omitempty"`
	Identities []string  `json:"identities,omitempty"`
	Via        string    `json:"via,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	At         time.Time `json:"at"`
	// Expires is when a proposal ends that was not approved.
	Expires time.Time `json:"expires,omitzero"`

	// Plan is what is done, and Digest the keyed digest of it, which approvals name.
	Plan   Plan   `json:"plan"`
	Digest string `json:"digest"`
	// Approvals are those of persons.
	Approvals []Approval `json:"approvals,omitempty"`

	State State `json:"state"`
	// Outcome is what came of it, in words; "" while it is open.
	Outcome string `json:"outcome,omitempty"`
	// Guard is the name of the guard that refused it; "" if none did.
	Guard string `json:"guard,omitempty"`
	// Steps are the states that it had, oldest first.
	Steps []Step `json:"steps"`
	// Receipt is what the system answered; zero before.
	Receipt Receipt `json:"receipt,omitzero"`
}

// A Step is a change of an action's state.
type Step struct {
	State State     `json:"state"`
	At    time.Time `json:"at"`
	// By is the person who made the change; "" for driftd itself. No other field has the name.
	By string `json:"by,omitempty"`
	// Note is a remark; it may be empty.
	Note string `json:"note,omitempty"`
	// Seq is the position among all steps and controls, which the store sets; 0 in records of before.
	Seq uint64 `json:"seq,omitempty"`
}

// Enter changes the state of the action at a time.
func (a *Action) Enter(s State, at time.Time, note string) { a.EnterBy(s, at, "", note) }

// EnterBy changes the state of the action at a time for a person, who gives a reason.
func (a *Action) EnterBy(s State, at time.Time, by, reason string) {
	a.State = s
	a.Steps = append(a.Steps, Step{State: s, At: at, By: by, Note: reason})
	if !s.IsOpen() || s == Unknown {
		a.Outcome = reason
	}
}

// Since returns when the action entered its state.
func (a *Action) Since() time.Time {
	if len(a.Steps) == 0 {
		return a.At
	}
	return a.Steps[len(a.Steps)-1].At
}

// WroteAt returns when its request may have been sent; zero if it was not.
func (a *Action) WroteAt() time.Time {
	for _, s := range a.Steps {
		if s.State == Armed {
			return s.At
		}
	}
	return time.Time{}
}

// An Approval is that of one person for one plan.
type Approval struct {
	By string `json:"by"`
	// Identities are keyed digests of the identities of the person.
	Identities []string  `json:"identities,omitempty"`
	Via        string    `json:"via"`
	At         time.Time `json:"at"`
	// Digest is the Action.Digest that was approved.
	Digest string `json:"digest"`
	Reason string `json:"reason,omitempty"`
}

// A Plan is exactly what an action does to its resource. Secret values are keyed digests.
type Plan struct {
	// UID identifies the resource among those that have or had its name.
	UID string `json:"uid,omitempty"`
	// System is the UID of the system, or of a part of it that has the resource; "" if UID
	// identifies it.
	System string `json:"system,omitempty"`
	// Changes are sorted by path.
	Changes []FieldChange `json:"changes"`
	// Addresses are the addresses in the declaration of what its own tool applies; empty for a request to the live system.
	Addresses []string `json:"addresses,omitempty"`
	// Also are the other findings that the same apply puts back, sorted by ID.
	Also []Covered `json:"also,omitempty"`
	// Asks is the tool that is asked to make the changes, and for what, in words; "" if driftd makes them.
	Asks string `json:"asks,omitempty"`
	// Content identifies all that the tool would do, and the state that it would start from: a keyed digest, or a revision.
	Content string `json:"content,omitempty"`
	// Records reports whether the declaration is changed, and not the resource.
	Records bool `json:"records,omitempty"`
	// Creates reports whether the resource is created as a whole, and Deletes whether it is deleted.
	Creates bool `json:"creates,omitempty"`
	Deletes bool `json:"deletes,omitempty"`
	// Endpoint is the address of the system, and Identity the user that writes to it.
	Endpoint string `json:"endpoint"`
	Identity string `json:"identity"`
	// HandBack is the field manager that gets the written fields; "" for none.
	HandBack string `json:"hand_back,omitempty"`
	// Restarts is what restarts, in words; "" for nothing.
	Restarts string `json:"restarts,omitempty"`
	// AfterRestart is what takes effect only after a restart of the resource, in words; "" for nothing.
	AfterRestart string `json:"after_restart,omitempty"`
	// Requests are the requests one after the other, in words; empty if one makes all changes.
	Requests []string `json:"requests,omitempty"`
	// Person is what is not done without a person, in words; "" if nothing.
	Person string `json:"person,omitempty"`
	// Unseen reports whether driftd never saw the declared values live.
	Unseen bool `json:"unseen,omitempty"`
}

// A Covered is a finding that an action puts back besides its own.
type Covered struct {
	Finding string    `json:"finding"`
	Basis   string    `json:"basis"`
	Subject model.Key `json:"subject"`
}

// resources returns the resources that the action puts back: its own, and those of the findings that it covers.
func (a *Action) resources() []model.Key { return append([]model.Key{a.Subject}, a.Plan.covered()...) }

// covered returns the resources of the findings that an action puts back besides its own.
func (p *Plan) covered() (keys []model.Key) {
	for _, c := range p.Also {
		keys = append(keys, c.Subject)
	}
	return keys
}

// A FieldChange is one field that an action changes.
type FieldChange struct {
	// Address is the address of another resource than that of the action, which the same apply changes; "" otherwise.
	Address string `json:"address,omitempty"`
	// Path is the path in the live resource, or in the declaration, in the form of model.Change.
	Path string `json:"path"`
	// Old is the value that the field must have, nil for none, and New the value that it gets,
	// nil if it is removed.
	Old *model.Value `json:"old,omitempty"`
	New *model.Value `json:"new,omitempty"`
}

// Where returns the address, if there is one, and the path.
func (c *FieldChange) Where() string {
	if c.Address == "" {
		return c.Path
	}
	return c.Address + ": " + c.Path
}

// A Receipt identifies a write in the records of the system.
type Receipt struct {
	// Status is the status of the answer, and Request the system's ID of the request; both may be
	// empty.
	Status  int       `json:"status,omitempty"`
	Request string    `json:"request,omitempty"`
	At      time.Time `json:"at,omitzero"`
	// Unexpected are the paths of other fields than those of the plan that the system changed with the
	// write, and of those of the plan that have other values, according to the answer.
	Unexpected []string `json:"unexpected,omitempty"`
}
