// Package terraform reads declarations that are Terraform or OpenTofu roots:
// by a plan, which tells what is declared, recorded and live, or from the
// states that they recorded.
package terraform

import (
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/mapping"
)

// Type is the type of these declarations.
const Type = "terraform"

// Definition returns the loader type "terraform". Its loaders share the places
// for plans that run at once.
func Definition() declared.Definition {
	limiter := plan.NewLimiter(0)
	d := declared.Define(Type, Defaults(), func(env declared.Env, config Config) (declared.Loader, error) {
		return open(env, config, limiter)
	})
	d.Alone = true
	return d
}

func open(env declared.Env, config Config, limiter *plan.Limiter) (declared.Loader, error) {
	if err := config.check(env); err != nil {
		return nil, err
	}
	tables, err := mapping.Load(config.Mappings...)
	if err != nil {
		return nil, err
	}
	l := &loader{env: env, config: config, tables: tables}
	if config.engine() == State {
		return newStates(l)
	}
	return newPlans(l, limiter)
}

// loader is what both engines share.
type loader struct {
	env    declared.Env
	config Config
	tables *mapping.Tables
}
