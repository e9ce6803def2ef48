package kube

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// notDerived returns the path of the class of an Ingress if admission did not choose it. Admission gives a new Ingress without a class the
// default one, and changes no existing one. A specification that has never changed can have an earlier default.
// https://kubernetes.io/docs/concepts/services-networking/ingress/#default-ingress-class
func (w *world) notDerived(r *model.Resource) []string {
	class := r.Value.At("spec", "ingressClassName").Str()
	if plainKind(r.Kind) != "Ingress.networking.k8s.io" || class == "" || r.Generation <= 1 || slices.Contains(w.classes, class) ||
		!w.covers("kubernetes/IngressClass.networking.k8s.io", "") {
		return nil
	}
	return []string{"spec.ingressClassName"}
}
