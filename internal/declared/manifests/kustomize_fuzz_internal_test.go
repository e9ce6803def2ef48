package manifests

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// FuzzKustomize builds a kustomization with a base, as the box does. The result is objects
// with addresses in the tree, or a problem without secrets. Nothing outside of the tree is
// read.
func FuzzKustomize(f *testing.F) {
	const web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1, template: {spec: {containers: [{name: web, image: nginx}]}}}\n"
	for _, seed := range [][3]string{
		{"resources: [../base]\nnamePrefix: prod-\nnamespace: shop\n", "resources: [web.yaml]\n", web},
		{"resources: [../base]\npatches:\n- {path: patch.yaml, target: {kind: Deployment}}\n", "resources: [web.yaml]\n", web},
		{"resources: [../base]\npatches:\n- patch: |-\n    - {op: replace, path: /spec/replicas, value: 3}\n  target: {name: web}\nimages: [{name: nginx, newTag: '2'}]\nreplicas: [{name: web, count: 2}]\n", "bases: [.]\nresources: [web.yaml]\n", web},
		{"secretGenerator:\n- {name: s, literals: [password=hunter2-s3cret], files: [../outside, /etc/passwd]}\n", "{}", web},
		{"configMapGenerator:\n- {name: c, literals: [a=b], envs: [x.env], options: {disableNameSuffixHash: true}}\ngeneratorOptions: {labels: {a: b}}\n", "kind: Component\n", web},
		{"components: [../base]\nlabels: [{pairs: {app: web}, includeSelectors: true}]\ncommonAnnotations: {a: b}\n", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [web.yaml]\n", web},
		{"resources: [\"https://user:hunter2@example.org/x.yaml\", git@github.com:a/b, \"../../..\"]\n", "resources: [../over]\n", web},
		{"resources: [../base]\nvars: [{name: V, objref: {kind: Deployment, name: web, apiVersion: apps/v1}}]\nreplacements: [{source: {kind: Deployment}, targets: [{select: {kind: Deployment}, fieldPaths: [metadata.name]}]}]\n", "resources: [web.yaml]\n", web + "---\n" + strings.ReplaceAll(web, "web", "other")},
		{"helmCharts: [{name: x, repo: 'https://example.org'}]\ntransformers: [t.yaml]\nvalidators: [v.yaml]\nopenapi: {path: s.json}\ncrds: [c.yaml]\n", "resources: [web.yaml]\n", web},
		{"resources: [../base]\nRESOURCES: []\nbuildMetadata: [originAnnotations, transformerAnnotations, managedByLabel]\nsortOptions: {order: fifo}\n", "resources: &r [web.yaml]\ncomponents: *r\n", "kind: List\napiVersion: v1\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]\n"},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[2]))
	}
	f.Setenv("PATH", "") // as in the box: kustomize would start git
	f.Fuzz(func(t *testing.T, over, base, web []byte) {
		if len(over)+len(base)+len(web) > 8<<10 {
			return // the box is what bounds a build
		}
		files := fstest.MapFS{"over/kustomization.yaml": {Data: over}, "base/kustomization.yaml": {Data: base}, "base/web.yaml": {Data: web}, "over/patch.yaml": {Data: web}}
		dir := path.Join(mountPoint, "over")
		o := jobArgs{Place: place{Outside: outsideFolder}, Name: dir, Limit: 1 << 20}
		built, err := build(files, o)
		if err != nil {
			if len(built.Objects) > 0 {
				t.Errorf("got objects and an error: %v", err)
			}
			return
		}
		c, err := built.content()
		if err != nil {
			t.Errorf("the result cannot be read: %v", err)
		}
		for _, made := range c.objects {
			name, _, _ := strings.Cut(made.address, ":")
			if _, err := fs.Stat(files, name); err != nil {
				t.Errorf("the address %q is not in the tree", made.address)
			}
			for _, file := range made.files {
				if !fs.ValidPath(file) {
					t.Errorf("the file %q is not in the tree", file)
				}
			}
			if strings.Contains(string(made.value.AppendJSON(nil)), "root:x:0") {
				t.Errorf("got a file from outside: %s", made.value.AppendJSON(nil))
			}
		}
		tr := o.Place.tree(files, o.Limit)
		for _, k := range withBases(tr.kustomize, dir) {
			for _, secret := range k.secrets() {
				for _, p := range c.problems {
					_, reason, _ := strings.Cut(p.Reason, ": ")
					if len(secret) > 8 && strings.Contains(reason, secret) {
						t.Errorf("the problem %q shows %q", p.Reason, secret)
					}
				}
			}
		}
	})
}
