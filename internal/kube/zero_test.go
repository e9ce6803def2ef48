package kube_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// TestZeroIsNotAbsent holds fields of which false or 0 means something else than
// leaving them out.
func TestZeroIsNotAbsent(t *testing.T) {
	t.Parallel()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]bool{
		"ServiceAccount automountServiceAccountToken":                                                                                 true,
		"Deployment.apps spec.template.spec.automountServiceAccountToken":                                                             true,
		"Deployment.apps spec.template.spec.securityContext.runAsUser":                                                                true,
		"Deployment.apps spec.template.spec.containers.[].securityContext.runAsNonRoot":                                               true,
		"Deployment.apps spec.template.spec.tolerations.[].tolerationSeconds":                                                         true,
		"Job.batch spec.ttlSecondsAfterFinished":                                                                                      true,
		"PodDisruptionBudget.policy spec.minAvailable":                                                                                true,
		"HorizontalPodAutoscaler.autoscaling spec.behavior.scaleDown.stabilizationWindowSeconds":                                      true,
		"CustomResourceDefinition.apiextensions.k8s.io spec.versions.[].schema.openAPIV3Schema.properties.spec.properties.a.default":  true,
		"CustomResourceDefinition.apiextensions.k8s.io spec.versions.[].schema.openAPIV3Schema.properties.spec.additionalProperties":  true,
		"CustomResourceDefinition.apiextensions.k8s.io spec.versions.[].schema.openAPIV3Schema.properties.spec.properties.a.nullable": false,
		"Deployment.apps spec.template.spec.hostNetwork":                                                                              false,
		"Deployment.apps spec.template.spec.containers.[].securityContext.privileged":                                                 false,
		"Deployment.apps spec.template.spec.containers.[].env.[].valueFrom.secretKeyRef.optional":                                     false,
	} {
		name, path, _ := strings.Cut(field, " ")
		schema := kinds["kubernetes/"+name].Schema
		for step := range strings.SplitSeq(path, ".") {
			if step == "[]" {
				schema = schema.Element()
				continue
			}
			schema = schema.Field(step)
		}
		for _, zero := range []model.Value{model.BoolOf(false), model.IntOf(0)} {
			if got := !diff.Equal(schema, model.Value{}, zero) && !diff.Equal(schema, zero, model.Value{}); got != want {
				t.Errorf("%s: absent and %s differ: %t", field, zero, got)
			}
		}
	}
}
