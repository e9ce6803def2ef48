package manifests_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// remoteKustomizations returns kustomizations that make kustomize fetch a URL.
func remoteKustomizations(at string) map[string]string {
	url := "'http://" + at + "/x.yaml'"
	inline := "- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: it}\n  target: {kind: ConfigMap}\n  path: " + url + "\n"
	return map[string]string{
		"resource":             "resources: [" + url + "]\n",
		"repository":           "resources: ['http://" + at + "/org/repo']\n",
		"component":            "resources: [base.yaml]\ncomponents: ['http://" + at + "/x/y']\n",
		"patch":                "resources: [base.yaml]\npatches: [{path: " + url + "}]\n",
		"crds":                 "resources: [base.yaml]\ncrds: [" + url + "]\n",
		"openapi":              "resources: [base.yaml]\nopenapi: {path: " + url + "}\n",
		"generator":            "resources: [base.yaml]\nconfigMapGenerator: [{name: web2, files: ['k=http://" + at + "/x.yaml']}]\n",
		"replacement":          "resources: [base.yaml]\nreplacements: [{path: " + url + "}]\n",
		"capitals":             "resources: [base.yaml]\nPatches: [{PATH: " + url + "}]\n",
		"inline":               "resources: [base.yaml]\ntransformers:\n" + inline,
		"inline in capitals":   "resources: [base.yaml]\nTransformers:\n" + inline,
		"second document":      "resources: [base.yaml]\ntransformers: [two.txt]\n",
		"resource and plugin":  "resources: [base.yaml, one.yaml]\ntransformers: [one.yaml]\n",
		"folder of plugins":    "resources: [base.yaml]\ntransformers: [folder]\n",
		"plugin's field twice": "resources: [base.yaml]\ntransformers: [twice.yaml]\n",
		"tagged plugin":        "resources: [base.yaml]\ntransformers: [tag.yaml]\n",
		"deep plugin":          "resources: [base.yaml]\ntransformers: [deep.yaml]\n",
		"plugin of aliases":    "resources: [base.yaml]\ntransformers: [many.yaml]\n",
		"broken plugin":        "resources: [base.yaml]\ntransformers: [tab.yaml]\n",
		"inline twice":         "resources: [base.yaml]\ntransformers:\n" + strings.Replace(inline, "  target", "  path: x.yaml\n  target", 1),
		"field twice":          "resources: [base.yaml]\nresources: [base.yaml]\npatches: [{path: " + url + "}]\n",
	}
}

// TestForeignNetwork proves that reading old commits and branches fetches nothing, with every
// kind of URL, and with a file in the tree that is named like the URL.
func TestForeignNetwork(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		fmt.Fprint(w, web("evil"))
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	at := listener.Addr().String()
	plugin := "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: it}\ntarget: {kind: ConfigMap}\npath: 'http://" + at + "/x.yaml'\n"
	for name, text := range remoteKustomizations(at) {
		for _, decoy := range []string{"", "folder", "file"} {
			files := map[string]string{
				"deploy/kustomization.yaml": text, "deploy/base.yaml": web("z"), "deploy/web.yaml": "", "deploy/one.yaml": plugin,
				"deploy/twice.yaml":                strings.Replace(plugin, "target:", "path: x.yaml\ntarget:", 1),
				"deploy/tag.yaml":                  strings.Replace(plugin, "path: ", "path: !x ", 1),
				"deploy/deep.yaml":                 plugin + "deep: " + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "\n",
				"deploy/many.yaml":                 plugin + "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n",
				"deploy/tab.yaml":                  plugin + "---\n\tbroken: [\n",
				"deploy/two.txt":                   "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: l}\nlabels: {a: b}\n---\n" + plugin,
				"deploy/folder/kustomization.yaml": "resources: [t.yaml]\n", "deploy/folder/t.yaml": plugin,
			}
			for _, file := range []string{"x.yaml", "org/repo", "x/y"} {
				if decoy == "folder" {
					file += "/keep"
				}
				if decoy != "" {
					files["deploy/http:/"+at+"/"+file] = "x"
				}
			}
			h := newHistory(t).commit(in("deploy/web.yaml", web("a"))).on("request", files, 1).on("main", in("deploy/web.yaml", web("b")), 1)
			config := h.config()
			config.ApplyBeforeMerge = true
			got, gap := h.show(config, "default/web", "data", "v")
			if requests.Swap(0) > 0 || len(got) > 2 || gap == "" {
				t.Errorf("%s, decoy %q: got %q, gap %q, want no request and a gap", name, decoy, got, gap)
			}
		}
	}
}

// TestForeignDisk proves that a kustomization cannot use bases outside of its repository.
func TestForeignDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"kustomization.yaml": "resources: [web.yaml]\nnamespace: default\n", "web.yaml": web("host")})
	h := newHistory(t).commit(in("deploy/web.yaml", web("a"))).
		on("request", map[string]string{"deploy/kustomization.yaml": "namePrefix: w\nresources: ['../.." + dir + "']\n", "deploy/web.yaml": ""}, 1).
		on("main", in("deploy/web.yaml", web("b")), 1)
	config := h.config()
	config.ApplyBeforeMerge = true
	if got, gap := h.show(config, "default/web", "data", "v"); len(got) != 2 || gap == "" {
		t.Errorf("got %q, gap %q", got, gap)
	}
}

// TestForeignBuild proves that kustomizations of branches are built.
func TestForeignBuild(t *testing.T) {
	t.Parallel()
	h := newHistory(t).commit(map[string]string{"deploy/kustomization.yaml": "resources: [web.yaml]\nnamespace: default\n", "deploy/web.yaml": web("a")}).
		on("request", in("deploy/web.yaml", web("x")), 1).commit(in("deploy/web.yaml", web("b")))
	if got, gap := h.show(h.config(), "default/web", "data", "v"); len(got) != 3 || gap != "" {
		t.Errorf("got %q, gap %q", got, gap)
	}
}

// TestForeignFolders proves that a tree that repeats itself is read in bounded time.
func TestForeignFolders(t *testing.T) {
	t.Parallel()
	h := newHistory(t).commit(in("deploy/web.yaml", web("a")))
	blob := h.git(web("z"), "hash-object", "-w", "--stdin")
	tree := h.git("100644 blob "+blob+"\tREADME\n", "mktree")
	for range 10 {
		var s strings.Builder
		for i := range 10 {
			fmt.Fprintf(&s, "040000 tree %s\td%d\n", tree, i)
		}
		tree = h.git(s.String(), "mktree")
	}
	top := h.git("040000 tree "+tree+"\tdeploy\n", "mktree")
	h.git("", "update-ref", "refs/heads/request", h.git("", "-c", "user.name=c", "-c", "user.email=c@example.org", "commit-tree", "-m", "x", "-p", h.commits[0], top))
	if got, gap := h.show(h.config(), "default/web", "data", "v"); len(got) != 1 || !strings.Contains(gap, "more than 20000 folders") {
		t.Errorf("got %q, gap %q", got, gap)
	}
}

// TestHistoryOfRequiredNamespace proves that History and Load give manifests the same
// namespace.
func TestHistoryOfRequiredNamespace(t *testing.T) {
	t.Parallel()
	h := newHistory(t).commit(in("deploy/web.yaml", web("a"))).commit(in("deploy/web.yaml", web("b")))
	config := h.config()
	config.RequiredNamespace = "shop"
	if got, gap := h.show(config, "shop/web", "data", "v"); strings.Join(got, ", ") != "b 2--, a 1-2" || gap != "" {
		t.Errorf("got %q, gap %q", got, gap)
	}
}
