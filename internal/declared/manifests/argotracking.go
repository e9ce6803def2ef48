package manifests

import (
	"path"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// instanceLabel is the label with which Argo CD marks the objects of an Application, if it tracks them by a label.
const instanceLabel = "app.kubernetes.io/instance"

// instance returns the value of the label of an Application's objects.
// https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/
func (r *argoReader) instance(a *application) string {
	if space := path.Dir(a.name); space != r.loader.argocd.Namespace {
		return space + "_" + a.short()
	}
	return a.short()
}

// track allows the object the value of instanceLabel that Argo CD overwrites a declared one with, if it tracks objects by the
// label. The tracking method is not in git.
func (o *object) track(instance string) {
	renderings := append([]model.Value{o.value}, o.otherwise...)
	for _, v := range renderings {
		metadata := v.At("metadata")
		labels := metadata.At("labels")
		if labels.At(instanceLabel).IsEmpty() || labels.At(instanceLabel).Str() == instance {
			continue
		}
		tracked := v.With("metadata", metadata.With("labels", labels.With(instanceLabel, model.StringOf(instance))))
		o.otherwise = append(slices.Clip(o.otherwise), tracked)
	}
	switch {
	case len(o.otherwise) < len(renderings): // nothing was added
	case o.asked == "":
		o.asked = trackingAsked
	default:
		o.asked += ", and " + trackingAsked
	}
}

const trackingAsked = "the tracking method of Argo CD"
