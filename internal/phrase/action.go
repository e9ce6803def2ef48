package phrase

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// ActionSubject returns what an action does: "put Deployment shop/web back".
func ActionSubject(n *model.ActionNotice) string {
	resource := Kind(n.Resource.Kind) + " " + n.Resource.ID
	if n.Creates {
		return "create " + resource
	}
	return "put " + resource + " back"
}

// ActionState returns the state of an action with its outcome, as in "waits for an approval".
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

// ActionFields returns the fields that an action changes, as before and after.
func ActionFields(n *model.ActionNotice) []Field {
	fields := make([]Field, len(n.Changes))
	for i := range n.Changes {
		fields[i] = NewStep(&n.Changes[i], &n.Changes[i])
	}
	return fields
}

// ActionFacts returns what else a person should know of an action, one sentence each.
func ActionFacts(n *model.ActionNotice) []string {
	var facts []string
	if n.Restarts != "" {
		facts = append(facts, "Restarts "+n.Restarts+".")
	}
	facts = append(facts, "Writes as "+n.Identity+" to "+n.Endpoint+".")
	if n.By == "" {
		facts = append(facts, "Asked for by rule "+n.Rule+".")
	} else {
		facts = append(facts, "Asked for by "+n.By+": "+n.Reason)
	}
	if len(n.Approvers) > 0 {
		facts = append(facts, "Approved by "+strings.Join(n.Approvers, ", ")+".")
	}
	if n.Waits {
		facts = append(facts, "Expires at "+Stamp(n.Expires)+".")
	}
	return facts
}

// ActionCommand returns the command that approves an action; "" if it does not wait for an approval.
func ActionCommand(n *model.ActionNotice) string {
	if !n.Waits {
		return ""
	}
	return "driftd approve " + n.ID + " --digest " + n.Digest
}
