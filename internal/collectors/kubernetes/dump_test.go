package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/model"
)

// openDump opens a dump of the given text.
func openDump(t *testing.T, text string, change func(*Config)) collectors.Collector {
	t.Helper()
	config := Defaults()
	config.Dump = filepath.Join(t.TempDir(), "cluster.yaml")
	if change != nil {
		change(&config)
	}
	if err := os.WriteFile(config.Dump, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := open(testEnv(t), config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const (
	webJSON    = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":2}}`
	mapJSON    = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"bank"},"data":{"a":"1"}}`
	nodeJSON   = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}`
	eventJSON  = `{"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"shop"}}`
	brokenJSON = `{"apiVersion":"v1","kind":"Node","metadata":{"namespace":"shop"}}`
	widgetJSON = `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w","namespace":"shop"},"spec":{"size":1}}`
	crdJSON    = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.org"},
		"spec":{"group":"example.org","names":{"kind":"Widget","plural":"widgets"},"scope":"Namespaced","versions":[{"name":"v1","storage":true,"served":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}}]}}`
)

func TestDumpForms(t *testing.T) {
	t.Parallel()
	want := []string{"ConfigMap bank/c", "Deployment.apps shop/web", "Node n1"}
	tests := map[string]struct{ reason, text string }{
		"json list":   {"kubectl get -o json", `{"apiVersion":"v1","items":[` + webJSON + `,` + mapJSON + `,` + nodeJSON + `],"kind":"List","metadata":{"resourceVersion":""}}`},
		"json stream": {"concatenated outputs", webJSON + "\n" + mapJSON + `{"apiVersion":"v1","kind":"List","items":[` + nodeJSON + `]}`},
		"yaml stream": {"kubectl get -o yaml, several times", "---\n" + webJSON + "\n---\n" + mapJSON + "\n---\n# nothing\n---\n" + nodeJSON + "\n"},
		"yaml list":   {"kubectl get -o yaml", "apiVersion: v1\nkind: List\nitems:\n- " + webJSON + "\n- " + mapJSON + "\n- " + nodeJSON + "\n"},
		"raw lists": {"items of kubectl get --raw have no kind",
			`{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{},"items":[{"metadata":{"name":"web","namespace":"shop"}}]}` +
				`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"c","namespace":"bank"}}]}` +
				`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"n1"}}]}`},
		"twice": {"duplicates are removed", webJSON + webJSON + mapJSON + nodeJSON},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := openDump(t, tt.text, nil).Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, keys(s)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if kind := s.Kinds[deployment]; kind == nil || kind.Schema == nil || kind.WriterUnknown == "" {
				t.Errorf("%s: the built-in kind is %+v", tt.reason, kind)
			}
			if got := s.Resources[0].WriterUnknown; !strings.Contains(got, "--show-managed-fields") {
				t.Errorf("%s: WriterUnknown of an object without managedFields is %q", tt.reason, got)
			}
		})
	}
}

func TestDumpCoverage(t *testing.T) {
	t.Parallel()
	const (
		inNamespace = "the dump holds no object in this namespace: if it is complete, set dump_complete (--live-complete); else write it with: kubectl get KINDS -A -o yaml --show-managed-fields"
		ofKind      = "the dump holds no object of this kind: if it is complete, set dump_complete (--live-complete); else write it with: kubectl get KINDS -A -o yaml --show-managed-fields"
	)
	tests := map[string]struct {
		reason   string
		text     string
		complete bool
		want     map[string]string
	}{
		"some kinds": {
			reason: "a kind is covered in the namespaces of the dump",
			text:   webJSON + mapJSON + nodeJSON + eventJSON,
			want: map[string]string{
				"": ofKind, "ConfigMap": inNamespace, "ConfigMap bank": "ok", "ConfigMap shop": "ok",
				"Deployment.apps": inNamespace, "Deployment.apps bank": "ok", "Deployment.apps shop": "ok", "Node": "ok", "Event": excludedText,
			},
		},
		"everything": {
			reason: "dump_complete is set", complete: true,
			text: webJSON + nodeJSON,
			want: map[string]string{"": "ok", "Deployment.apps": "ok", "Node": "ok"},
		},
		"unreadable object": {
			reason: "an invalid object makes the coverage of its kind incomplete", complete: true,
			text: webJSON + brokenJSON,
			want: map[string]string{
				"": "ok", "Deployment.apps": "ok",
				"Node": "objects cannot be decoded: an object without a name: not a Kubernetes object; correct them, or exclude the kind (exclude_kinds)",
			},
		},
		"truncated": {
			reason: "a truncated dump does not prove absence", complete: true,
			text: webJSON + nodeJSON[:20],
			want: map[string]string{
				"":                "the dump cannot be read completely: unexpected EOF; write it again with: kubectl get KINDS -A -o yaml --show-managed-fields",
				"Deployment.apps": "the dump cannot be read completely: unexpected EOF; write it again with: kubectl get KINDS -A -o yaml --show-managed-fields",
			},
		},
		"one page": {
			reason: "a page of a list does not prove absence", complete: true,
			text: `{"apiVersion":"v1","kind":"NodeList","metadata":{"continue":"eyJ2Ijo","remainingItemCount":3},"items":[` + nodeJSON + `]}`,
			want: map[string]string{
				"":     "the dump cannot be read completely: the NodeList is one page of a longer list; write it again with: kubectl get KINDS -A -o yaml --show-managed-fields",
				"Node": "the dump cannot be read completely: the NodeList is one page of a longer list; write it again with: kubectl get KINDS -A -o yaml --show-managed-fields",
			},
		},
		"one page in YAML": {
			reason: "a page of a list does not prove absence", complete: true,
			text: "apiVersion: v1\nkind: NodeList\nmetadata: {continue: eyJ2Ijo}\nitems:\n- " + nodeJSON + "\n",
			want: map[string]string{
				"":     "the dump cannot be read completely: the NodeList is one page of a longer list; write it again with: kubectl get KINDS -A -o yaml --show-managed-fields",
				"Node": "the dump cannot be read completely: the NodeList is one page of a longer list; write it again with: kubectl get KINDS -A -o yaml --show-managed-fields",
			},
		},
		"object without a kind": {
			reason: "the object may be of any kind", complete: true,
			text: `{"apiVersion":"v1","kind":"List","items":[` + nodeJSON + `,{"a":1}]}`,
			want: map[string]string{
				"":     "the dump cannot be read completely: an object without a name: not a Kubernetes object; write it again with: kubectl get KINDS -A -o yaml --show-managed-fields",
				"Node": "the dump cannot be read completely: an object without a name: not a Kubernetes object; write it again with: kubectl get KINDS -A -o yaml --show-managed-fields",
			},
		},
		"empty": {
			reason: "an empty dump does not prove absence", text: `{"apiVersion":"v1","kind":"List","items":[]}`,
			want: map[string]string{"": ofKind},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := openDump(t, tt.text, func(c *Config) { c.DumpComplete = tt.complete }).Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, coverage(s)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestDumpCustomResources(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		text   string
		schema bool
	}{
		"defined":   {reason: "the dump has the definition", text: widgetJSON + crdJSON, schema: true},
		"undefined": {reason: "the kind has no schema without the definition", text: widgetJSON},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := openDump(t, tt.text, nil).Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			kind := s.Kinds[widgetKind]
			if kind == nil || (kind.Schema != nil) != tt.schema || !kind.Namespaced || kind.Version != "example.org/v1" {
				t.Errorf("%s: the kind is %+v", tt.reason, kind)
			}
		})
	}
}

func TestDumpFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		text   string
		remove bool
		want   string
	}{
		"missing":  {reason: "the file does not exist", remove: true, want: "no such file"},
		"binary":   {reason: "no object can be read", text: "{\x00\x01", want: "cluster.yaml"},
		"text":     {reason: "the text is not an object", text: "hello\n", want: "not a Kubernetes object"},
		"bad yaml": {reason: "the error has the line", text: "a: [\n", want: "line"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := openDump(t, tt.text, nil)
			if tt.remove {
				if err := os.Remove(c.(*dump).config.Dump); err != nil {
					t.Fatal(err)
				}
			}
			_, err := c.Collect(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "kubectl get") {
				t.Errorf("%s: Collect() = %v", tt.reason, err)
			}
		})
	}
}

func TestDumpCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openDump(t, webJSON, nil).Collect(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Collect() = %v", err)
	}
}

func TestDumpProbe(t *testing.T) {
	t.Parallel()
	p, err := openDump(t, webJSON, nil).(collectors.Prober).Probe(t.Context())
	if err != nil || !strings.HasSuffix(p.Endpoint, "cluster.yaml") || len(p.Coverage) != 3 {
		t.Errorf("Probe() = %+v, %v", p, err)
	}
}

// FuzzDump checks that dumps of any content are read, and that every resource of the snapshot
// has a name and a kind.
func FuzzDump(f *testing.F) {
	for _, seed := range []string{
		webJSON + mapJSON, `{"kind":"List","items":[` + widgetJSON + `,` + crdJSON + `]}`, "a: &a [*a]\n", brokenJSON, "---\n" + webJSON,
	} {
		f.Add([]byte(seed))
	}
	config, err := Defaults().complete()
	if err != nil {
		f.Fatal(err)
	}
	d := &dump{
		env: collectors.Env{Name: "prod", Sealer: testSealer()}, config: config, now: time.Now,
		builtin: func() (map[string]*model.Kind, error) { return map[string]*model.Kind{}, nil },
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := d.collect(bytes.NewReader(data), func(int64) {})
		if err != nil {
			return
		}
		for _, r := range s.Resources {
			if r.Name == "" || s.Kinds[r.Kind] == nil {
				t.Errorf("%s has no name or no kind", r.Key)
			}
			if r.Source != "prod" {
				t.Errorf("%s has source %q", r.Key, r.Source)
			}
		}
	})
}

// TestDumpPipe reads a dump from a pipe, from a pipe without a writer, and from a pipe whose
// writer writes nothing. Collect must not block.
func TestDumpPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	config := Defaults()
	config.Dump = pipe
	c, err := open(testEnv(t), config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Collect(t.Context()); err == nil {
		t.Error("no error without a writer")
	}
	// This opens both ends, so that the pipe has a writer.
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := c.Collect(ctx); err == nil {
		t.Error("no error from a writer that writes nothing")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := w.WriteString(webJSON); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	config.Dump = fmt.Sprintf("/dev/fd/%d", r.Fd())
	if c, err = open(testEnv(t), config); err != nil {
		t.Fatal(err)
	}
	if s, err := c.Collect(t.Context()); err != nil || len(s.Resources) != 1 {
		t.Errorf("got %v, %v", s.Resources, err)
	}
}
