package render

import (
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/driftd/driftd/internal/lazyregexp"
)

// Bounds of the API versions that are not known: the number that is recorded in one rendering,
// the renderings to find them, and the versions with which the chart is rendered one by one.
const (
	maxAsked    = 64
	maxSearch   = 4
	maxOneByOne = 6
)

// A cluster has the capabilities that templates see.
type cluster struct {
	*common.Capabilities

	APIVersions apiVersions
}

// apiVersions are the API versions that a cluster has. Has records the versions that the cluster
// may have or not in the unused capacity of the slice: templates can also iterate over it, so that
// it cannot be a struct.
type apiVersions []string

// newAPIVersions returns the versions of Kubernetes itself, and more.
func newAPIVersions(more ...[]string) apiVersions {
	v := slices.Concat(append([][]string{common.DefaultVersionSet}, more...)...)
	v = slices.DeleteFunc(v, func(name string) bool {
		return !isStable(name) && !slices.ContainsFunc(more, func(m []string) bool { return slices.Contains(m, name) })
	})
	return append(make([]string, 0, len(v)+maxAsked), v...)
}

// Has reports whether the cluster serves an API version (monitoring.coreos.com/v1), or a kind of an API
// version (monitoring.coreos.com/v1/PodMonitor).
func (v apiVersions) Has(name string) bool {
	if slices.Contains(v, name) || isStable(name) {
		return true
	}
	if !version().MatchString(name) {
		return false
	}
	spare := v[len(v):cap(v)]
	for i := range spare {
		if spare[i] == "" || spare[i] == name {
			spare[i] = name
			break
		}
	}
	return false
}

// asked returns the versions that Has recorded.
func (v apiVersions) asked() []string {
	spare := v[len(v):cap(v)]
	if end := slices.Index(spare, ""); end >= 0 {
		spare = spare[:end]
	}
	return slices.Clone(spare)
}

// version matches an API version, or a kind in one. No cluster has another text as its version,
// and such a text may be a value of the release.
var version = lazyregexp.New(`^(?:[a-z0-9.-]{1,100}/)?v[0-9]{1,3}(?:(?:alpha|beta)[0-9]{1,3})?(?:/[A-Z][A-Za-z0-9]{0,62})?$`)

// stable matches a version that Kubernetes keeps.
var stable = lazyregexp.New(`^v[0-9]+$`)

// isStable reports whether a version, or a kind in a version, is one of Kubernetes itself that
// it keeps. It may drop the others in each minor version.
func isStable(name string) bool {
	parts := strings.Split(name, "/")
	if stable().MatchString(parts[0]) {
		parts = append([]string{""}, parts...) // the core group
	}
	const group, kind = 2, 3
	if len(parts) < group || len(parts) > kind || !stable().MatchString(parts[1]) {
		return false
	}
	gv := schema.GroupVersion{Group: parts[0], Version: parts[1]}
	if len(parts) == group {
		return scheme.Scheme.IsVersionRegistered(gv)
	}
	return scheme.Scheme.Recognizes(gv.WithKind(parts[group]))
}

// clusters returns the chart as rendered for different clusters: first without any API version
// that is not known, then with all that the templates ask for, then with those of one group and
// version each. A chart that asks whether it is upgraded is rendered for an upgrade before each installation. A cluster for
// which the chart cannot be rendered is left out, unless there is no other one: the release could not have been installed there.
func (r *renderer) clusters() (found []rendering, asked []string, err error) {
	first := error(nil)
	open := map[string]bool{}
	once := func(have []string, revision revision) (all []rendering) {
		made, wanted, err := r.on(newAPIVersions(r.args.APIVersions, have), revision)
		if err == nil {
			all = append(all, made)
		} else if first == nil {
			first = err
		}
		for _, name := range wanted {
			open[name] = true
		}
		return all
	}
	try := func(have []string) {
		made := once(have, installation)
		if r.uses.upgrade {
			made = append(once(have, upgrade), made...)
		}
		found = append(found, made...)
	}
	try(nil)
	known := 0
	for n := 0; n < maxSearch && known < len(open); n++ {
		known = len(open)
		try(slices.Sorted(maps.Keys(open)))
	}
	if known < len(open) || len(open) >= maxAsked {
		return nil, nil, problem("the templates ask for too many API versions: list those that the cluster has in api_versions")
	}
	asked = slices.Sorted(maps.Keys(open))
	groups := byVersion(asked)
	for _, version := range slices.Sorted(maps.Keys(groups)) {
		if len(groups) > 1 && len(groups) <= maxOneByOne {
			try(groups[version])
		}
	}
	if len(found) == 0 {
		return nil, nil, first
	}
	return found, asked, nil
}

// byVersion returns the names by their group and version.
func byVersion(names []string) map[string][]string {
	all := map[string][]string{}
	for _, name := range names {
		version := name
		if parts := strings.Split(name, "/"); len(parts) > 2 {
			version = strings.Join(parts[:2], "/")
		}
		all[version] = append(all[version], name)
	}
	return all
}
