package kube_test

import (
	"errors"
	"testing"

	"github.com/driftd/driftd/internal/kube"
)

// TestHook claims objects that are made for a moment of a deploy.
func TestHook(t *testing.T) {
	t.Parallel()
	for annotations, want := range map[string]bool{
		`{helm.sh/hook: pre-install}`:           true,
		`{argocd.argoproj.io/hook: PreSync}`:    true,
		`{argocd.argoproj.io/sync-wave: "1"}`:   false,
		`{helm.sh/hook: ""}`:                    false,
		`{example.org/helm.sh-hook: post-sync}`: false,
	} {
		c, err := kube.NewClaim(object(t, `{apiVersion: batch/v1, kind: Job, metadata: {name: migrate, namespace: shop, annotations: `+annotations+`}}`), kube.ClaimOptions{})
		if err != nil || c.MayBeAbsent != want {
			t.Errorf("%s: may be absent %t, %v", annotations, c.MayBeAbsent, err)
		}
	}
}

// TestUnrendered claims no object that a template names.
func TestUnrendered(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		`{apiVersion: v1, kind: Pod, metadata: {name: "{{ .Release.Name }}"}}`:                kube.ErrUnrendered,
		`{apiVersion: v1, kind: Pod, metadata: {name: "${cluster}-web"}}`:                     kube.ErrUnrendered,
		`{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: "{{ namespace }}"}}`:      kube.ErrUnrendered,
		`{apiVersion: "{{ version }}", kind: Pod, metadata: {name: a}}`:                       kube.ErrUnrendered,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: "{{ rendered }}"}}`: nil,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: "a:{b}$"}}`:  nil,
	} {
		if _, err := kube.NewClaim(object(t, text), kube.ClaimOptions{}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}
