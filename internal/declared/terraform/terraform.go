// Package terraform implements declarations of Terraform and OpenTofu roots. The plan engine determines
// declared, recorded and live values from a plan. The state engine reads recorded values from states.
package terraform

import (
	"errors"
	"sync"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/mapping"
)

// Type is the type of Terraform declarations.
const Type = "terraform"

// Definition returns the definition of the loader type "terraform". All its loaders share the limits on concurrent
// plans and pulls, and the built-in mapping tables.
func Definition() declared.Definition {
	s := shared{plans: plan.NewLimiter(0), pulls: plan.NewLimiter(0), builtIn: sync.OnceValues(func() (*mapping.Tables, error) { return mapping.Load() })}
	d := declared.Define(Type, Defaults(), s.open)
	d.Alone, d.IsMember = true, isMember
	return d
}

// shared is shared by the loaders of one definition.
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
	case env.Check != nil && config.engine() != Plan:
		return nil, errors.New("checks: only a declaration with engine: plan reads the files of its root; remove checks, or set the engine")
	case config.engine() == Plan:
		return newPlans(l, s.plans)
	case len(config.State) > 0:
		return newStates(l)
	}
	return newPulls(l, s.pulls)
}

// tables returns the built-in mapping tables, with those of the settings if there are any.
func (s shared) tables(config Config) (*mapping.Tables, error) {
	if len(config.Mappings) == 0 {
		return s.builtIn()
	}
	return mapping.Load(config.Mappings...)
}

// loader holds the fields that both engines use.
type loader struct {
	env    declared.Env
	config Config
	tables *mapping.Tables
}
