// Package kube knows Kubernetes objects: how they are named, what in them can
// drift, who wrote which field, and how each kind is compared. It talks to
// nobody; the collector and the manifests loader share it.
package kube
