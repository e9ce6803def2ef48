package manifests

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/driftd/driftd/internal/model"
)

// reader returns a reader with one subject, the ConfigMap default/web.
func reader(t *testing.T) (*pastReader, *historyCache) {
	t.Helper()
	l := &loader{config: Defaults()}
	m := newHistoryCache()
	c := model.Claim{Kind: "kubernetes/ConfigMap", ID: "default/web", Name: "web"}
	if n := m.subject(&c, l.claimOptions(&c)); n != 0 || m.subject(&c, l.claimOptions(&c)) != 0 {
		t.Fatalf("subject %d", n)
	}
	return &pastReader{ctx: t.Context(), loader: l, cache: m, renderings: maxRenderings, parse: maxParsed}, m
}

const webText = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: b}\n"

func TestParseBudget(t *testing.T) {
	t.Parallel()
	r, m := reader(t)
	r.parse = int64(len(webText))
	var found outcome
	if !r.objects(&found, &tree{}, "a.yaml", []byte(webText)) || len(found.states[0]) != 1 {
		t.Errorf("within the bound: %+v", found)
	}
	found = outcome{}
	if !r.objects(&found, &tree{}, "b.yaml", []byte("kind: Other")) || r.parse != 0 {
		t.Errorf("a file without the name: %+v", found)
	}
	if r.objects(&found, &tree{}, "a.yaml", []byte(webText)) || !strings.HasPrefix(found.unread[0], "a.yaml: not read") {
		t.Errorf("over the bound: %+v", found)
	}
	r.parse, m.size = maxParsed, 2*maxMemory+1
	found = outcome{}
	if r.objects(&found, &tree{}, "a.yaml", []byte(webText)) || found.unread[0] == "" {
		t.Errorf("over the bound of the cache: %+v", found)
	}
}

func TestHistoryCacheReset(t *testing.T) {
	t.Parallel()
	_, m := reader(t)
	m.size = maxMemory
	if m.limitSize(); len(m.subjects) != 1 {
		t.Error("it forgot within its bounds")
	}
	m.size++
	if m.limitSize(); len(m.subjects) != 0 || len(m.index) != 0 || m.size != 0 {
		t.Error("it forgot nothing beyond them")
	}
	for i := range maxSubjects + 1 {
		m.subject(&model.Claim{Kind: "k", ID: strings.Repeat("x", i)}, (&loader{}).claimOptions(&model.Claim{}))
	}
	if m.limitSize(); len(m.subjects) != 0 {
		t.Error("it forgot nothing with too many subjects")
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	var o outcome
	if states, reason := o.of(0); len(states) != 1 || states[0] != absent || reason != "" {
		t.Errorf("nothing found: %v, %q", states, reason)
	}
	o.merge(&outcome{all: "chart"})
	o.merge(&outcome{all: "other"})
	if states, reason := o.of(0); states != nil || reason != "chart" {
		t.Errorf("an unread part: %v, %q", states, reason)
	}
	o.merge(&outcome{unread: map[int]string{0: "broken"}})
	if _, reason := o.of(0); reason != "broken" {
		t.Errorf("an unread file with the name: %q", reason)
	}
	o.merge(&outcome{states: map[int][]int{0: {3, 4}}})
	o.add(0, 3)
	if states, reason := o.of(0); len(states) != 2 || reason != "" {
		t.Errorf("found in another part: %v, %q", states, reason)
	}
}

func TestReadingTimeout(t *testing.T) {
	t.Parallel()
	r, m := reader(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.ctx = ctx
	if found := r.commit(nil); found.all != timedOut || len(m.trees) > 0 {
		t.Errorf("got %+v", found)
	}
}

// TestMayGenerate proves that a kustomization is skipped only if it cannot generate the
// object.
func TestMayGenerate(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		text   string
		want   bool
	}{
		"Elsewhere":   {"no file contains the name", "resources: [other.yaml]\n", false},
		"File":        {"a file contains the name", "resources: [app.yaml]\n", true},
		"Patch":       {"an inline patch contains the name", "resources: [other.yaml]\npatches: [{patch: 'metadata: {name: web}'}]\n", true},
		"Prefix":      {"a name with the prefix", "namePrefix: w\nresources: [other.yaml]\n", true},
		"Suffix":      {"a name with the suffix", "nameSuffix: eb\nresources: [other.yaml]\n", true},
		"Other":       {"a name without the prefix", "namePrefix: x\nresources: [other.yaml]\n", false},
		"Generator":   {"a generator whose name is part of the name", "configMapGenerator: [{name: we, literals: [a=b]}]\n", true},
		"No":          {"a generator with another name", "configMapGenerator: [{name: other, files: [a=other.yaml]}]\n", false},
		"Named file":  {"a file of a generator contains the name", "configMapGenerator: [{name: other, files: [a=app.yaml]}]\n", true},
		"Transformer": {"a transformer", "transformers: [other.yaml]\n", true},
		"Replacement": {"a replacement", "replacements: [{path: other.yaml}]\n", true},
		"Remote":      {"a remote base", "resources: ['https://example.org/x']\n", true},
		"Broken":      {"a malformed kustomization", "a: [", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := newMountedFS(fstest.MapFS{"kustomization.yaml": {Data: []byte(tc.text)}, "other.yaml": {Data: []byte("kind: Other\n")}, "app.yaml": {Data: []byte(webText)}}, 1<<20, outsideRepository)
			k := readKustomization(files, mountPoint)
			if got := k.mayGenerate(&subject{name: "web"}); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}
