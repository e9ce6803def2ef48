package kubernetes

import (
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// maxRescanPause bounds the pause before the next scan for a kind that is defined but not
// served.
const maxRescanPause = 10 * time.Minute

// addUnserved adds coverage for kinds that are defined but missing from discovery, because they
// were defined after it or because the server has just started. Their objects may exist, so the
// coverage is incomplete.
func (c *cluster) addUnserved(found *scan) {
	for _, l := range found.listings {
		if !definesKinds(l.kind) {
			continue
		}
		for _, definition := range l.resources {
			kind, ok := definedKind(definition.Value.At("spec"))
			if ok && !c.config.excludes(kind) && found.isUnserved(kind, definition) {
				found.unserved = true
				found.scopes = append(found.scopes, model.Coverage{Source: found.source, Kind: kind, Reason: fmt.Sprintf(
					"the kind is defined, but the API server does not serve it yet; see kubectl describe crd %s", definition.Name)})
			}
		}
	}
}

// isUnserved reports whether discovery has neither a defined kind nor a failure of its group.
func (sc *scan) isUnserved(kind string, definition model.Resource) bool {
	_, served := sc.catalog.find(kind)
	_, failed := sc.catalog.failed[definition.Value.At("spec", "group").Str()]
	return !served && !failed
}

// definedKind returns the name of the kind that a custom resource definition with this
// specification defines, and false if it serves no version.
func definedKind(spec model.Value) (string, bool) {
	for _, version := range spec.At("versions").Items() {
		if version.At("served").Text() == "true" {
			return kube.KindName(groupVersion(spec.At("group").Str(), version.At("name").Str()), spec.At("names", "kind").Str()), true
		}
	}
	return "", false
}

// rescan returns a channel that receives when the next scan for unserved kinds is due; nil
// if there are none.
func (sc *scan) rescan() <-chan time.Time {
	if !sc.unserved {
		return nil
	}
	return time.After(min(spacing<<min(sc.tries, 16), maxRescanPause))
}
