//go:build e2e

package actuator

import (
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: registry.example.org/web:1
          env: [{name: LEVEL, value: "info"}, {name: MODE, value: "<a&b>'\""}]
          ports: [{containerPort: 80}, {containerPort: 443}]
        - {name: proxy, image: "registry.example.org/proxy:1"}
`

// TestNextApply checks that the pipeline's next server-side apply needs no force after each kind of
// drift was put back.
func TestNextApply(t *testing.T) {
	t.Parallel()
	next := strings.ReplaceAll(deployment, "web:1", "web:2")
	tests := map[string]func(d *desk){
		"changed":                      func(d *desk) { d.in("set", "image", "deployment/web", "web=evil:1") },
		"added":                        func(d *desk) { d.in("set", "env", "deployment/web", "--containers=web", "EXTRA=1") },
		"removed":                      func(d *desk) { d.in("set", "env", "deployment/web", "--containers=web", "LEVEL-") },
		"changed and added":            func(d *desk) { d.in("set", "env", "deployment/web", "MODE=x", "EXTRA=1") },
		"a value with special letters": func(d *desk) { d.in("set", "env", "deployment/web", "--containers=web", `LEVEL=<b>&'"\ é`) },
		"labels":                       func(d *desk) { d.in("label", "deployment/web", "--overwrite", "app=other", "by=hand") },
		"the only label removed":       func(d *desk) { d.in("label", "deployment/web", "app-") },
		"a container removed": func(d *desk) {
			d.in("patch", "deployment/web", "--type=json", `--patch=[{"op":"remove","path":"/spec/template/spec/containers/1"}]`)
		},
		"the ports removed": func(d *desk) {
			d.in("patch", "deployment/web", "--type=json", `--patch=[{"op":"remove","path":"/spec/template/spec/containers/0/ports"}]`)
		},
		"another apply": func(d *desk) {
			if _, err := d.try(strings.ReplaceAll(deployment, "web:1", "evil:1"), "--namespace="+d.namespace, "apply", "--server-side", "--force-conflicts", "--field-manager=laptop", "--filename=-"); err != nil {
				d.Fatal(err)
			}
			// The pipeline shares the fields that the laptop still owns.
		},
	}
	for name, drift := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.mustApply(deployment)
			before := d.get("deployment", "web").At("spec")
			drift(d)
			if len(d.subjects("deployment", "web", deployment)) == 0 {
				t.Fatal("there is no drift")
			}
			d.putAllBack("deployment", "web", deployment)
			if after := d.get("deployment", "web").At("spec"); !after.Equal(before) {
				t.Errorf("spec is %s, was %s", after, before)
			}
			if m := d.managers("deployment", "web"); slices.ContainsFunc(m, func(m string) bool { return strings.HasPrefix(m, "driftd") }) || !slices.Contains(m, "git Apply") {
				t.Errorf("managers are %v", m)
			}
			if err := d.apply(deployment); err != nil {
				t.Errorf("the same apply: %v", err)
			}
			if err := d.apply(next); err != nil {
				t.Errorf("the next apply: %v", err)
			}
		})
	}
}

// TestWithoutHandBack shows what the hand-back is for.
func TestWithoutHandBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.mustApply(deployment)
	d.in("set", "image", "deployment/web", "web=evil:1")
	s := d.subject(model.Changed, "deployment", "web", deployment)
	c := d.plan(s)
	if c.Plan().HandBack != "git" || c.Plan().Restarts != "the pods of Deployment web (2 replicas)" || c.Plan().Identity != "admin" {
		t.Errorf("Plan() = %+v", c.Plan())
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := strings.ReplaceAll(deployment, "web:1", "web:2")
	if err := d.apply(next); err == nil || !strings.Contains(err.Error(), `conflict with "driftd"`) {
		t.Errorf("the next apply: %v", err)
	}
	if s := d.subject(model.Changed, "deployment", "web", next); s.Finding.Actor.Name != "driftd" {
		t.Errorf("the image was changed by %s", s.Finding.Actor.Name)
	}
	d.handBack(s, c.Plan())
	d.subject(model.Pending, "deployment", "web", next)
	if err := d.apply(next); err != nil {
		t.Error(err)
	}
}

// TestCustomResource checks a kind whose schema and defaults the actuator has not.
func TestCustomResource(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                size: {type: integer}
                ratio: {type: number}
                color: {type: string, default: red}
                parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, weight: {type: integer, default: 1}}}}
