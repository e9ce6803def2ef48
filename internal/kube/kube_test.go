package kube_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

func object(t testing.TB, yaml string) model.Value {
	t.Helper()
	documents, err := decode.YAML(strings.NewReader(yaml))
	if err != nil || len(documents) != 1 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	return documents[0].Value
}

func resource(t testing.TB, yaml string) model.Resource {
	t.Helper()
	r, err := kube.NewResource("test", object(t, yaml), sealer)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func claim(t testing.TB, yaml string, kinds map[string]*model.Kind) model.Claim {
	t.Helper()
	c, err := kube.NewClaim(object(t, yaml), kube.ClaimOptions{Sealer: sealer, Kinds: kinds})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClaimNames(t *testing.T) {
	t.Parallel()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ reason, manifest, kind, id, alt, place, version string }{
		{"a namespace that is written", `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: ns}}`, "kubernetes/Service", "ns/a", "", "ns", "v1"},
		{"none means default", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}`, "kubernetes/Deployment.apps", "default/a", "", "default", "apps/v1"},
		{"a kind without namespaces", `{apiVersion: v1, kind: Namespace, metadata: {name: a}}`, "kubernetes/Namespace", "a", "", "", "v1"},
		{"a namespace that the kind does not have", `{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: ns}}`, "kubernetes/Namespace", "a", "", "", "v1"},
		{"a kind that nobody knows yet", `{apiVersion: x.org/v1, kind: Thing, metadata: {name: a}}`, "kubernetes/Thing.x.org", "default/a", "a", "default", "x.org/v1"},
		{"a namespace that an unknown kind may not have", `{apiVersion: x.org/v1, kind: Thing, metadata: {name: a, namespace: ns}}`, "kubernetes/Thing.x.org", "ns/a", "a", "ns", "x.org/v1"},
		{"autoscaling/v1 is read as v2", `{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a}}`,
			"kubernetes/HorizontalPodAutoscaler.autoscaling", "default/a", "", "default", "autoscaling/v2"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			c := claim(t, tc.manifest, kinds)
			if c.Kind != tc.kind || c.ID != tc.id || c.AltID != tc.alt || c.Place != tc.place || c.Version != tc.version {
				t.Errorf("got %s %s (or %q) in %q, %s", c.Kind, c.ID, c.AltID, c.Place, c.Version)
			}
		})
	}
}

func TestNotAnObject(t *testing.T) {
	t.Parallel()
	for _, manifest := range []string{`{a: 1}`, `{apiVersion: v1, kind: Pod}`, `[1]`, `{apiVersion: 1, kind: Pod, metadata: {name: a}}`, `{apiVersion: v1, kind: Pod, metadata: {generateName: a}}`} {
		if _, err := kube.NewClaim(object(t, manifest), kube.ClaimOptions{Sealer: sealer}); !errors.Is(err, kube.ErrNotObject) {
			t.Errorf("%s: err = %v", manifest, err)
		}
	}
}

func TestRequiredNamespace(t *testing.T) {
	t.Parallel()
	known := map[string]*model.Kind{"kubernetes/ConfigMap": {Namespaced: true}, "kubernetes/Namespace": {}}
	for name, tt := range map[string]struct {
		reason, text, required, standard string
		place                            string
		refused                          bool
	}{
		"default":        {reason: "kubectl's own", text: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", place: "default"},
		"context":        {reason: "that of the context", text: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", standard: "shop", place: "shop"},
		"flag":           {reason: "the flag is stronger", text: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", standard: "shop", required: "bank", place: "bank"},
		"named":          {reason: "the manifest is stronger than the context", text: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}", standard: "shop", place: "x"},
		"agrees":         {reason: "both say the same", text: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: bank}}", required: "bank", place: "bank"},
		"conflict":       {reason: "kubectl refuses it", text: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}", required: "bank", place: "x", refused: true},
		"cluster-scoped": {reason: "it is in no namespace", text: "{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: x}}", required: "bank"},
		"unknown kind":   {reason: "it is taken for a namespaced one", text: "{apiVersion: e.org/v1, kind: W, metadata: {name: a, namespace: x}}", required: "bank", place: "x", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := decode.YAML(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			c, err := kube.NewClaim(docs[0].Value, kube.ClaimOptions{Sealer: sealer, DefaultNamespace: tt.standard, RequiredNamespace: tt.required, Kinds: known})
			if err != nil || c.Place != tt.place {
				t.Fatalf("%s: in %q, want %q: %v", tt.reason, c.Place, tt.place, err)
			}
			if (c.Unchecked != "") != tt.refused || tt.refused && !strings.Contains(c.Unchecked, `"x" does not match the namespace "bank"`) {
				t.Errorf("%s: unchecked %q", tt.reason, c.Unchecked)
			}
		})
	}
}

func TestSOPSIsUnchecked(t *testing.T) {
	t.Parallel()
	c := claim(t, `{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {x: "ENC[AES256_GCM,data:abc]"}, sops: {version: 3.8.1}}`, nil)
	if !strings.Contains(c.Unchecked, "SOPS") {
		t.Errorf("unchecked = %q", c.Unchecked)
	}
}

// TestReferenceIsUnchecked checks Secrets whose references to secrets a person replaces before the Secret is applied.
func TestReferenceIsUnchecked(t *testing.T) {
	t.Parallel()
	for manifest, want := range map[string]bool{
		`{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {a: b, x: "op://vault/item/field"}}`:   true,
		`{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {x: "user: {{ op://vault/item/f }}"}}`: true,
		`{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {x: b3A6Ly9hL2IvYw==}}`:                      true,
		`{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {x: "drop/a"}, data: {y: "%"}}`:        false,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: "op://vault/item/field"}}`:            false,
	} {
		if c := claim(t, manifest, nil); strings.Contains(c.Unchecked, "op inject") != want || want && !c.Value.IsNull() {
			t.Errorf("%s: unchecked %q, value %v", manifest, c.Unchecked, c.Value)
		}
	}
}

