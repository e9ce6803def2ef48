package kubernetes

import (
	"context"
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// requestedAt is the annotation that makes Flux reconcile an object now. Flux copies its value into status.lastHandledReconcileAt.
// https://fluxcd.io/flux/components/kustomize/kustomizations/#triggering-a-reconcile
const requestedAt = "reconcile.fluxcd.io/requestedAt"

// A flux asks a Kustomization of Flux, which applies all that its source has.
type flux struct{}

// offer implements asker. It refuses a Kustomization that would apply another commit than the one that driftd compares with.
func (flux) offer(ctx context.Context, reader *client, b *base, by *applied) (offer, error) {
	k := by.object
	revision := k.At("status", "lastAppliedRevision").Str()
	ready, why := conditionOf(k, "Ready")
	switch {
	case k.At("spec", "suspend").Text() == "true":
		return offer{}, refuse(guardDeclarer, "%s is suspended, and applies nothing: ask who suspended it, then run flux resume kustomization %s --namespace=%s", by.title(), by.name(), by.namespace())
	case !k.At("spec", "kubeConfig").IsNull():
		return offer{}, refuse(guardDeclarer, "%s applies to another cluster", by.title())
	case k.At("spec", "force").Text() == "true":
		return offer{}, refuse(guardScope, "%s has spec.force, with which it may delete objects and create them again", by.title())
	case !k.At("status", "observedGeneration").Equal(k.At("metadata", "generation")):
		return offer{}, refuse(guardScope, "%s was changed, and Flux has not applied that yet", by.title())
	case ready == "Unknown":
		return offer{}, refuse(guardStillSo, "%s is at work: %s: look again", by.title(), why)
	case ready != "True":
		return offer{}, refuse(guardDeclarer, "%s is not ready: %s", by.title(), why)
	case b.source.Revision == "" || commitOf(revision) != b.source.Revision:
		return offer{}, refuse(guardScope, "%s has applied %s, and declaration %s was read at %s: the request would not apply what is declared here", by.title(), revision, b.finding.Declaration, b.source.Revision)
	}
	return offer{
		asks:    fmt.Sprintf("%s to apply %s again", by.title(), revision),
		content: fmt.Sprintf("%s %s generation %s", revision, by.uid(), k.At("metadata", "generation").Text()),
	}, checkFluxSource(ctx, reader, by, revision)
}

// checkFluxSource refuses unless the source of a Kustomization has the revision that it applied.
func checkFluxSource(ctx context.Context, reader *client, by *applied, revision string) error {
	from := by.object.At("spec", "sourceRef")
	namespace, name := from.At("namespace").Str(), from.At("name").Str()
	if namespace == "" {
		namespace = by.namespace()
	}
	if kind := from.At("kind").Str(); kind != "GitRepository" {
		return refuse(guardDeclarer, "the source of %s has the kind %s, and not GitRepository: driftd cannot compare it with a commit", by.title(), kind)
	}
	source, err := reader.named(ctx, "kubernetes/GitRepository.source.toolkit.fluxcd.io", namespace, name)
	if err != nil {
		return fmt.Errorf("read GitRepository %s/%s, the source of %s: %w", namespace, name, by.title(), err)
	}
	if now := source.At("status", "artifact", "revision").Str(); now != revision {
		return refuse(guardScope, "GitRepository %s/%s has %s, which %s has not applied yet: the request would apply it", namespace, name, now, by.title())
	}
	return nil
}

// conditionOf returns the status and the message of a condition of an object.
func conditionOf(object model.Value, name string) (status, message string) {
	for _, c := range object.At("status", "conditions").Items() {
		if c.At("type").Str() == name {
			return c.At("status").Str(), c.At("message").Str()
		}
	}
	return "", "it has no condition " + name
}

// commitOf returns the commit of a revision of Flux, as in main@sha1:COMMIT, or main/COMMIT before Flux 2.
func commitOf(revision string) string { return revision[strings.LastIndexAny(revision, ":/")+1:] }

// request implements asker. It sets the annotation.
func (flux) request(_ *base, _ *applied, token string) model.Value {
	annotations := model.MapOf(model.Field{Name: requestedAt, Value: model.StringOf(token)})
	return model.MapOf(model.Field{Name: "metadata", Value: model.MapOf(model.Field{Name: "annotations", Value: annotations})})
}

// reply implements asker. Flux shows the token at the end of each pass, also of one that ended early: that does not prove that an
// object was applied.
func (flux) reply(_ *base, _, now *applied, token string) reply {
	ready, why := conditionOf(now.object, "Ready")
	if now.object.At("status", "lastHandledReconcileAt").Str() == token && (ready == "True" || ready == "False") {
		return reply{progress: ended, why: why}
	}
	return reply{why: why}
}
