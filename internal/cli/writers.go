package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/actuators/terraform"
	collector "github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/declared"
	declaration "github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/secret"
)

// openWriters opens the actuators of reconcile.writers. It makes no network connections, and
// returns all errors joined.
func openWriters(cfg *config.Config, estate *daemon.Estate) (reconcile.Writers, error) {
	writers := reconcile.Writers{Actuators: map[string]reconcile.Actuator{}, Appliers: map[string]reconcile.Applier{}}
	var errs []error
	for _, w := range cfg.Reconcile.Writers {
		if at := slices.IndexFunc(estate.Declarations, func(d daemon.Declaration) bool { return d.Name == w.Declaration }); at >= 0 {
			applier, err := openApplier(&estate.Declarations[at], w, estate.Secrets)
			if err != nil {
				errs = append(errs, located(err, w.Settings, "writer of declaration", w.Declaration))
				continue
			}
			writers.Appliers[w.Declaration] = applier
		}
		at := slices.IndexFunc(cfg.Sources, func(s config.Source) bool { return s.Name == w.Source })
		if at < 0 {
			continue // reported with the configuration
		}
		actuator, err := openWriter(&cfg.Sources[at], w, estate.Secrets)
		if err != nil {
			errs = append(errs, located(err, w.Settings, "writer of source", w.Source))
			continue
		}
		writers.Actuators[w.Source] = actuator
	}
	return writers, errors.Join(errs...)
}

// openWriter opens the actuator of a source, which reads autoscalers and records of other tools with the credentials of
// the source.
func openWriter(source *config.Source, w config.Writer, room *secret.Room) (reconcile.Actuator, error) {
	if source.Type != "kubernetes" {
		return nil, fmt.Errorf("it has the type %s: only sources of type kubernetes can be written to", source.Type)
	}
	settings := collector.Defaults()
	var writing kubeapi.Access
	if err := errors.Join(source.Decode(&settings), w.Decode(&writing)); err != nil {
		return nil, err
	}
	if settings.Dump != "" {
		return nil, errors.New("the source is a dump: there is nothing to write to")
	}
	reading := settings.Access()
	return kubernetes.New(kubernetes.Options{Source: w.Source, Writing: writing, Reading: &reading, Room: room})
}

// openApplier opens the actuator of a declaration.
func openApplier(d *daemon.Declaration, w config.Writer, room *secret.Room) (reconcile.Applier, error) {
	var writing declaration.Writing
	if err := w.Decode(&writing); err != nil {
		return reconcile.Applier{}, err
	}
	root, err := declaration.NewApplier(d.Loader, writing)
	if err != nil {
		return reconcile.Applier{}, err
	}
	sources := append(slices.Clone(d.Governs), declared.LiveSource(d.Name))
	return reconcile.Applier{Actuator: terraform.New(d.Name, root, digestOf(room.Sealer())), Sources: sources}, nil
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
