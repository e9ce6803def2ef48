package kubernetes

import (
	"fmt"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// A delivery is the field manager of a tool that applies objects, also to other clusters than its own. Those leave no
// inventory in the cluster of the object.
type delivery struct{ manager, tool, ask string }

// deliveries are the field managers of the tools that would overrule another writer, or that keep a record
// of what they applied. The sources are the tools' own: common.ArgoCDSSAManager and the names of the programs, which
// are the default of client-go and of Helm's library.
func deliveries() []delivery {
	return []delivery{
		{"argocd-controller", "Argo CD", "sync its Application"},
		{"argocd-application-controller", "Argo CD", "sync its Application"},
		{"kustomize-controller", "Flux", "reconcile its Kustomization"},
		{"helm-controller", "Flux", "reconcile its HelmRelease"},
		{"helm", "Helm", "run helm upgrade with its chart and its values"},
		{"Helm", "Helm", "run helm upgrade with its chart and its values"},
		{"fleetagent", "Fleet", "force an update of its GitRepo"},
		{"work-agent", "Open Cluster Management", "change its ManifestWork"},
	}
}

// checkManagers refuses objects that a tool of deliveries wrote, according to their field managers, other than the tool that is
// asked. Every writer chooses its name: the name refuses, and allows and hides nothing.
func checkManagers(s *subject, object model.Value, asked string) *reconcile.Refusal {
	for i, entry := range object.At("metadata", "managedFields").Items() {
		if entry.At("subresource").Str() != "" {
			continue
		}
		name := entry.At("manager").Str()
		for _, d := range deliveries() {
			if d.manager == name && d.tool != asked {
				return refuse(guardDeclarer, "%s may apply it, perhaps from another cluster, since it has the field manager %s: %s. If nothing applies it with that name any more, remove the entry: %s",
					d.tool, name, d.ask, s.removal(i, name))
			}
		}
	}
	return nil
}

// removal returns the command that removes an entry of the field managers of an object, if that is still the one of
// the manager.
func (s *subject) removal(entry int, manager string) string {
	where := s.fullName()
	if s.namespace != "" {
		where = "--namespace=" + s.namespace + " " + where
	}
	const path = "/metadata/managedFields/"
	return fmt.Sprintf(`kubectl patch %s %s --type=json --patch='[{"op":"test","path":"%[3]s%[4]d/manager","value":"%[5]s"},{"op":"remove","path":"%[3]s%[4]d"}]'`,
		where, s.name, path, entry, manager)
}
