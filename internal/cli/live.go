package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// liveFlags select the live side of a scan without a configuration.
type liveFlags struct {
	dump, kubeconfig, context, namespace string
	complete                             bool
}

func (l *liveFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&l.dump, "live", "", "compare with this dump (kubectl get … -o yaml --show-managed-fields) instead of a cluster")
	flags.BoolVar(&l.complete, "live-complete", false, "the dump is complete: a declared object that is not in it is missing")
	flags.StringVar(&l.kubeconfig, "kubeconfig", "", "kubeconfig file (default $KUBECONFIG or ~/.kube/config)")
	flags.StringVar(&l.context, "context", "", "kubeconfig context (default the current one)")
	flags.StringVarP(&l.namespace, "namespace", "n", "", "namespace of manifests that name none (default the context's, or \"default\")")
}

// checkDump returns an error if the file of --live cannot be read as a file, which is clearer
// than the error of an unreachable source.
func checkDump(name string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--live: %s does not exist: check the path", name)
	case err != nil:
		return fmt.Errorf("--live: %w", err)
	case info.IsDir():
		return fmt.Errorf("--live: %s is a folder: name the file of a dump", name)
	}
	return nil
}

func (l *liveFlags) used(cmd *cobra.Command) bool {
	for _, name := range []string{"live", "live-complete", "kubeconfig", "context", "namespace"} {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// source returns the source that the flags describe. A kind that cannot be listed in all
// namespaces is listed in the declared ones; kinds that are excluded by default are read if
// they are declared.
func (l *liveFlags) source(scope declaredScope) (config.Source, error) {
	source := config.Source{Type: kubernetes.Type, Timeout: config.Default().Schedule.Timeout, MaxMemory: config.Default().Schedule.MaxMemory}
	settings := map[string]any{"exclude_kinds": scope.excluded()}
	switch {
	case l.dump != "" && (l.kubeconfig != "" || l.context != ""):
		return source, errors.New("--live cannot be combined with --kubeconfig or --context")
	case l.dump != "":
		if err := checkDump(l.dump); err != nil {
			return source, err
		}
		settings["dump"], settings["dump_complete"] = l.dump, l.complete
		source.Name = config.NameOf(strings.TrimSuffix(filepath.Base(l.dump), filepath.Ext(l.dump)))
	case l.complete:
		return source, errors.New("--live-complete requires --live FILE")
	default:
		settings["kubeconfig"], settings["context"], settings["try_namespaces"] = l.kubeconfig, l.context, scope.namespaces
		found, err := kubernetes.FindContext(l.kubeconfig, l.context)
		if err != nil {
			return source, err
		}
		source.Name = config.NameOf(found.Name)
	}
	source.Settings = config.NewSettings("command line", settings)
	return source, nil
}

// place adds the namespaces of manifests to the settings of declarations as kubectl does: the
// namespace of --namespace, in which case no manifest may name another, or the context's. A
// dump has no context.
func (l *liveFlags) place(list []config.Declaration) error {
	settings := map[string]any{}
	switch {
	case l.namespace != "":
		if err := kubernetes.CheckNamespace(l.namespace); err != nil {
			return fmt.Errorf("--namespace: %w", err)
		}
		settings["required_namespace"] = l.namespace
	case l.dump == "":
		found, err := kubernetes.FindContext(l.kubeconfig, l.context)
		if err != nil {
			return err
		}
		if found.Namespace != "" {
			settings["default_namespace"] = found.Namespace
		}
	}
	for i := range list {
		if list[i].Type == manifests.Definition().Type { // Flux and Argo CD have namespaces of their own
			list[i].Settings = list[i].With(settings)
		}
	}
	return nil
}

// loaded is a declaration that has been read.
type loaded struct{ declaration model.Declaration }

func (l loaded) Load(context.Context) (model.Declaration, error) { return l.declaration, nil }

// declaredScope holds the namespaces and kinds that the declarations contain.
type declaredScope struct{ namespaces, kinds []string }

// excluded returns the kinds to exclude from the scan.
func (d declaredScope) excluded() []string {
	return slices.DeleteFunc(kubernetes.DefaultExcludeKinds(), func(kind string) bool {
		return slices.Contains(d.kinds, kubernetes.Type+"/"+kind)
	})
}

// preload reads the declarations first, because an unreadable folder is an error of the
// command.
func preload(ctx context.Context, list []daemon.Declaration) (declaredScope, error) {
	var d declaredScope
	for i := range list {
		read, err := list[i].Load(ctx)
		if err != nil {
			return declaredScope{}, err
		}
		for _, s := range read.Scopes {
			d.namespaces = append(d.namespaces, s.Place)
		}
		for j := range read.Claims {
			d.kinds = append(d.kinds, read.Claims[j].Kind)
			if c := &read.Claims[j]; c.Place != "" && !c.PlaceAssumed {
				d.namespaces = append(d.namespaces, c.Place)
			}
		}
		list[i].Loader = loaded{read}
	}
	slices.Sort(d.namespaces)
	d.namespaces = slices.Compact(d.namespaces)
	return d, nil
}
