package plan

import (
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/secret"
)

// secrets returns the strings that a plan marks as sensitive, and those in its variables and
// provider configurations that have the name of a secret.
func (p *Plan) secrets() []string {
	var found []string
	add := func(text string) { found = append(found, text) }
	collect := func(values, marked any) {
		m := &marks{}
		m.add(marked)
		m.collect(valueOf(values), add)
	}
	for _, s := range p.recorded() {
		collect(s.AttributeValues, sensitiveValues(s))
	}
	for _, list := range [][]*tfjson.ResourceChange{p.ResourceDrift, p.ResourceChanges} {
		for _, c := range list {
			collect(c.Change.Before, c.Change.BeforeSensitive)
			collect(c.Change.After, c.Change.AfterSensitive)
		}
	}
	if p.Config != nil {
		p.variableSecrets(add)
		p.providerSecrets(add)
	}
	return found
}

// variableSecrets finds the secrets in the root's variables.
func (p *Plan) variableSecrets(found func(string)) {
	if p.Config.RootModule == nil {
		return
	}
	for name, v := range p.Config.RootModule.Variables {
		switch value := p.Variables[name]; {
		case value == nil:
		case v != nil && v.Sensitive:
			texts(valueOf(value.Value), found)
		case secret.Name(name):
			texts(valueOf(value.Value), unlessPlace(found))
		}
	}
}

// providerSecrets finds the secrets in provider configurations.
func (p *Plan) providerSecrets(found func(string)) {
	for _, provider := range p.Config.ProviderConfigs {
		if provider == nil {
			continue
		}
		for name, e := range provider.Expressions {
			if e == nil || e.ExpressionData == nil || !secret.Name(name) {
				continue
			}
			texts(valueOf(e.ConstantValue), unlessPlace(found))
			for _, reference := range e.References {
				if v := p.Variables[strings.TrimPrefix(reference, "var.")]; v != nil {
					texts(valueOf(v.Value), unlessPlace(found))
				}
			}
		}
	}
}