`
	if _, err := d.try(definition, "apply", "--filename=-"); err != nil {
		t.Fatal(err)
	}
	d.kubectl("wait", "--for=condition=Established", "crd/widgets.example.org")
	const widget = "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 1, ratio: 0.5, parts: [{name: a}, {name: b}]}\n"
	d.wait("the kind", func() bool { return d.apply(widget) == nil })
	for _, patch := range []string{
		`[{"op":"replace","path":"/spec/size","value":2},{"op":"replace","path":"/spec/ratio","value":1.25}]`,
		`[{"op":"remove","path":"/spec/size"}]`,
	} {
		d.in("patch", "widget/w", "--type=json", "--patch="+patch)
		d.putBack(d.subject(model.Changed, "widget", "w", widget))
	}
	if spec := d.get("widget", "w").At("spec").String(); spec != `{"color":"red","parts":[{"name":"a","weight":1},{"name":"b","weight":1}],"ratio":0.5,"size":1}` {
		t.Errorf("spec is %s", spec)
	}
	if err := d.apply(strings.Replace(widget, "size: 1", "size: 3", 1)); err != nil {
		t.Error(err)
	}
}

// TestOrder checks that what is put back gets the old ReplicaSet, which depends on the order.
func TestOrder(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"removed": {"set", "env", "deployment/web", "--containers=web", "LEVEL-"},
		"added":   {"set", "env", "deployment/web", "--containers=web", "EXTRA=1"},
		"changed": {"set", "env", "deployment/web", "--containers=web", "LEVEL=debug"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			sets := func() []string {
				return strings.Fields(d.in("get", "replicasets", "--output=jsonpath={.items[*].metadata.name}"))
			}
			d.mustApply(deployment)
			d.wait("the first ReplicaSet", func() bool { return len(sets()) == 1 })
			first := sets()[0]
			d.in(args...)
			d.wait("the second ReplicaSet", func() bool { return len(sets()) == 2 })
			d.putAllBack("deployment", "web", deployment)
			d.wait("the old ReplicaSet again", func() bool {
				return d.in("get", "replicaset", first, `--output=jsonpath={.metadata.annotations.deployment\.kubernetes\.io/revision}`) == "3"
			})
			if n := len(sets()); n != 2 {
				t.Errorf("there are %d ReplicaSets: %v", n, sets())
			}
		})
	}
}

// TestClientSide checks an object that kubectl applies without server-side apply.
func TestClientSide(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	apply := func(manifest string, flags ...string) {
		t.Helper()
		if _, err := d.try(manifest, append([]string{"--namespace=" + d.namespace, "apply", "--filename=-"}, flags...)...); err != nil {
			t.Fatal(err)
		}
	}
	apply(deployment)
	d.in("set", "image", "deployment/web", "web=evil:1")
	d.in("set", "env", "deployment/web", "--containers=web", "EXTRA=1")
	for _, s := range d.subjects("deployment", "web", deployment) {
		if p := d.putBack(s); p.HandBack != "" {
			t.Errorf("the fields are handed back to %q", p.HandBack)
		}
	}
	next := strings.ReplaceAll(deployment, "web:1", "web:2")
	apply(next)
	apply(strings.ReplaceAll(deployment, "web:1", "web:3"), "--server-side")
	if image := d.get("deployment", "web").At("spec", "template", "spec", "containers").Items()[0].At("image").Str(); !strings.HasSuffix(image, "web:3") {
		t.Errorf("the image is %s", image)
	}
}

const settings = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {level: info}
`

// TestOnlyField checks an object whose only field was changed: nothing of the pipeline is left in its
// field managers.
func TestOnlyField(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.mustApply(settings)
	d.in("patch", "configmap/settings", "--type=merge", `--patch={"data":{"level":"debug"}}`)
	t.Logf("managers after the drift: %v", d.managers("configmap", "settings"))
	d.putAllBack("configmap", "settings", settings)
	t.Logf("managers: %s", d.get("configmap", "settings").At("metadata", "managedFields"))
	for _, next := range []string{settings, strings.ReplaceAll(settings, "info", "warn"), strings.ReplaceAll(settings, "level: info", "mode: x")} {
		if err := d.apply(next); err != nil {
			t.Error(err)
		}
	}
	if data := d.get("configmap", "settings").At("data").String(); data != `{"mode":"x"}` {
		t.Errorf("data is %s", data)
	}
}

// TestCreate checks that the pipeline can apply what driftd created again.
func TestCreate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ kind, name, manifest, old, next string }{
		"Deployment": {"deployment", "web", deployment, "web:1", "web:2"},
		"ConfigMap":  {"configmap", "settings", settings, "info", "warn"},
		"Service":    {"service", "web", "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n", "port: 80", "port: 81"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.mustApply(tt.manifest)
			claim, _ := d.claim(tt.manifest)
			key := model.Key{Source: "k8s", Kind: claim.Kind, ID: claim.ID}
			d.in("delete", tt.kind, tt.name)
			d.wait("the deletion", func() bool {
				_, err := d.try("", "--namespace="+d.namespace, "get", tt.kind, tt.name)
				return err != nil
			})
			s := d.missing(key, claim.Value)
			p := d.putBack(s)
			if !p.Creates {
				t.Errorf("Plan() = %+v", p)
			}
			if all := d.subjects(tt.kind, tt.name, tt.manifest); len(all) > 0 {
				t.Errorf("it differs: %s", describe(all))
			}
			t.Logf("managers: %s", d.get(tt.kind, tt.name).At("metadata", "managedFields"))
			if err := d.apply(tt.manifest); err != nil {
				t.Errorf("the same apply: %v", err)
			}
			if err := d.apply(strings.ReplaceAll(tt.manifest, tt.old, tt.next)); err != nil {
				t.Errorf("the next apply: %v", err)
			}
			_, err := d.actuator.Plan(t.Context(), s)
			d.refused(err, "still-so", "it exists again")
		})
	}
}
