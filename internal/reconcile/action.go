package reconcile

import (
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A State is the state of an action.
type State string

// The states of an action. An action becomes Armed, in the store and in the audit log, before its request
// is sent.
const (
	Proposed     State = "proposed"      // Waits for approvals, or for an automatic rule.
	Approved     State = "approved"      // Approved, but not yet checked again.
	Armed        State = "armed"         // The request may have been sent.
	Written      State = "written"       // The system confirmed the change.
	Unknown      State = "unknown"       // The request may have had an effect: a person must check.
	Converged    State = "converged"     // The live resource has the declared values.
	NotConverged State = "not-converged" // The live resource has neither the declared nor the previous values.
	Failed       State = "failed"        // The system rejected the request and changed nothing.
	Refused      State = "refused"       // A guard refused the action, and no request was sent.
	Declined     State = "declined"      // A person declined the action.
	Cancelled    State = "cancelled"     // A person cancelled the action.
	Expired      State = "expired"       // The action was not approved in time.
	Superseded   State = "superseded"    // The finding or the plan changed.
)

// States returns all states in the order in which an action can pass through them.
func States() []State {
	return []State{Proposed, Approved, Armed, Written, Unknown, Converged, NotConverged, Failed, Refused, Declined,
		Cancelled, Expired, Superseded}
}

// IsOpen reports whether an action in state s is still in progress. A resource has at most one open action.
func (s State) IsOpen() bool { return s == Proposed || s == Approved || s.MayHaveWritten() }

// MayHaveWritten reports whether, in state s, a request may have changed the system but the result is not
// yet known.
func (s State) MayHaveWritten() bool { return s == Armed || s == Written || s == Unknown }

// Settlements returns the states to which a person may set an action that may have written.
func Settlements() []State { return []State{Converged, NotConverged, Failed} }

// An Action is a change of one live resource, or of its declaration, that resolves a finding.
type Action struct {
	// ID is the unique ID of the action.
	ID string `json:"id"`
	// Finding is the ID of the finding. Basis and Verdict are the basis and the verdict that it had when
	// the action was proposed.
	Finding string        `json:"finding"`
	Basis   string        `json:"basis"`
	Verdict model.Verdict `json:"verdict"`
	// Subject is the key of the resource. Name and Place are its name and place. Declaration is the name of
	// the declaration whose values it gets.
	Subject     model.Key `json:"subject"`
	Name        string    `json:"name"`
	Place       string    `json:"place,omitempty"`
	Declaration string    `json:"declaration"`
	// Revision is the commit of the declaration when the action was proposed, and later the one of the last
	// read before the action was armed.
	Revision string `json:"revision,omitempty"`
	// Drift is the actor that caused the drift. It is recorded because a revert destroys the evidence in
	// the live system.
	Drift model.Actor `json:"drift"`

	// Rule is the name of the rule that allows the action, RuleDigest is the digest of the rule's text, and
	// Mode is its mode.
	Rule       string `json:"rule"`
	RuleDigest string `json:"rule_digest"`
	Mode       Mode   `json:"mode"`
	// By is the person who requested the action, or "" for driftd itself. Via is the channel of the
	// request, and Reason the reason that the person gave. Identities are keyed digests of the identities
	// of the person.
	By         string    `json:"by,omitempty"`
	Identities []string  `json:"identities,omitempty"`
	Via        string    `json:"via,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	At         time.Time `json:"at"`
	// Expires is the time at which a proposal expires unless it is approved.
	Expires time.Time `json:"expires,omitzero"`

	// Plan is the change that the action makes. Digest is the keyed digest of the plan, to which approvals
	// refer.
	Plan   Plan   `json:"plan"`
	Digest string `json:"digest"`
	// Approvals are the approvals so far.
	Approvals []Approval `json:"approvals,omitempty"`

	State State `json:"state"`
	// Outcome is a description of the result, or "" while the action is open.
	Outcome string `json:"outcome,omitempty"`
	// Guard is the name of the guard that refused the action, or "" if none did.
	Guard string `json:"guard,omitempty"`
	// Steps are the changes of the state, oldest first.
	Steps []Step `json:"steps"`
	// Receipt identifies the write in the records of the system. It is zero until the system has answered.
	Receipt Receipt `json:"receipt,omitzero"`
}

// A Step is a change of the state of an action.
type Step struct {
	State State     `json:"state"`
	At    time.Time `json:"at"`
	// By is the person who made the change, or "" for driftd itself. No other field contains the person.
	By string `json:"by,omitempty"`
	// Note is an optional remark.
	Note string `json:"note,omitempty"`
	// Seq is the position among all steps and controls. The store sets it. It is 0 in records of older
	// versions.
	Seq uint64 `json:"seq,omitempty"`
}

// Enter adds a step that changes the state of the action.
func (a *Action) Enter(s State, at time.Time, note string) { a.EnterBy(s, at, "", note) }

// EnterBy is like Enter, but for a change that a person made with a reason.
func (a *Action) EnterBy(s State, at time.Time, by, reason string) {
	a.State = s
	a.Steps = append(a.Steps, Step{State: s, At: at, By: by, Note: reason})
	if !s.IsOpen() || s == Unknown {
		a.Outcome = reason
	}
}

// Since returns the time at which the action entered its current state.
func (a *Action) Since() time.Time {
	if len(a.Steps) == 0 {
		return a.At
	}
	return a.Steps[len(a.Steps)-1].At
}

// WroteAt returns the time at which the request may have been sent, or the zero time if it was not sent.
func (a *Action) WroteAt() time.Time {
	for _, s := range a.Steps {
		if s.State == Armed {
			return s.At
		}
	}
	return time.Time{}
}

// An Approval is the approval of a plan by one person.
type Approval struct {
	By string `json:"by"`
	// Identities are keyed digests of the identities of the person.
	Identities []string  `json:"identities,omitempty"`
	Via        string    `json:"via"`
	At         time.Time `json:"at"`
	// Digest is the value of Action.Digest when the person approved the plan.
	Digest string `json:"digest"`
	Reason string `json:"reason,omitempty"`
}

// A Plan describes the complete change that an action makes to its resource. Secret values are keyed
// digests.
type Plan struct {
	// UID identifies the resource among all that have or had the same name.
	UID string `json:"uid,omitempty"`
	// System is the UID of the system, or of the part of it that contains the resource. It is "" if UID
	// identifies the resource by itself.
	System string `json:"system,omitempty"`
	// Changes are the changes of fields, sorted by path.
	Changes []FieldChange `json:"changes"`
	// Addresses are the addresses of the resources in the declaration that the declaration's own tool
	// applies. It is empty if the plan is a request to the live system.
	Addresses []string `json:"addresses,omitempty"`
	// Also are the other findings that the same apply resolves, sorted by ID.
	Also []Covered `json:"also,omitempty"`
	// Asks is a description of the request to the tool that makes the changes. It is "" if driftd makes
	// them.
	Asks string `json:"asks,omitempty"`
	// Content is a keyed digest or a revision that identifies all changes that the tool would make and the
	// state on which they are based.
	Content string `json:"content,omitempty"`
	// Records reports whether the plan changes the declaration instead of the live resource.
	Records bool `json:"records,omitempty"`
	// Creates reports whether the plan creates the resource, and Deletes whether it deletes the resource.
	Creates bool `json:"creates,omitempty"`
	Deletes bool `json:"deletes,omitempty"`
	// Endpoint is the address of the system, and Identity the user under which driftd writes to it.
	Endpoint string `json:"endpoint"`
	Identity string `json:"identity"`
	// HandBack is the field manager to which the written fields are assigned afterwards, or "" if there is
	// none.
	HandBack string `json:"hand_back,omitempty"`
	// Restarts is a description of the processes that restart, or "" if none do.
	Restarts string `json:"restarts,omitempty"`
	// AfterRestart is a description of the changes that take effect only after a restart of the resource,
	// or "" if there are none.
	AfterRestart string `json:"after_restart,omitempty"`
	// Requests are descriptions of the requests, in order. It is empty if one request makes all changes.
	Requests []string `json:"requests,omitempty"`
	// Person is the reason why the plan requires a person, or "" if it does not.
	Person string `json:"person,omitempty"`
	// Unseen reports whether driftd has never observed the declared values on the live resource.
	Unseen bool `json:"unseen,omitempty"`
}

// A Covered is another finding that an action resolves in addition to its own.
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

// A FieldChange is a change of one field.
type FieldChange struct {
	// Address is the address of the resource, if the change is one that the same apply makes to a resource
	// other than that of the action. Otherwise it is "".
	Address string `json:"address,omitempty"`
	// Path is the path of the field in the live resource or in the declaration, in the format of
	// model.Change.
	Path string `json:"path"`
	// Old is the value that the field must have before the change, or nil if it must be absent. New is the
	// new value, or nil to remove the field.
	Old *model.Value `json:"old,omitempty"`
	New *model.Value `json:"new,omitempty"`
}

// Where returns the path, preceded by the address if there is one.
func (c *FieldChange) Where() string {
	if c.Address == "" {
		return c.Path
	}
	return c.Address + ": " + c.Path
}

// A Receipt identifies a write in the records of the system.
type Receipt struct {
	// Status is the status of the response. Request is the ID that the system assigned to the request.
	// Either may be empty.
	Status  int       `json:"status,omitempty"`
	Request string    `json:"request,omitempty"`
	At      time.Time `json:"at,omitzero"`
	// Unexpected are the paths of fields that, according to the response, the write changed although they
	// are not in the plan, or that have values other than the planned ones.
	Unexpected []string `json:"unexpected,omitempty"`
}
