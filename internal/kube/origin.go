package kube

import (
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// argoCompare is the annotation with which an object configures how Argo CD compares it.
const argoCompare = "argocd.argoproj.io/compare-options"

// origin returns the UID and the owner references of an object, which every client that
// writes the object can set, and whether the object is being deleted.
func origin(metadata model.Value) model.Origin {
	o := model.Origin{UID: metadata.At("uid").Str(), Ending: isEnding(metadata)}
	labels := metadata.At("labels")
	if name, place := labels.At(fluxLabel+"name").Str(), labels.At(fluxLabel+"namespace").Str(); name != "" && place != "" {
		o.AppliedBy = model.Ref{Kind: "kubernetes/" + fluxKustomization, ID: place + "/" + name}
	}
	if options := strings.Split(metadata.At("annotations", argoCompare).Str(), ","); slices.ContainsFunc(options, func(o string) bool { return strings.TrimSpace(o) == "IgnoreExtraneous" }) {
		o.Unenforced = "Argo CD ignores that git does not have this object (" + argoCompare + ": IgnoreExtraneous)"
	}
	for _, ref := range metadata.At("ownerReferences").Items() {
		o.Owners = append(o.Owners, model.OwnerReference{
			Kind:       KindName(ref.At("apiVersion").Str(), ref.At("kind").Str()),
			Name:       ref.At("name").Str(),
			UID:        ref.At("uid").Str(),
			Controller: ref.At("controller").Text() == "true",
		})
	}
	return o
}

// maxGrace is the longest grace period of an object that isEnding reports, in seconds.
const maxGrace = 300

// isEnding reports whether an object will be removed after its grace period: it is
// being deleted and has no finalizers.
func isEnding(metadata model.Value) bool {
	if metadata.At("deletionTimestamp").Str() == "" || len(metadata.At("finalizers").Items()) > 0 {
		return false
	}
	seconds := metadata.At("deletionGracePeriodSeconds").Text()
	grace, err := strconv.Atoi(seconds)
	return seconds == "" || err == nil && grace <= maxGrace
}

// isCustom reports whether a kind is served by an extension of the API server:
// a custom resource.
func isCustom(kind string) bool {
	_, group, _ := strings.Cut(kind, ".")
	return strings.Contains(group, ".") && !slices.Contains(builtinGroups, group)
}

// builtinGroups are the API server's own groups whose names have a dot.
var builtinGroups = []string{
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
	"authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
	"flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io",
	"rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
}

// plainKind returns a kind's name without the source's type: "Deployment.apps".
func plainKind(kind string) string { return strings.TrimPrefix(kind, "kubernetes/") }

// shortName returns how a message names an object: "Deployment web".
func shortName(kind, name string) string {
	kind, _, _ = strings.Cut(plainKind(kind), ".")
	return kind + " " + name
}

// OwnerRanks is the number of ranks. OwnerRank returns numbers from 0 to OwnerRanks-1.
const OwnerRanks = 4

// OwnerRank returns the rank of a kind. Objects have a lower rank than the objects that own them.
func OwnerRank(kind string) int {
	switch plainKind(kind) {
	case "Pod":
		return 0
	case "ReplicaSet.apps", "ReplicationController", "Job.batch", "ControllerRevision.apps", "PersistentVolumeClaim",
		"EndpointSlice.discovery.k8s.io", "Endpoints", "Secret":
		return 1
	}
	if isCustom(kind) {
		return 3
	}
	return 2
}
