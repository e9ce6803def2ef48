// Package kube interprets Kubernetes objects: their names, the fields that can drift, the writers
// of fields, and the comparison of each kind. It sends no requests. The collector and the loader of
// manifests share it.
package kube

import (
	"errors"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// ErrNotObject is returned for a tree without apiVersion, kind or metadata.name.
var ErrNotObject = errors.New("not a Kubernetes object")

// KindName returns the name of the kind in findings, such as "kubernetes/Deployment.apps", or
// "kubernetes/Service" for the core group.
func KindName(apiVersion, kind string) string {
	if group, _, ok := strings.Cut(apiVersion, "/"); ok {
		return "kubernetes/" + kind + "." + group
	}
	return "kubernetes/" + kind
}

// identity is what names an object.
type identity struct {
	apiVersion, kind, namespace, name string
}

func identify(object model.Value) (identity, error) {
	metadata := object.At("metadata")
	id := identity{apiVersion: object.At("apiVersion").Str(), kind: object.At("kind").Str(),
		namespace: metadata.At("namespace").Str(), name: metadata.At("name").Str()}
	if id.apiVersion == "" || id.kind == "" || id.name == "" {
		return identity{}, ErrNotObject
	}
	return id, nil
}

func (i identity) id() string {
	if i.namespace == "" {
		return i.name
	}
	return i.namespace + "/" + i.name
}

// content returns the parts of an object that can drift: all except the name, the status and the
// fields that the API server maintains. It always contains metadata.
func content(kind string, object model.Value) model.Value {
	object = withAccountName(kind, withoutAdmitted(kind, object))
	fields := make([]model.Field, 0, len(object.Fields())+1)
	metadata := model.MapOf()
	for _, f := range object.Fields() {
		switch f.Name {
		case "apiVersion", "kind", "status":
		case "metadata":
			metadata = labelsAndAnnotations(f.Value)
		default:
			fields = append(fields, f)
		}
	}
	return model.MapOf(append(fields, model.Field{Name: "metadata", Value: metadata})...)
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// lastTrigger is the time of the change that made a controller write the
// addresses of a Service.
const lastTrigger = "endpoints.kubernetes.io/last-change-trigger-time"

// restartedAt is left by kubectl rollout restart, on purpose and with no
// meaning beyond the moment.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

func labelsAndAnnotations(metadata model.Value) model.Value {
	var fields []model.Field
	if annotations, ok := metadata.Get("annotations"); ok {
		fields = append(fields, model.Field{Name: "annotations", Value: annotations.Without(lastApplied, lastTrigger)})
	}
	if labels, ok := metadata.Get("labels"); ok {
		fields = append(fields, model.Field{Name: "labels", Value: labels})
	}
	return model.MapOf(fields...)
}

// templateGeneration is an annotation whose value the API server computes from the number
// of changes to a DaemonSet's template, and not from what a client writes. It belongs to
// the writer of the object, such as kubectl create.
const templateGeneration = "deprecated.daemonset.template.generation"
