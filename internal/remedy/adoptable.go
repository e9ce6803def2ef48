package remedy

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Adoptable returns why driftd adopt does not try to adopt a finding; "" if it tries. It is the only
// place that decides this: a suggestion names the command exactly for these findings. The scan that
// proves an edit may still refuse it.
func Adoptable(f *model.Finding, facts Facts) (why string) {
	secret := slices.IndexFunc(f.Changes, func(c model.Change) bool { return c.Secret })
	switch {
	case !f.Resolved.IsZero():
		return "the finding is resolved: there is nothing to adopt"
	case f.Verdict == model.Unmanaged:
		return importable(f, facts)
	case !slices.Contains([]model.Verdict{model.Changed, model.Undeclared, model.Bypassed}, f.Verdict) || len(f.Changes) == 0:
		return "the finding is " + f.VerdictText() + ", and only changed, undeclared and bypassed fields, and unmanaged resources, can be adopted"
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

func importable(f *model.Finding, facts Facts) string {
	switch {
	case facts.Import == "":
		return "no mapping table has the import ID of such resources"
	case !facts.Planned:
		return "no Terraform root that driftd plans governs " + f.Source
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
