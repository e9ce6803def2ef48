package shape

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Schemas returns how every kind is compared, by name. No schema is closed: a
// declaration that speaks of some fields leaves the others be.
func Schemas() map[string]*model.Kind {
	all := map[string]*model.Kind{}
	for _, k := range Kinds() {
		fields := map[string]*model.Schema{}
		for i := range k.fields {
			fields[k.fields[i].name] = &k.fields[i].form.schema
		}
		all[k.Name] = &model.Kind{Name: k.Name, Schema: &model.Schema{Fields: fields}, Labels: "tags", Severities: k.rates, Exposed: exposed(k.Name)}
	}
	return all
}

// severities rate drift: the fields that are rated apart, what only people
// read, and then the kind.
func (e *entry) severities(k *Kind) []model.SeverityRule {
	edited := []model.Verdict{model.Changed, model.Undeclared, model.Disputed, model.Conflict}
	var rules []model.SeverityRule
	for word := range strings.FieldsSeq(e.fields) {
		if name, form, _ := strings.Cut(word, ":"); form == "secret" {
			rules = append(rules, model.SeverityRule{Verdicts: edited, Path: name, Severity: model.High, Reason: "a credential changed"})
		}
	}
	for _, r := range e.rates {
		for name := range strings.FieldsSeq(r.fields) {
			rules = append(rules, model.SeverityRule{Verdicts: edited, Path: name, Severity: r.severity, Reason: r.why})
		}
	}
	for _, name := range []string{"comments", "description", "color"} {
		if k.Has(name) {
			rules = append(rules, model.SeverityRule{Verdicts: edited, Path: name, Severity: model.Low, Reason: "a label"})
		}
	}
	if e.why != "" {
		rules = append(rules, model.SeverityRule{Verdicts: append(edited, model.Missing), Severity: model.High, Reason: e.why},
			model.SeverityRule{Verdicts: []model.Verdict{model.Unmanaged}, Severity: model.Medium, Reason: e.why})
	}
	return rules
}
