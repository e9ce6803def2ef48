package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/kubeapi"
)

// A Context is a context in a kubeconfig.
type Context struct {
	Name string
	// Namespace is the default namespace of the context, or "".
	Namespace string
	// File is the kubeconfig file that contains the context.
	File string
}

// Contexts returns the contexts in a kubeconfig, sorted by name, and the name of the current one.
// If kubeconfig is "", it reads the default one, as kubectl does. It runs no credential plugin and
// connects to no cluster.
func Contexts(kubeconfig string) (all []Context, current string, err error) {
	config, err := kubeapi.LoadingRules(kubeconfig).Load()
	if err != nil {
		return nil, "", fmt.Errorf("read kubeconfig: %w", kubeapi.FirstLine(err))
	}
	for _, name := range slices.Sorted(maps.Keys(config.Contexts)) {
		if c := config.Contexts[name]; c != nil {
			all = append(all, Context{Name: name, Namespace: c.Namespace, File: c.LocationOfOrigin})
		}
	}
	return all, config.CurrentContext, nil
}

// FindContext returns the named context in a kubeconfig, or the current one if the name is "". It
// returns an error with the file and the next step if there is no such context.
func FindContext(kubeconfig, context string) (Context, error) {
	all, current, err := Contexts(kubeconfig)
	if err != nil {
		return Context{}, err
	}
	name := cmp.Or(context, current)
	known := make([]string, len(all))
	for i, c := range all {
		if known[i] = c.Name; c.Name == name {
			return c, nil
		}
	}
	switch {
	case len(known) == 0:
		return Context{}, fmt.Errorf("no kubeconfig context was found: set a file with --kubeconfig or $KUBECONFIG, or compare with a dump (--live FILE)")
	case name == "":
		return Context{}, fmt.Errorf("the kubeconfig has no current context: choose one of %s with --context", strings.Join(known, ", "))
	}
	return Context{}, fmt.Errorf("the kubeconfig has no context %q: choose one of %s", name, strings.Join(known, ", "))
}
