package table

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Edited returns the verdicts on single fields that were changed outside of a declaration.
func Edited() []model.Verdict {
	return []model.Verdict{model.Changed, model.Undeclared, model.Disputed, model.Conflict}
}

// Unmanaged returns the verdict on a resource that no declaration manages.
func Unmanaged() []model.Verdict { return []model.Verdict{model.Unmanaged} }

// Rate returns a severity rule for each of the fields, whose names are separated by spaces. If
// fields is empty, it returns one rule for the resource and all of its fields.
func Rate(severity model.Severity, reason, fields string, verdicts []model.Verdict, where ...model.Condition) []model.SeverityRule {
	var rules []model.SeverityRule
	for _, path := range paths(fields) {
		rules = append(rules, model.SeverityRule{Verdicts: verdicts, Path: path, Where: where, Severity: severity, Reason: reason})
	}
	return rules
}

// Is returns the condition that the field has one of the texts.
func Is(field string, texts ...string) model.Condition {
	return model.Condition{Path: field, In: texts}
}

// Rules returns severity rules, for the verdicts, on the fields whose forms have a severity.
func (f Fields) Rules(verdicts []model.Verdict) []model.SeverityRule {
	var rules []model.SeverityRule
	for i := range f {
		if form := &f[i].Form; form.Severity != "" {
			rules = append(rules, Rate(form.Severity, form.Reason, strings.Join(f[i].Names(), " "), verdicts)...)
		}
	}
	return rules
}

// Exposed returns the fields, whose names are separated by spaces, with the exposure. If fields is
// empty, it returns the resource as a whole.
func Exposed(what model.Exposure, fields string) []model.ExposedField {
	var all []model.ExposedField
	for _, path := range paths(fields) {
		all = append(all, model.ExposedField{Path: path, What: what})
	}
	return all
}

// paths returns the names in a text, or "" if there are none.
func paths(names string) []string {
	if all := strings.Fields(names); len(all) > 0 {
		return all
	}
	return []string{""}
}