func TestSecretsAreEqualByContent(t *testing.T) {
	t.Parallel()
	declared := claim(t, `{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {x: hello}, data: {y: aGVsbG8=}}`, nil)
	live := resource(t, `{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: default}, data: {x: aGVsbG8=, y: "aGVsbG8="}}`)
	if !declared.Value.At("data").Equal(live.Value.At("data")) || declared.Value.At("data", "x").Kind() != model.Secret {
		t.Errorf("declared %v, live %v", declared.Value, live.Value)
	}
}

func TestRelate(t *testing.T) {
	t.Parallel()
	resources := []model.Resource{
		resource(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: ns}}`),
		resource(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: other}}`),
		resource(t, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: ns}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}`),
		resource(t, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: ns}, spec: {volumeClaimTemplates: [{metadata: {name: data}}]}}`),
		resource(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-12, namespace: ns}}`),
		resource(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-x, namespace: ns}}`),
	}
	kube.Relate(resources, whole)
	if len(resources[0].Delegated) != 1 || resources[0].Delegated[0].Path != "spec.replicas" {
		t.Errorf("the autoscaler's target: %v", resources[0].Delegated)
	}
	if len(resources[1].Delegated) != 0 {
		t.Error("an object of the same name elsewhere is no target")
	}
	if resources[4].SystemOwned == "" || resources[5].SystemOwned != "" {
		t.Errorf("claims: %q, %q", resources[4].SystemOwned, resources[5].SystemOwned)
	}
}

func TestAnnotationCountsWhileItsWriterOwnsIt(t *testing.T) {
	t.Parallel()
	const head = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","data":{"x":"1"},"metadata":{"name":"a"}}'}`
	const owned = `fieldsV1: {f:metadata: {f:annotations: {f:kubectl.kubernetes.io/last-applied-configuration: {}}}}}]`
	for _, tc := range []struct {
		reason, object string
		recorded       bool
	}{
		{"left by client-side apply", head + `, managedFields: [{manager: kubectl-client-side-apply, operation: Update, ` + owned + `}}`, true},
		{"taken over by server-side apply", head + `, managedFields: [{manager: kubectl-last-applied, operation: Apply, ` + owned + `}}`, false},
		{"no record of writers", head + `}}`, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			r := resource(t, tc.object)
			if (r.LastApplied != nil) != tc.recorded {
				t.Errorf("recorded: %v", r.LastApplied)
			}
			if tc.recorded && r.LastApplied.At("data", "x").Str() != "1" {
				t.Errorf("recorded %v", r.LastApplied)
			}
			if strings.Contains(string(r.Value.AppendJSON(nil)), "last-applied") {
				t.Error("the annotation stayed in the value")
			}
		})
	}
}

