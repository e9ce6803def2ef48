package cli

import (
	"errors"
	"slices"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/secret"
)

// openWriters opens the actuators of reconcile.writers, by source. It makes no network connections, and
// returns all errors joined.
func openWriters(cfg *config.Config, room *secret.Room) (map[string]reconcile.Actuator, error) {
	writers := map[string]reconcile.Actuator{}
	var errs []error
	for _, w := range cfg.Reconcile.Writers {
		at := slices.IndexFunc(cfg.Sources, func(s config.Source) bool { return s.Name == w.Source })
		if at < 0 {
			continue // reported with the configuration
		}
		if typ := cfg.Sources[at].Type; typ != "kubernetes" {
			errs = append(errs, w.Problem("source %s has the type %s: only sources of type kubernetes can be written to", w.Source, typ))
			continue
		}
		var access kubeapi.Access
		if err := w.Decode(&access); err != nil {
			errs = append(errs, err)
			continue
		}
		actuator, err := kubernetes.New(kubernetes.Options{Source: w.Source, Writing: access, Room: room})
		if err != nil {
			errs = append(errs, located(err, w.Settings, "writer of source", w.Source))
			continue
		}
		writers[w.Source] = actuator
	}
	return writers, errors.Join(errs...)
}

// reconcileRules returns the rules for actions.
func reconcileRules(cfg *config.Config) []reconcile.Rule {
	list := make([]reconcile.Rule, len(cfg.Reconcile.Rules))
	for i := range cfg.Reconcile.Rules {
		list[i] = cfg.Reconcile.Rules[i].Rule()
	}
	return list
}

// digestOf returns a function that returns the keyed digest of a text.
func digestOf(sealer model.Sealer) func(string) string {
	return func(text string) string { return sealer.Seal(text).Text() }
}
