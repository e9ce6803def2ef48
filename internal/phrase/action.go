package phrase

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// ActionSubject returns a description of an action: "put Deployment shop/web back".
func ActionSubject(n *model.ActionNotice) string {
	resource := Kind(n.Resource.Kind) + " " + Titled(n.Resource.ID, n.Name)
	switch {
	case n.Creates:
		return "create " + resource
	case n.Deletes:
		return "delete " + resource
	case n.Records:
		return "write " + resource + " into its declaration"
	}
	return "put " + resource + " back"
}

// Titled returns an ID followed by the name of its resource, unless the ID contains the name.
func Titled(id, name string) string {
	if strings.Contains(id, name) {
		return id
	}
	return id + " (" + name + ")"
}

// ActionState returns a description of the state of an action and its outcome: "waits for an approval".
func ActionState(n *model.ActionNotice) string {
	switch {
	case n.Waits && n.Needed > 1:
		return Number(len(n.Approvers)) + " of " + Number(n.Needed) + " approvals"
	case n.Waits:
		return "waits for an approval"
	case n.Outcome != "":
		return n.State + ": " + n.Outcome
	}
	return n.State
}

// ActionFields returns the fields that an action changes, with their values before and after.
func ActionFields(n *model.ActionNotice) []Field {
	fields := make([]Field, len(n.Changes))
	for i := range n.Changes {
		fields[i] = NewStep(&n.Changes[i], &n.Changes[i])
	}
	return fields
}

// maxApprovers bounds the persons in ActionFacts.
const maxApprovers = 5

// maxRequests bounds the requests in ActionFacts.
const maxRequests = 10

// Unseen is the warning that an action writes values that driftd has never observed live.
const Unseen = "driftd has never seen the declared values live"

// AfterRestart introduces the fields that take effect only after a restart.
const AfterRestart = "Takes effect after a stop and a start: "

// requests returns the first requests with their numbers.
func requests(list []string) Phrase {
	p := Words("Requests:")
	for i, request := range list[:min(len(list), maxRequests)] {
		p = p.Words(" "+Number(i+1)+". ").Short(request, NameLimit)
	}
	if more := len(list) - maxRequests; more > 0 {
		p = p.Words(" and " + Number(more) + " more")
	}
	return p
}

// also returns the resources of the other findings that an action puts back.
func also(n *model.ActionNotice) Phrase {
	p := Words("Also puts back " + Count(n.Others, "other finding") + ":")
	for i, key := range n.Also {
		if i > 0 {
			p = p.Words(",")
		}
		p = p.Words(" ").Short(Kind(key.Kind)+" "+key.ID, NameLimit)
	}
	if more := n.Others - len(n.Also); more > 0 {
		p = p.Words(" and " + Number(more) + " more")
	}
	return p
}

// ActionFacts returns phrases about an action: what else it puts back, whether its declared values were never
// live, the restarts and delayed effects, the actor of the drift, the user and the system of the write, the requester, the
// approvals, and the expiry.
func ActionFacts(n *model.ActionNotice) []Phrase {
	var facts []Phrase
	if n.Others > 0 {
		facts = append(facts, also(n))
	}
	if n.Unseen {
		facts = append(facts, Words(Unseen))
	}
	if n.Asks != "" {
		facts = append(facts, Words("Asks ").Short(n.Asks, ReasonLimit))
	}
	if n.Restarts != "" {
		facts = append(facts, Words("Restarts ").Short(n.Restarts, ReasonLimit))
	}
	if n.AfterRestart != "" {
		facts = append(facts, Words(AfterRestart).Short(n.AfterRestart, ReasonLimit))
	}
	if len(n.Requests) > 0 {
		facts = append(facts, requests(n.Requests))
	}
	if n.Author != "" {
		facts = append(facts, Words("The drift is by ").Person(n.Author))
	}
	if n.Endpoint != "" {
		facts = append(facts, Words("Writes as ").Short(n.Identity, NameLimit).Words(" to ").Short(n.Endpoint, NameLimit))
	}
	if n.By == "" {
		facts = append(facts, Words("Asked for by rule ").Short(n.Rule, NameLimit))
	} else {
		facts = append(facts, Words("Asked for by ").Person(n.By).Words(": ").Short(n.Reason, ReasonLimit))
	}
	if len(n.Approvers) > 0 {
		facts = append(facts, Words("Approved by ").List(n.Approvers, maxApprovers))
	}
	if n.Waits {
		facts = append(facts, Words("Expires at ").Time(Clock{}, n.Expires))
	}
	return facts
}

// ActionCommand returns the command that approves an action, or that displays it if it does not wait for an
// approval.
func ActionCommand(n *model.ActionNotice) string {
	if !n.Waits {
		return "driftd actions show " + n.ID
	}
	return "driftd approve " + n.ID + " --digest " + n.Digest
}
