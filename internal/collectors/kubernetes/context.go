package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/kubeapi"
)

// A Context is a context of a kubeconfig.
type Context struct {
	Name string
	// Namespace is the default namespace of the context, or "".
	Namespace string
}

// FindContext returns the named context of a kubeconfig, or its current context if the
// name is "". An error names the file and the next step.
func FindContext(kubeconfig, context string) (Context, error) {
	config, err := kubeapi.LoadingRules(kubeconfig).Load()
	if err != nil {
		return Context{}, fmt.Errorf("read kubeconfig: %w", kubeapi.FirstLine(err))
	}
	name := cmp.Or(context, config.CurrentContext)
	known := slices.Sorted(maps.Keys(config.Contexts))
	switch {
	case len(known) == 0:
		return Context{}, fmt.Errorf("no kubeconfig context was found: set a file with --kubeconfig or $KUBECONFIG, or compare with a dump (--live FILE)")
	case name == "":
		return Context{}, fmt.Errorf("the kubeconfig has no current context: choose one of %s with --context", strings.Join(known, ", "))
	case config.Contexts[name] == nil:
		return Context{}, fmt.Errorf("the kubeconfig has no context %q: choose one of %s", name, strings.Join(known, ", "))
	}
	return Context{Name: name, Namespace: config.Contexts[name].Namespace}, nil
}
