package phrase

import "github.com/driftd/driftd/internal/model"

// NextStep returns the possible next steps for a finding in one line, for notifications and pages. It does
// not suggest to accept an accepted finding.
func NextStep(f *model.Finding) string {
	switch f.Verdict {
	case model.Changed, model.Undeclared:
		if f.Accepted() {
			return "It is accepted; otherwise put it back, or adopt it in the declaration"
		}
		if f.IsDangerous() {
			return "Put it back; adopt or accept it only if it is intended"
		}
		return "Put it back, adopt it in the declaration, or accept it"
	case model.Bypassed:
		if f.IsDangerous() {
			return "Put it back; commit what was applied only if it is intended"
		}
		return "Commit what was applied, or put it back before the next apply does"
	case model.Pending:
		if f.IsUnproven() {
			return "Find out whether the declaration or the live system moved, then apply or commit"
		}
		return "Apply the declaration"
	case model.Unmanaged:
		return unmanaged(f)
	}
	return nextStepOf(f.Verdict)
}

// nextStepOf returns the ways out of a finding with a verdict that determines them.
func nextStepOf(v model.Verdict) string {
	switch v {
	case model.Conflict:
		return "Decide which of the three values is right, then commit it and apply"
	case model.Missing:
		return "Apply the declaration to create it again, or remove it from the declaration"
	case model.PendingRestart:
		return "Restart it, or withdraw the change that waits"
	case model.Codified:
		return "Renew the record: apply, or refresh the state"
	case model.Moved:
		return "Declare its new place, or move it back"
	case model.Disputed:
		return "Decide which declaration is right, and correct the other one"
	case model.Violated:
		return "Correct what the check found, or accept it"
	case model.Nondeterministic:
		return "Replace the call whose result differs each time by a value"
	}
	return "Remove the reason why it could not be compared"
}

// unmanaged returns the ways out of an unmanaged resource, with those who can be asked.
func unmanaged(f *model.Finding) string {
	ask := ""
	if _, known := f.Person(); known {
		ask = "ask who created it"
	} else if f.Owner != "" {
		ask = "ask its owner"
	}
	switch accepted := f.Accepted(); {
	case accepted && ask == "":
		return "It is accepted; otherwise declare it"
	case accepted:
		return "It is accepted; otherwise declare it, or " + ask
	case f.IsDangerous() && ask == "":
		return "Remove it; declare or accept it only if it is intended"
	case f.IsDangerous():
		return "Remove it, or " + ask + "; declare or accept it only if it is intended"
	case ask == "":
		return "Declare it, or accept it"
	}
	return "Declare it, accept it, or " + ask
}
