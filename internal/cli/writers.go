package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/actuators/netbox"
	"github.com/driftd/driftd/internal/actuators/openstack"
	"github.com/driftd/driftd/internal/actuators/proxmox"
	"github.com/driftd/driftd/internal/actuators/terraform"
	kubernetescollector "github.com/driftd/driftd/internal/collectors/kubernetes"
	netboxcollector "github.com/driftd/driftd/internal/collectors/netbox"
	openstackcollector "github.com/driftd/driftd/internal/collectors/openstack"
	proxmoxcollector "github.com/driftd/driftd/internal/collectors/proxmox"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	declaration "github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/netboxapi"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/secret"
)

// openWriters opens the actuators of reconcile.writers. It makes no network connections, and
// returns all errors joined.
func openWriters(cfg *config.Config, estate *daemon.Estate) (reconcile.Writers, error) {
	writers := reconcile.Writers{Actuators: map[string]reconcile.Actuator{}, Appliers: map[string]reconcile.Applier{}, Recorders: map[string]reconcile.Recorder{}}
	var errs []error
	for _, w := range cfg.Reconcile.Writers {
		if at := slices.IndexFunc(estate.Declarations, func(d daemon.Declaration) bool { return d.Name == w.Declaration }); at >= 0 {
			if err := openDeclarationWriter(&writers, &estate.Declarations[at], w, cfg, estate.Secrets); err != nil {
				errs = append(errs, located(err, w.Settings, "writer of declaration", w.Declaration))
			}
			continue
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

// openDeclarationWriter opens the actuator of a declaration, and adds it to some writers.
func openDeclarationWriter(writers *reconcile.Writers, d *daemon.Declaration, w config.Writer, cfg *config.Config, room *secret.Room) (err error) {
	if d.Deriver != nil {
		writers.Recorders[d.Name], err = openRecorder(d, w, cfg)
		return err
	}
	writers.Appliers[d.Name], err = openApplier(d, w, room)
	return err
}

// openRecorder opens the actuator of a declaration that is read from a source of type netbox.
func openRecorder(d *daemon.Declaration, w config.Writer, cfg *config.Config) (reconcile.Recorder, error) {
	from := d.Deriver.From()
	at := slices.IndexFunc(cfg.Sources, func(s config.Source) bool { return s.Name == from })
	if at < 0 {
		return reconcile.Recorder{}, fmt.Errorf("its source %s is not configured", from)
	}
	settings := netboxcollector.Defaults()
	var writing netboxapi.Token
	if err := errors.Join(cfg.Sources[at].Decode(&settings), w.Decode(&writing)); err != nil {
		return reconcile.Recorder{}, err
	}
	access := settings.Access()
	access.TokenFile = writing.TokenFile
	actuator, err := netbox.New(netbox.Options{Access: access, Timeout: settings.Timeout})
	if err != nil {
		return reconcile.Recorder{}, err
	}
	return reconcile.Recorder{Actuator: actuator, Source: from, Governs: d.Governs}, nil
}

// openWriter opens the actuator of a source.
func openWriter(source *config.Source, w config.Writer, room *secret.Room) (reconcile.Actuator, error) {
	switch source.Type {
	case kubernetescollector.Type:
		return openKubernetesWriter(source, w, room)
	case proxmoxcollector.Type:
		return openProxmoxWriter(source, w, room)
	case openstackcollector.Type:
		return openOpenStackWriter(source, w)
	}
	return nil, fmt.Errorf("it has the type %s: only sources of the types kubernetes, proxmox and openstack can be written to", source.Type)
}

// openProxmoxWriter opens the actuator of a source of type proxmox, which reads with the account of the source.
func openProxmoxWriter(source *config.Source, w config.Writer, room *secret.Room) (reconcile.Actuator, error) {
	settings := proxmoxcollector.Defaults()
	var writing pveapi.Account
	if err := errors.Join(source.Decode(&settings), w.Decode(&writing)); err != nil {
		return nil, err
	}
	return proxmox.New(proxmox.Options{Reading: settings.Access(), Writing: writing, Timeout: settings.Timeout, Sealer: room.Sealer()})
}

// openOpenStackWriter opens the actuator of a source of type openstack, which reads with the account of the source.
func openOpenStackWriter(source *config.Source, w config.Writer) (reconcile.Actuator, error) {
	settings := openstackcollector.Defaults()
	var writing openstackapi.Entry
	if err := errors.Join(source.Decode(&settings), w.Decode(&writing)); err != nil {
		return nil, err
	}
	return openstack.New(openstack.Options{Reading: settings.Access(), Writing: writing, Timeout: settings.Timeout})
}

// openKubernetesWriter opens the actuator of a source of type kubernetes, which reads autoscalers and records of other
// tools with the credentials of the source.
func openKubernetesWriter(source *config.Source, w config.Writer, room *secret.Room) (reconcile.Actuator, error) {
	settings := kubernetescollector.Defaults()
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
	sources := append(slices.Clone(d.Governs), model.LiveSource(d.Name))
	return reconcile.Applier{Actuator: terraform.New(d.Name, root, digestOf(room.Sealer()), room.Value), Sources: sources}, nil
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
