package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// The guards of the actuator, in the order in which they are evaluated.
const (
	guardKind      = "kind"
	guardDeclarer  = "declarer"
	guardScope     = "scope"
	guardRights    = "rights"
	guardStillSo   = "still-so"
	guardRehearsal = "rehearsal"
)

func refuse(guard, format string, args ...any) *reconcile.Refusal {
	return &reconcile.Refusal{Guard: guard, Why: fmt.Sprintf(format, args...)}
}

// A forbiddenKind is a kind, or all kinds of an API group, that are never changed.
type forbiddenKind struct {
	// kind is "" for all kinds of the group. A group that begins with "*." stands for all groups
	// with that suffix.
	group, kind string
	reason      string
}

// forbiddenKinds are the kinds whose change can lose data, rights or the cluster, and those whose
// controllers create and destroy things outside of the cluster.
func forbiddenKinds() []forbiddenKind {
	const (
		data      = "data is lost if it is wrong"
		rights    = "it decides who may do what"
		serves    = "the API server itself depends on it"
		admits    = "it decides what the API server admits"
		delivers  = "it decides what a tool applies: change it in its own declaration"
		elsewhere = "its controller creates and destroys what it describes"
	)
	return []forbiddenKind{
		{"", "PersistentVolume", data},
		{"", "PersistentVolumeClaim", data},
		{"", "Namespace", "all objects in it depend on it"},
		{"", "Node", "the pods on it depend on it"},
		{"batch", "Job", "it runs its work once, and would run it again"},
		{"storage.k8s.io", "", data},
		{"*.storage.k8s.io", "", data},
		{"rbac.authorization.k8s.io", "", rights},
		{"certificates.k8s.io", "", rights},
		{"apiextensions.k8s.io", "", data},
		{"apiregistration.k8s.io", "", serves},
		{"flowcontrol.apiserver.k8s.io", "", serves},
		{"admissionregistration.k8s.io", "", admits},
		{"kyverno.io", "", admits},
		{"*.kyverno.io", "", admits},
		{"*.gatekeeper.sh", "", admits},
		{"*.fluxcd.io", "", delivers},
		{"helm.cattle.io", "", delivers},
		{"fleet.cattle.io", "", delivers},
		{"argoproj.io", "Application", delivers},
		{"argoproj.io", "ApplicationSet", delivers},
		{"argoproj.io", "AppProject", delivers},
		{"*.crossplane.io", "", elsewhere},
		{"*.upbound.io", "", elsewhere},
		{"*.cluster.x-k8s.io", "", elsewhere},
		{"cluster.x-k8s.io", "", elsewhere},
		{"*.services.k8s.aws", "", elsewhere},
		{"*.cnrm.cloud.google.com", "", elsewhere},
		{"*.azure.com", "", elsewhere},
		{"*.terraform.io", "", elsewhere},
		{"*.pulumi.com", "", elsewhere},
		{"pulumi.com", "", elsewhere},
	}
}

func (f *forbiddenKind) fits(kind, group string) bool {
	if f.kind != "" && f.kind != kind {
		return false
	}
	suffix, pattern := strings.CutPrefix(f.group, "*")
	return pattern && strings.HasSuffix(group, suffix) || f.group == group && (group != "" || f.kind != "")
}

// forbiddenObjects are the objects of other kinds that decide who may do what, by kind and ID.
func forbiddenObjects() []model.Ref {
	return []model.Ref{{Kind: "kubernetes/ConfigMap", ID: "kube-system/aws-auth"}, {Kind: "kubernetes/ConfigMap", ID: "kube-system/extension-apiserver-authentication"}}
}

// checkKind refuses kinds, objects and fields that are never changed.
func (a *Actuator) checkKind(s *reconcile.Subject) *reconcile.Refusal {
	f := s.Finding
	name := strings.TrimPrefix(f.Kind, "kubernetes/")
	kind, group, _ := strings.Cut(name, ".")
	for _, forbidden := range forbiddenKinds() {
		if forbidden.fits(kind, group) {
			return refuse(guardKind, "driftd never changes a %s: %s", name, forbidden.reason)
		}
	}
	custom := a.kinds[f.Kind] == nil
	switch {
	case slices.Contains(forbiddenObjects(), model.Ref{Kind: f.Kind, ID: f.Key.ID}):
		return refuse(guardKind, "driftd never changes ConfigMap %s: it decides who may do what", f.Key.ID)
	case custom && f.Verdict == model.Missing:
		return refuse(guardKind, "driftd never creates a custom resource: its controller may create what it describes without its data: apply the declaration")
	case f.Verdict == model.Missing && f.Kind == "kubernetes/Pod":
		return refuse(guardKind, "driftd never creates a Pod: it would run its work again: apply the declaration")
	case custom && !s.Named:
		return refuse(guardKind, "driftd changes a custom resource only for a rule that names its kind, because it does not know what the controller does with a change: add %s to match.kind", f.Kind)
	}
	for i := range f.Changes {
		if why := forbiddenField(f.Kind, f.Changes[i].Path); why != "" {
			return refuse(guardKind, "%s", why)
		}
	}
	return nil
}

// forbiddenField returns why a field of a kind is never changed; "" if it may be.
func forbiddenField(kind, path string) string {
	switch {
	case !mayChange(path):
		return "driftd never changes " + path
	case kind == "kubernetes/Service" && model.Below(path, "spec.type"):
		return "driftd never changes spec.type of a Service: the API server assigns and releases addresses and ports with it, which no dry run shows beforehand: apply the declaration"
	case kind == "kubernetes/StatefulSet.apps" && model.Below(path, "spec.persistentVolumeClaimRetentionPolicy"):
		return "driftd never changes spec.persistentVolumeClaimRetentionPolicy: it decides when data is deleted"
	}
	return ""
}

// mayChange reports whether a path is that of a field that people declare: labels, annotations, and
// fields other than those of the API server and of controllers.
func mayChange(path string) bool {
	top := path
	if end := strings.IndexAny(path, ".["); end >= 0 {
		top = path[:end]
	}
	switch top {
	case "status", "apiVersion", "kind":
		return false
	case "metadata":
		rest := strings.TrimPrefix(path, "metadata.")
		return model.Below(rest, "labels") || model.Below(rest, "annotations")
	}
	return true
}

// tokenTypes are the types of Secrets that hold credentials for the cluster itself.
func tokenTypes() []string {
	return []string{"kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"}
}

// checkObject refuses objects that a controller makes, or that are being deleted.
func checkObject(f *model.Finding, o *object) *reconcile.Refusal {
	if f.Kind == "kubernetes/Secret" {
		for _, kind := range tokenTypes() {
			if o.raw.At("type").Str() == kind {
				return refuse(guardKind, "driftd never changes a Secret of type %s: it is a credential of the cluster", kind)
			}
		}
	}
	if o.raw.At("spec", "persistentVolumeClaimRetentionPolicy", "whenScaled").Str() == "Delete" &&
		slices.ContainsFunc(f.Changes, func(c model.Change) bool { return c.Path == "spec.replicas" }) {
		return refuse(guardKind, "driftd does not change spec.replicas, because spec.persistentVolumeClaimRetentionPolicy deletes data with it: use kubectl scale")
	}
	if o.raw.At("metadata", "deletionTimestamp").Str() != "" {
		return refuse(guardStillSo, "it is being deleted")
	}
	for _, owner := range o.sealed.Origin.Owners {
		if owner.Controller {
			return refuse(guardDeclarer, "%s %s controls it, and would undo the change: change that instead", strings.TrimPrefix(owner.Kind, "kubernetes/"), owner.Name)
		}
	}
	return nil
}
