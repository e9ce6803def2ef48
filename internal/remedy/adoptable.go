package remedy

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// Adoptable returns the reason why driftd adopt does not try to adopt a finding, or "" if it tries. A
// suggestion contains the command exactly for the findings with "". The scan that verifies the edit may
// still refuse it.
func Adoptable(f *model.Finding, facts Facts) (why string) {
	adopted := Adopted(f)
	f = &adopted
	secret := slices.IndexFunc(f.Changes, func(c model.Change) bool { return c.Secret })
	switch {
	case !f.Resolved.IsZero():
		return "the finding is resolved: there is nothing to adopt"
	case f.Verdict == model.Unmanaged:
		return importable(f, facts)
	case !movedLive(f):
		return "the finding is " + f.VerdictText() + ": " + unadopted(f)
	case len(f.Changes) == 0:
		return "the finding is about the resource as a whole, and names no field"
	case facts.Declared != manifests && facts.Declared != terraform:
		return "only manifests and Terraform roots can be edited"
	case facts.Declared == terraform && !facts.Planned:
		return "the declaration is a Terraform state, and has no files to edit"
	case secret >= 0:
		return f.Changes[secret].Path + " is a secret, and its value is never written"
	case facts.Declared == terraform:
		return plainAddress(f.Address)
	}
	return linesOf(f)
}

// movedLive reports whether the live system moved, or may have moved, behind the back of the
// declaration.
func movedLive(f *model.Finding) bool {
	switch f.Verdict {
	case model.Changed, model.Undeclared, model.Bypassed:
		return true
	case model.Pending:
		return f.IsUnproven()
	}
	return false
}

// unadopted returns why findings of a verdict are not adopted.
func unadopted(f *model.Finding) string {
	switch f.Verdict {
	case model.Pending:
		return "the declaration moved, and the live system has the value before"
	case model.Missing:
		return "the live system has nothing to adopt"
	case model.Codified:
		return "the declaration has the live value already"
	case model.Conflict:
		return "the declaration moved as well, so that the live value would undo a commit"
	case model.Disputed:
		return "which of the declarations is right is not for driftd to decide"
	case model.Moved:
		return "its place is not a field that driftd edits"
	case model.PendingRestart:
		return "the declared value is accepted, and waits for a restart"
	case model.Violated, model.Nondeterministic:
		return "a failed check has no value to adopt"
	}
	return "it was not compared"
}

// Adopted returns the finding with the changes to adopt. For a pending or bypassed finding, these are only
// the changes for which a change of the declaration is not proved.
func Adopted(f *model.Finding) model.Finding {
	adopted := *f
	if f.Verdict == model.Pending && !f.Unproven {
		adopted.Changes = slices.DeleteFunc(slices.Clone(f.Changes), func(c model.Change) bool { return !c.Unproven })
	}
	return adopted
}

// Instead returns the next step for a finding that driftd adopt cannot adopt, as a part of a sentence, or
// "" if there is none. suggest is the command that prints the suggestion.
func Instead(f *model.Finding, suggest string) string {
	switch {
	case !f.Resolved.IsZero():
		return ""
	case movedLive(f) || f.Verdict == model.Unmanaged:
		return suggest + " says what to edit"
	}
	next := phrase.NextStep(f)
	return strings.ToLower(next[:1]) + next[1:] + ": see " + suggest
}

func importable(f *model.Finding, facts Facts) string {
	switch {
	case facts.Import == "":
		return "no mapping table has the import ID of such resources"
	case !facts.Planned:
		return "no Terraform root that driftd plans (engine: plan) governs " + f.Source
	}
	return ""
}

// plainAddress returns why the block of a resource has no place for the values of one instance; ""
// if it has.
func plainAddress(address string) string {
	switch {
	case strings.HasPrefix(address, "module."):
		return address + " is in a module, which may have other callers"
	case strings.ContainsRune(address, '['):
		return address + " is one of several instances of a block with count or for_each"
	}
	return ""
}

// linesOf returns why the text of a manifest is not edited; "" if it is. YAML has several forms of a
// text of several lines, and the author chose one.
func linesOf(f *model.Finding) string {
	for i := range f.Changes {
		c := &f.Changes[i]
		if c.Declared != nil && strings.Contains(c.Declared.Str(), "\n") || c.Live != nil && strings.Contains(c.Live.Str(), "\n") {
			return c.Path + " has several lines"
		}
	}
	return ""
}
