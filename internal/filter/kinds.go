package filter

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/phrase"
)

// KindNames are the names under which kinds can be given: those that kubectl accepts, and the last parts of
// the kinds of other systems.
type KindNames struct {
	kubernetes kube.Names
	// present are the kinds of the findings.
	present []string
}

// NewKindNames returns the names of the built-in kinds of Kubernetes, and of the kinds that are present.
func NewKindNames(present ...string) KindNames {
	sorted := slices.Compact(slices.Sorted(slices.Values(present)))
	return KindNames{kube.NewNames(sorted), sorted}
}

// NamesOf is NewKindNames for the kinds of findings, of each of which kind returns one.
func NamesOf[T any](findings []T, kind func(T) string) KindNames {
	var present []string
	for _, f := range findings {
		if k := kind(f); len(present) == 0 || k != present[len(present)-1] && !slices.Contains(present, k) {
			present = append(present, k)
		}
	}
	return NewKindNames(present...)
}

// find returns the kinds with a name. Of kinds of Kubernetes, one that is named exactly, as
// Service is, comes before others of the same name in other groups.
func (n KindNames) find(name string) []string {
	kinds := slices.Clone(n.kubernetes.Kinds(name))
	if exact := "kubernetes/" + name; slices.Contains(kinds, exact) {
		kinds = []string{exact}
	}
	for _, kind := range n.present {
		if !strings.HasPrefix(kind, "kubernetes/") && (path.Base(kind) == name || strings.EqualFold(phrase.Kind(kind), name)) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// One returns the kind with the given name, or "" if there is none. It returns an error if there are
// several.
func (n KindNames) One(name string) (string, error) {
	switch kinds := n.find(name); len(kinds) {
	case 0:
		return "", nil
	case 1:
		return kinds[0], nil
	default:
		return "", fmt.Errorf("kind %q is ambiguous: want one of %s", name, strings.Join(kinds, ", "))
	}
}

// patterns returns the kinds that are named, and a word that names none as it is, because it may
// be a pattern.
func (n KindNames) patterns(words []string) ([]string, error) {
	patterns := slices.Clone(words)
	var errs []error
	for i, word := range words {
		kind, err := n.One(word)
		if kind != "" {
			patterns[i] = kind
		}
		errs = append(errs, err)
	}
	return patterns, errors.Join(errs...)
}

// keys returns patterns of the ends of keys for resources: as they are written, and, if the first
// part names a kind, with its full name. A namespace may then be left out.
func (n KindNames) keys(resources []string) ([]string, error) {
	var patterns []string
	var errs []error
	for _, r := range resources {
		patterns = append(patterns, r)
		name, id, ok := strings.Cut(r, "/")
		if !ok {
			continue
		}
		kind, err := n.One(name)
		if errs = append(errs, err); kind == "" {
			continue
		}
		patterns = append(patterns, kind+"/"+id)
		if !strings.Contains(id, "/") {
			patterns = append(patterns, kind+"/*/"+id)
		}
	}
	return patterns, errors.Join(errs...)
}
