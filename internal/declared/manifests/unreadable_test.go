package manifests_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// extents returns what each problem may declare, as "kind place name", "nothing" or
// "anything".
func extents(d model.Declaration) []string {
	shown := []string{}
	for i := range d.Problems {
		p := &d.Problems[i]
		switch {
		case !p.Bounded:
			shown = append(shown, "anything")
		case len(p.Extents) == 0:
			shown = append(shown, "nothing")
		}
		for _, e := range p.Extents {
			place := e.Place
			if e.Placeless {
				place = "-"
			}
			shown = append(shown, fmt.Sprintf("%s %s %s", orAny(strings.TrimPrefix(e.Kind, "kubernetes/")), orAny(place), orAny(e.Name)))
		}
	}
	return shown
}

func orAny(text string) string {
	if text == "" {
		return "*"
	}
	return text
}

const brokenLine = "spec: {\n"

func TestExtentsOfBrokenDocument(t *testing.T) {
	t.Parallel()
	deploy2 := "apiVersion: apps/v1\nkind: Deployment\n"
	for reason, tc := range map[string]struct {
		text string
		want []string
	}{
		"kind, namespace and name":       {deploy2 + "metadata:\n  name: web\n  namespace: shop\n" + brokenLine, []string{"Deployment.apps shop web"}},
		"in braces":                      {deploy2 + "metadata: {name: web, labels: {name: x, namespace: y}, namespace: shop}\n" + brokenLine, []string{"Deployment.apps shop web"}},
		"with quotes and comments":       {"apiVersion: \"apps/v1\"\nkind: 'Deployment' # the shop\nmetadata:\n  # name: old\n  name: \"web\" # here\n  namespace: 'shop'\n" + brokenLine, []string{"Deployment.apps shop web"}},
		"nested names are ignored":       {deploy2 + "metadata:\n  labels:\n    name: x\n    namespace: y\n  name: web\n" + brokenLine, []string{"Deployment.apps * web"}},
		"without a namespace: any":       {deploy2 + "metadata:\n  name: web\n" + brokenLine, []string{"Deployment.apps * web"}},
		"the break is in the namespace":  {deploy2 + "metadata:\n  name: web\n  namespace shop\n" + brokenLine, []string{"Deployment.apps * web"}},
		"a tab among the metadata":       {deploy2 + "metadata:\n  name: web\n\tlabels: {}\n  namespace: shop\n", []string{"Deployment.apps shop web"}},
		"tabs alone":                     {deploy2 + "metadata:\n\tname: web\n\tnamespace: shop\n", []string{"Deployment.apps shop web"}},
		"without metadata":               {deploy2 + brokenLine, []string{"Deployment.apps * *"}},
		"a generated name":               {deploy2 + "metadata:\n  generateName: web-\n  namespace: shop\n" + brokenLine, []string{"Deployment.apps shop *"}},
		"a template in the name":         {deploy2 + "metadata:\n  name: {{ .Values.name }}\n  namespace: shop\n", []string{"Deployment.apps shop *"}},
		"a template in the namespace":    {deploy2 + "metadata:\n  name: web\n  namespace: {{ .Release.Namespace }}\n", []string{"Deployment.apps * web"}},
		"a template in the kind":         {"apiVersion: apps/v1\nkind: {{ .Values.kind }}\nmetadata:\n  name: web\n  namespace: shop\n", []string{"anything"}},
		"a template in the version":      {"apiVersion: {{ .Values.version }}\nkind: Deployment\nmetadata:\n  name: web\n", []string{"Deployment.* * web"}},
		"a template as a whole":          {"{{ include \"x\" . }}\n---\n" + configMap("a"), []string{"anything"}},
		"two names":                      {deploy2 + "metadata:\n  name: web\n  name: db\n" + brokenLine, []string{"Deployment.apps * *"}},
		"two manifests without a marker": {deploy2 + "metadata:\n  name: web\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\n", []string{"Deployment.* * *", "Service.* * *"}},
		"a list":                         {"apiVersion: v1\nkind: List\nitems:\n- kind: Secret\n  metadata: {name: a}\n- kind: Pod\n" + brokenLine, []string{"Secret.* * *", "Pod.* * *"}},
		"an empty list":                  {"apiVersion: v1\nkind: List\nitems: {\n", []string{"anything"}},
		"JSON that was cut off":          {`{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"`, []string{"Secret.* * *"}},
		"no field of a manifest":         {"values: {\n", []string{"nothing"}},
		"a version alone":                {"apiVersion: v1\n" + brokenLine, []string{"anything"}},
		"metadata alone":                 {"metadata:\n  name: web\n  namespace: shop\n" + brokenLine, []string{"* shop web"}},
		"not text":                       {"kind: Secret\n\xff\xfe\n", []string{"anything"}},
		"a malformed kind":               {"apiVersion: v1\nkind: [Pod\nmetadata:\n  name: web\n", []string{"anything"}},
		"only the broken one of several": {configMap("a") + "---\n" + deploy2 + "metadata:\n  name: web\n" + brokenLine + "---\n" + configMap("b"),
			[]string{"Deployment.apps * web"}},
		"two broken ones": {"---\n" + deploy2 + "metadata:\n  name: web\n" + brokenLine + "--- # next\nkind: Service\napiVersion: v1\n" + brokenLine,
			[]string{"Service * *", "Deployment.apps * web"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			dir := deploy(t, map[string]string{"broken.yaml": tc.text, "ok.yaml": configMap("ok")})
			if diff := cmp.Diff(tc.want, extents(loadDir(t, dir))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestExtentsOfUnreadParts(t *testing.T) {
	t.Parallel()
	chart := map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\n"}
	in := func(dir string, files ...map[string]string) map[string]string {
		all := map[string]string{"ok.yaml": configMap("ok")}
		for _, f := range files {
			for name, text := range f {
				all[dir+"/"+name] = text
			}
		}
		return all
	}
	file := func(name, text string) map[string]string { return map[string]string{name: text} }
	const template = "{{- if .Values.on }}\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ include \"name\" . }}\n  labels:\n    {{- include \"labels\" . | nindent 4 }}\n{{- end }}\n"
	const remote = "https://example.invalid/base?ref=v1"
	for reason, tc := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"a chart: the kinds of its templates": {in("c", chart, file("templates/web.yaml", template+"---\n"+template), file("templates/NOTES.txt", "kind: Secret")), []string{"Deployment.apps * *"}},
		"a chart's partial templates":         {in("c", chart, file("templates/web.yaml", template), file("templates/_x.tpl", "{{ define \"x\" }}\nkind: Secret\n{{ end }}")), []string{"Secret.* * *", "Deployment.apps * *"}},
		"a chart's definitions":               {in("c", chart, file("crds/a.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x.example.org}\n")), []string{"CustomResourceDefinition.apiextensions.k8s.io * x.example.org"}},
		"a template that includes a whole":    {in("c", chart, file("templates/web.yaml", "{{- include \"common.deployment\" . }}\n")), []string{"anything"}},
		"a template of control lines":         {in("c", chart, file("templates/web.yaml", "{{- $x := 1 }}\n{{- if $x }}\n{{- end }}\n")), []string{"nothing"}},
		"a chart in a chart":                  {in("c", file("Chart.yaml", "name: web\ndependencies: [{name: db}]\n"), file("charts/db/templates/a.yaml", template)), []string{"Deployment.apps * *"}},
		"a chart with a missing dependency":   {in("c", file("Chart.yaml", "name: web\ndependencies: [{name: db}]\n"), file("templates/a.yaml", template)), []string{"anything"}},
		"a chart with requirements":           {in("c", chart, file("requirements.yaml", "dependencies: [{name: db}]\n")), []string{"anything"}},
		"a chart with an archive":             {in("c", chart, file("charts/db-1.tgz", "x")), []string{"anything"}},
		"a chart that cannot be read":         {in("c", file("Chart.yaml", "name: {\n")), []string{"anything"}},
		"a remote base":                       {in("k", file("kustomization.yaml", "resources: ["+remote+"]\n")), []string{"anything"}},
		"a remote base in a namespace":        {in("k", file("kustomization.yaml", "namespace: shop\nresources: ["+remote+"]\n")), []string{"* shop *", "* - *"}},
		"a remote base below a namespace":     {in("k", file("kustomization.yaml", "namespace: shop\nresources: [b]\n"), file("b/kustomization.yaml", "resources: ["+remote+"]\n")), []string{"* shop *", "* - *"}},
		"a namespace below a remote base":     {in("k", file("kustomization.yaml", "resources: [b, '"+remote+"']\n"), file("b/kustomization.yaml", "namespace: shop\nresources: []\n")), []string{"anything"}},
		"a kustomization that fails": {in("k", file("kustomization.yaml", "namespace: shop\nresources: [a.yaml]\npatches: [{path: none.yaml}]\nconfigMapGenerator: [{name: c, literals: [a=b]}]\n"), file("a.yaml", deployment)),
			[]string{"ConfigMap shop *", "ConfigMap - *", "Deployment.apps shop *", "Deployment.apps - *"}},
		"a failed one without a namespace": {in("k", file("kustomization.yaml", "resources: [a.yaml]\npatches: [{path: none.yaml}]\nsecretGenerator: [{name: c, literals: [a=b]}]\n"),
			file("a.yaml", strings.Replace(deployment, "name: web", "name: web\n  namespace: shop", 1))), []string{"Secret * *", "Deployment.apps shop *"}},
		"a failed one with a namespace in a base": {in("k", file("kustomization.yaml", "resources: [a.yaml, b]\npatches: [{path: none.yaml}]\n"), file("b/kustomization.yaml", "namespace: x\n"), file("a.yaml", strings.Replace(deployment, "name: web", "name: web\n  namespace: shop", 1))), []string{"Deployment.apps * *"}},
		"a missing file":                 {in("k", file("kustomization.yaml", "namespace: shop\nresources: [none.yaml]\n")), []string{"* shop *", "* - *"}},
		"plug-ins":                       {in("k", file("kustomization.yaml", "generators: [g.yaml]\nresources: [none.yaml]\n")), []string{"anything"}},
		"a kustomization in broken YAML": {in("k", file("kustomization.yaml", "namespace: shop\nresources: [\n")), []string{"* shop *", "* - *"}},
		"a malformed kustomization without a namespace": {in("k", file("kustomization.yaml", "resources: [\n")), []string{"anything"}},
		"without a name":                {in("x", file("a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-, namespace: shop}\n")), []string{"Pod shop *"}},
		"a quoted template as a name":   {in("x", file("a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: '{{ name }}', namespace: shop}\n")), []string{"Pod shop *"}},
		"a substitution as a namespace": {in("x", file("a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: '${namespace}'}\n")), []string{"Pod * *"}},
		"a quoted template as a kind":   {in("x", file("a.yaml", "apiVersion: v1\nkind: '{{ kind }}'\nmetadata: {name: a, namespace: shop}\n")), []string{"* shop *"}},
		"without a kind":                {in("x", file("a.yaml", configMap("a")+"---\napiVersion: v1\nmetadata: {name: b, namespace: shop}\n")), []string{"* shop b"}},
		"without a version":             {in("x", file("a.yaml", configMap("a")+"---\nkind: Pod\nmetadata: {name: b}\n")), []string{"Pod.* * b"}},
		"no field of a manifest":        {in("x", file("a.yaml", configMap("a")+"---\nfoo: bar\n")), []string{"nothing"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, extents(loadDir(t, deploy(t, tc.files)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNamespaceOfBrokenFileIsGoverned proves that a namespace stays governed if the only file
// with objects in it is broken.
func TestNamespaceOfBrokenFileIsGoverned(t *testing.T) {
	t.Parallel()
	d := loadDir(t, deploy(t, map[string]string{
		"a.yaml": configMap("a"), "b.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: shop\n" + brokenLine}))
	if diff := cmp.Diff([]model.Scope{{Place: "default"}, {Place: "shop"}}, d.Scopes); diff != "" {
		t.Error(diff)
	}
	if !d.Watches {
		t.Error("manifests are not expected to declare what is watched")
	}
}

func TestNamespaces(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.yaml": strings.Replace(configMap("a"), "name: a", "name: a\n  namespace: kube-system", 1)}
	for reason, tc := range map[string]struct {
		listed []string
		scopes []model.Scope
		not    []model.NotGoverned
	}{
		"not listed": {nil, []model.Scope{}, []model.NotGoverned{{Place: "kube-system", Remedy: "declare the Namespace, or set namespaces: [kube-system] on shop"}}},
		"listed":     {[]string{"kube-system", "other"}, []model.Scope{{Place: "kube-system"}, {Place: "other"}}, nil},
	} {
		config := manifests.Defaults()
		config.Dir, config.Namespaces = deploy(t, files), tc.listed
		d, err := load(t, config)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.scopes, append([]model.Scope{}, d.Scopes...)); diff != "" {
			t.Errorf("%s: scopes (-want +got):\n%s", reason, diff)
		}
		if diff := cmp.Diff(tc.not, d.NotGoverned); diff != "" {
			t.Errorf("%s: not governed (-want +got):\n%s", reason, diff)
		}
	}
	for _, name := range []string{"", "kube*", "a/b", "A"} {
		config := manifests.Defaults()
		config.Dir, config.Namespaces = deploy(t, files), []string{name}
		if _, err := open(config, ""); err == nil || !strings.Contains(err.Error(), "namespace") {
			t.Errorf("namespaces: [%q]: %v, want an error that names the setting", name, err)
		}
	}
}
