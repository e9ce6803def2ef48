package kubernetes

import (
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// maxAwaiting bounds the pause before the next look at a kind that is defined
// and not served.
const maxAwaiting = 10 * time.Minute

// await notes the kinds that are defined and that the API server did not serve
// when it was asked for its kinds: a definition came meanwhile, or the server
// has just started. That says nothing about their objects.
func (c *cluster) await(found *look) {
	for _, l := range found.listings {
		if !definesKinds(l.kind) {
			continue
		}
		for _, definition := range l.resources {
			kind, ok := definedKind(definition.Value.At("spec"))
			if ok && !c.config.excludes(kind) && found.lacksWhole(kind, definition) {
				found.awaits = true
				found.scopes = append(found.scopes, model.Coverage{Source: found.source, Kind: kind, Reason: fmt.Sprintf(
					"it is defined, and the API server does not serve it yet; see kubectl describe crd %s", definition.Name)})
			}
		}
	}
}

// lacksWhole tells that neither a kind nor its whole group is accounted for.
func (l *look) lacksWhole(kind string, definition model.Resource) bool {
	_, served := l.catalog.find(kind)
	_, failed := l.catalog.failed[definition.Value.At("spec", "group").Str()]
	return !served && !failed
}

// definedKind returns the kind that the specification of a definition lets the
// API server serve.
func definedKind(spec model.Value) (string, bool) {
	for _, version := range spec.At("versions").Items() {
		if version.At("served").Text() == "true" {
			return kube.KindName(groupVersion(spec.At("group").Str(), version.At("name").Str()), spec.At("names", "kind").Str()), true
		}
	}
	return "", false
}

// again tells when to look anew for the kinds that are awaited; never when
// there are none.
func (l *look) again() <-chan time.Time {
	if !l.awaits {
		return nil
	}
	return time.After(min(spacing<<min(l.tries, 16), maxAwaiting))
}
