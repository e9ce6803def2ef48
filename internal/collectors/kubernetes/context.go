package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ContextName returns the name of the kubeconfig context that Kubeconfig and
// Context stand for: the given one, or the current one. An error names the
// file and says what to do.
func ContextName(kubeconfig, context string) (string, error) {
	config, err := loadingRules(kubeconfig).Load()
	if err != nil {
		return "", fmt.Errorf("read kubeconfig: %w", firstLine(err))
	}
	name := cmp.Or(context, config.CurrentContext)
	known := slices.Sorted(maps.Keys(config.Contexts))
	switch {
	case len(known) == 0:
		return "", fmt.Errorf("no kubeconfig context was found: name a file with --kubeconfig or $KUBECONFIG, or compare with a dump (--live FILE)")
	case name == "":
		return "", fmt.Errorf("the kubeconfig has no current context: choose one of %s with --context", strings.Join(known, ", "))
	case config.Contexts[name] == nil:
		return "", fmt.Errorf("the kubeconfig has no context %q: choose one of %s", name, strings.Join(known, ", "))
	}
	return name, nil
}
