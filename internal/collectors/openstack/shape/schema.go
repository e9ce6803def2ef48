package shape

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Schemas returns how every kind is compared, by name. No schema is closed: a
// declaration that speaks of some fields leaves the others be.
func Schemas() map[string]*model.Kind {
	all := map[string]*model.Kind{}
	for _, k := range Kinds() {
		all[k.Name] = &model.Kind{Name: k.Name, Namespaced: k.Belongs != ToNobody, Labels: k.labels, Severities: k.rates, Exposed: exposed(k.Name),
			Schema: &model.Schema{Fields: schemaOf(slices.Concat(k.fields, k.joined))}}
	}
	return all
}

// A rate rates drift of some fields, or, without fields, of the resource.
type rate struct {
	// verdicts are those that it speaks of; without any those that tell of
	// fields.
	verdicts []model.Verdict
	fields   string
	// where are what the live resource must hold.
	where    []model.Condition
	severity model.Severity
	why      string
}

// edited are the verdicts that tell of single fields.
func edited() []model.Verdict {
	return []model.Verdict{model.Changed, model.Undeclared, model.Disputed, model.Conflict}
}

func unmanaged() []model.Verdict { return []model.Verdict{model.Unmanaged} }

// is asks for one of some texts in a field.
func is(field string, texts ...string) []model.Condition {
	return []model.Condition{{Path: field, In: texts}}
}

func severities(rates []rate) []model.SeverityRule {
	var rules []model.SeverityRule
	for _, r := range rates {
		rule := model.SeverityRule{Verdicts: r.verdicts, Where: r.where, Severity: r.severity, Reason: r.why}
		if rule.Verdicts == nil {
			rule.Verdicts = edited()
		}
		if r.fields == "" {
			rules = append(rules, rule)
		}
		for name := range strings.FieldsSeq(r.fields) {
			rule.Path = name
			rules = append(rules, rule)
		}
	}
	return rules
}
