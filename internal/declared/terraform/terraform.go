// Package terraform reads declarations that are Terraform or OpenTofu roots:
// by a plan, which tells what is declared, recorded and live, or from the
// states that they recorded.
package terraform

import (
	"sync"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/mapping"
)

// Type is the type of these declarations.
const Type = "terraform"

// Definition returns the loader type "terraform". Its loaders share the places
// for plans and for pulls of states that run at once, and the built-in mapping tables.
func Definition() declared.Definition {
	s := shared{plans: plan.NewLimiter(0), pulls: plan.NewLimiter(0), builtIn: sync.OnceValues(func() (*mapping.Tables, error) { return mapping.Load() })}
	d := declared.Define(Type, Defaults(), s.open)
	d.Alone = true
	return d
}

// shared is what the loaders of one definition share.
type shared struct {
	plans, pulls *plan.Limiter

	builtIn func() (*mapping.Tables, error)
}

func (s shared) open(env declared.Env, config Config) (declared.Loader, error) {
	if err := config.check(env); err != nil {
		return nil, err
	}
	tables, err := s.tables(config)
	if err != nil {
		return nil, err
	}
	l := &loader{env: env, config: config, tables: tables}
	switch {
	case config.engine() == Plan:
		return newPlans(l, s.plans)
	case len(config.State) > 0:
		return newStates(l)
	}
	return newPulls(l, s.pulls)
}

// tables returns the mapping tables.
func (s shared) tables(config Config) (*mapping.Tables, error) {
	if len(config.Mappings) == 0 {
		return s.builtIn()
	}
	return mapping.Load(config.Mappings...)
}

// loader is what both engines share.
type loader struct {
	env    declared.Env
	config Config
	tables *mapping.Tables
}
