package kube

import (
	"cmp"
	"path"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// sharedNamespaces returns, as patterns, the namespaces that clusters, installers and
// add-ons fill with their own objects. An object that a declaration puts there does not
// mean that the other objects are declared.
func sharedNamespaces() []string {
	return []string{
		"kube-system", "kube-public", "kube-node-lease",
		"kube-flannel", "calico-system", "calico-apiserver", "tigera-operator", "cilium-secrets",
		"local-path-storage",
		"cattle-*", "fleet-*", "cluster-fleet-*",
		"openshift", "openshift-*",
		"gke-managed-*", "gmp-system", "gmp-public", "config-management-system", "gatekeeper-system",
		"amazon-*", "aks-*",
	}
}

// IsShared reports whether clusters and their installers put objects into a namespace, too.
func IsShared(namespace string) bool {
	return slices.ContainsFunc(sharedNamespaces(), func(pattern string) bool {
		fits, err := path.Match(pattern, namespace)
		return err == nil && fits
	})
}

// A Governance contains the namespaces that a declaration governs.
type Governance struct {
	// Scopes lists the governed namespaces, sorted.
	Scopes []model.Scope
	// Shared lists the namespaces into which the declaration puts objects but which it does not
	// govern, because they are shared. It is sorted.
	Shared []string
}

// Governed returns the namespaces that a declaration governs: those that it declares or lists, and
// those into which it puts an object, unless they are shared. The argument places contains further
// namespaces into which it puts objects that are not among the claims.
func Governed(claims []model.Claim, places, listed []string) Governance {
	governed, used := map[string]bool{}, map[string]bool{}
	for _, name := range listed {
		governed[name] = true
	}
	for _, name := range places {
		used[name] = true
	}
	for i := range claims {
		switch c := &claims[i]; {
		case c.Kind == "kubernetes/Namespace":
			governed[c.Name] = true
		case c.Place != "" && !c.PlaceAssumed:
			used[c.Place] = true
		}
	}
	var g Governance
	for name := range used {
		switch {
		case governed[name]:
		case IsShared(name):
			g.Shared = append(g.Shared, name)
		default:
			governed[name] = true
		}
	}
	for name := range governed {
		g.Scopes = append(g.Scopes, model.Scope{Place: name})
	}
	slices.SortFunc(g.Scopes, func(a, b model.Scope) int { return cmp.Compare(a.Place, b.Place) })
	slices.Sort(g.Shared)
	return g
}
