package kubernetes

import (
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// The guards of the actuator, in the order in which they are evaluated.
const (
	guardKind      = "kind"
	guardDeclarer  = "declarer"
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
		{"storage.k8s.io", "", data},
		{"snapshot.storage.k8s.io", "", data},
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

// checkKind refuses kinds and fields that are never changed.
func checkKind(f *model.Finding) *reconcile.Refusal {
	kind, group, _ := strings.Cut(strings.TrimPrefix(f.Kind, "kubernetes/"), ".")
	for _, forbidden := range forbiddenKinds() {
		if forbidden.fits(kind, group) {
			return refuse(guardKind, "driftd never changes a %s: %s", strings.TrimPrefix(f.Kind, "kubernetes/"), forbidden.reason)
		}
	}
	for i := range f.Changes {
		if path := f.Changes[i].Path; !mayChange(path) {
			return refuse(guardKind, "driftd never changes %s", path)
		}
	}
	return nil
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
		return isBelow(rest, "labels") || isBelow(rest, "annotations")
	}
	return true
}

// isBelow reports whether a path is another one, or below it.
func isBelow(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
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