func TestKindsFromCRD(t *testing.T) {
	t.Parallel()
	crd := object(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.x.org}
spec:
  group: x.org
  scope: Cluster
  names: {kind: Thing, plural: things}
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {mode: {type: string, default: auto}, size: {x-kubernetes-int-or-string: true}}}
`)
	kind := kube.KindsFromCRD(crd)["kubernetes/Thing.x.org"]
	if kind == nil || kind.Namespaced || kind.Version != "x.org/v1" {
		t.Fatalf("kind = %+v", kind)
	}
	spec := kind.Schema.Field("spec")
	if spec.Field("mode").Default == nil || spec.Field("size").Format != model.IntOrString {
		t.Errorf("spec = %+v", spec)
	}
	crd = crd.With("metadata", crd.At("metadata").With("namespace", model.StringOf("")))
	kinds := map[string]*model.Kind{kind.Name: kind}
	r, err := kube.NewResource("test", crd, sealer)
	if err != nil {
		t.Fatal(err)
	}
	kube.RelateKinds(kinds, []model.Resource{r})
	if got := kinds[kind.Name].CompatibleVersions; len(got) != 2 {
		t.Errorf("alike = %v, want both versions: nothing converts between them", got)
	}
	if !kinds[kind.Name].Defaulted {
		t.Error("a definition has every default of its kind")
	}
	if kube.KindsFromCRD(object(t, `{apiVersion: v1, kind: Pod, metadata: {name: a}}`)) != nil {
		t.Error("a pod defines no kinds")
	}
}

func TestBuiltinKinds(t *testing.T) {
	t.Parallel()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	containers := kinds["kubernetes/Deployment.apps"].Schema.Field("spec").Field("template").Field("spec").Field("containers")
	if containers.List != model.Keyed || containers.Element().Field("resources").Field("limits").Field("cpu").Format != model.Quantity {
		t.Errorf("containers = %+v", containers)
	}
	if containers.Element().Field("args").List != model.Ordered || kinds["kubernetes/Role.rbac.authorization.k8s.io"].Schema.Field("rules").List != model.Bag {
		t.Error("arguments are ordered, rules are not")
	}
	if !kinds["kubernetes/Service"].Namespaced || kinds["kubernetes/Namespace"].Namespaced {
		t.Error("services lie in namespaces, namespaces do not")
	}
	if got := kinds["kubernetes/HorizontalPodAutoscaler.autoscaling"].Version; got != "autoscaling/v2" {
		t.Errorf("version = %s", got)
	}
}

func FuzzNewResource(f *testing.F) {
	f.Add(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","managedFields":[{"fieldsV1":{"f:x":{"k:{\"a\":1}":{".":{}}}}}]},"data":{"a":"!"},"stringData":{"b":null}}`)
	f.Add(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{"}},"spec":[{"env":{"a":1}}]}`)
	f.Add(`{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a","ownerReferences":[1]},"spec":{"targetCPUUtilizationPercentage":{}}}`)
	f.Fuzz(func(_ *testing.T, text string) {
		v, err := decode.JSON([]byte(text))
		if err != nil {
			return
		}
		if r, err := kube.NewResource("s", v, sealer); err == nil {
			kube.Relate([]model.Resource{r}, whole)
		}
		if c, err := kube.NewClaim(v, kube.ClaimOptions{Sealer: sealer}); err == nil {
			kube.RelateClaims([]model.Claim{c})
		}
		kube.KindsFromCRD(v)
	})
}

func FuzzKindsFromOpenAPI(f *testing.F) {
	f.Add([]byte(`{"components":{"schemas":{"a":{"properties":{"metadata":{"$ref":"#/components/schemas/a"}},"x-kubernetes-group-version-kind":[{"group":"g","kind":"K","version":"v1"}]}}}}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		if kinds, err := kube.KindsFromOpenAPI(document); err == nil && kinds == nil {
			t.Error("neither kinds nor an error")
		}
	})
}

// whole is the coverage of a snapshot that holds everything.
func whole(string, string) bool { return true }
