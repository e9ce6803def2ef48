package kube_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// A recorded is a revision of a release, with the fields that tests set.
type recorded struct {
	Name      string         `json:"name"`
	Namespace string         `json:"namespace"`
	Version   int            `json:"version"`
	Info      map[string]any `json:"info"`
	Chart     map[string]any `json:"chart"`
	Config    any            `json:"config"`
	Manifest  string         `json:"manifest"`
	Hooks     []any          `json:"hooks"`
}

// newRecorded returns a revision of the release blog.
func newRecorded(version int, status, manifest string) recorded {
	return recorded{Name: "blog", Namespace: "web", Version: version, Info: map[string]any{"status": status},
		Chart: map[string]any{"metadata": map[string]any{"name": "journal", "version": "1.2.3"}}, Manifest: manifest}
}

// pack encodes a record as Helm does.
func pack(t testing.TB, record any) string {
	t.Helper()
	text, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	return packText(t, text)
}

func packText(t testing.TB, text []byte) string {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return twice(packed.Bytes())
}

func twice(data []byte) string {
	return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(data)))
}

// releaseSecret returns the Secret of a revision of the release blog in the namespace web.
func releaseSecret(t testing.TB, version int, status, data string) model.Value {
	t.Helper()
	return object(t, fmt.Sprintf(`{apiVersion: v1, kind: Secret, type: helm.sh/release.v1, data: {release: %q},
metadata: {namespace: web, name: sh.helm.release.v1.blog.v%d, creationTimestamp: "2026-01-0%dT00:00:00Z", labels: {owner: helm, name: blog, status: %s}}}`, data, version, version, status))
}

// configMaps returns a manifest with ConfigMaps, given as "name value".
func configMaps(lines ...string) string {
	var text strings.Builder
	for _, line := range lines {
		name, value, _ := strings.Cut(line, " ")
		fmt.Fprintf(&text, "---\n# Source: blog/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {app.kubernetes.io/managed-by: x}}\ndata: {a: %q}\n", name, value)
	}
	return text.String()
}

// TestReadReleaseStatus reads a status that Helm does not have: it is shown in findings.
func TestReadReleaseStatus(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"pending-upgrade": "pending-upgrade", "pending-" + strings.Repeat("x", 1000): "unknown", "": "unknown"} {
		if got := kube.ReadRelease(releaseSecret(t, 1, "deployed", pack(t, newRecorded(1, text, ""))), sealer); got.Status != want {
			t.Errorf("got %q, want %q", got.Status, want)
		}
	}
}

func TestReadRelease(t *testing.T) {
	t.Parallel()
	record := newRecorded(1, "deployed", configMaps("one 1", "two 2")+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: other}\nstringData: {password: hunter2}\n")
	record.Config = map[string]any{"replicas": 1e6, "image": map[string]any{"tag": "1"}}
	record.Hooks = []any{map[string]any{"manifest": configMaps("hook h")}}
	got := kube.ReadRelease(releaseSecret(t, 1, "deployed", pack(t, record)), sealer)
	if got == nil || got.Unread != "" {
		t.Fatalf("got %+v", got)
	}
	var names []string
	for _, o := range got.Objects {
		names = append(names, o.Kind+" "+o.ID)
	}
	want := []string{"kubernetes/ConfigMap web/hook", "kubernetes/ConfigMap web/one", "kubernetes/ConfigMap web/two", "kubernetes/Secret other/key"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if got.Name != "blog" || got.Place != "web" || got.Revision != 1 || got.Status != "deployed" || got.Package != "journal-1.2.3" {
		t.Errorf("got %+v", got)
	}
	// The texts of values are sealed: a record is in a Secret.
	if settings := got.Settings; settings.At("image", "tag").Kind() != model.Secret || settings.At("replicas").Text() != "1000000" || len(settings.Fields()) != 2 {
		t.Errorf("settings %s", settings.AppendJSON(nil))
	}
	if o := got.Find(model.Ref{Kind: "kubernetes/ConfigMap", ID: "web/one"}); o == nil || o.Value.At("metadata", "labels", "app.kubernetes.io/managed-by").Str() != "Helm" {
		t.Errorf("the label is not as Helm applies it: %v", o)
	}
	if o := got.Find(model.Ref{Kind: "kubernetes/Secret", ID: "other/key"}); o == nil || o.Value.At("data", "password").Kind() != model.Secret {
		t.Errorf("the Secret is not sealed: %v", o)
	}
}

// varied returns the text of a format with n different numbers of 16 digits.
func varied(format string, n int) string {
	var text strings.Builder
	for i := range uint64(n) {
		fmt.Fprintf(&text, format, (i+1<<40)*0x9e3779b97f4a7c15)
	}
	return text.String()
}

// TestReadReleaseProblems reads records that are malformed, too large or forged. The reason does
// not quote them.
func TestReadReleaseProblems(t *testing.T) {
	t.Parallel()
	other := newRecorded(1, "deployed", "")
	other.Name = "hunter2"
	const no = "it is not the record of a release: delete it if Helm does not need it"
	for reason, tc := range map[string]struct{ data, want string }{
		"no base64":             {"?", no},
		"base64 once":           {base64.StdEncoding.EncodeToString([]byte("?")), no},
		"no gzip":               {twice([]byte{0x1f, 0x8b, 0x08, 0}), no},
		"cut off":               {twice([]byte{0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0, 1}), no},
		"no JSON":               {packText(t, []byte("hunter2")), no},
		"empty":                 {"", no},
		"a bomb":                {packText(t, bytes.Repeat([]byte{' '}, 20<<20)), "it is larger than 16 MiB"},
		"another release":       {pack(t, other), "it is the record of another release or revision than its name"},
		"another revision":      {pack(t, newRecorded(2, "deployed", "")), "it is the record of another release or revision than its name"},
		"settings are no map":   {pack(t, map[string]any{"name": "blog", "version": 1, "config": []string{"hunter2"}}), no},
		"a manifest of 5 MiB":   {pack(t, newRecorded(1, "deployed", varied("# %x"+strings.Repeat("x", 300)+"\n", 1<<14))), "its manifests are larger than 4 MiB"},
		"a document of 2 MiB":   {pack(t, newRecorded(1, "deployed", varied("# %x"+strings.Repeat("x", 300)+"\n", 1<<12))), "an object of it is larger than 1 MiB"},
		"a manifest of no YAML": {pack(t, newRecorded(1, "deployed", "a: [hunter2")), "its manifest is not valid YAML"},
		"packed tightly":        {pack(t, newRecorded(1, "deployed", "items: ["+strings.Repeat("{},", 1<<17)+"]")), "it is more than 100 times as large as its packed form"},
		"much memory":           {pack(t, newRecorded(1, "deployed", strings.Repeat("---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: ["+varied("a%x,"+strings.Repeat("{},", 200), 1500)+"]}\n", 4))), "its objects need more than 32 MiB of memory"},
		"many objects":          {pack(t, newRecorded(1, "deployed", varied("---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a%x}}\n", 10_001))), "it has more than 10000 objects"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			got := kube.ReadRelease(releaseSecret(t, 1, "deployed", tc.data), sealer)
			if got == nil || got.Unread != tc.want {
				t.Errorf("got %+v, want %q", got, tc.want)
			}
		})
	}
}

// TestReadReleaseOfNone reads Secrets that are no records, or those of revisions that do not count.
func TestReadReleaseOfNone(t *testing.T) {
	t.Parallel()
	data := pack(t, newRecorded(1, "deployed", ""))
	secret := releaseSecret(t, 1, "deployed", data)
	for reason, v := range map[string]model.Value{
		"a superseded revision": releaseSecret(t, 1, "superseded", data),
		"an uninstalled one":    releaseSecret(t, 1, "uninstalled", data),
		"another type":          secret.With("type", model.StringOf("Opaque")),
		"another name":          secret.With("metadata", secret.At("metadata").With("name", model.StringOf("blog"))),
		"a large revision":      secret.With("metadata", secret.At("metadata").With("name", model.StringOf("sh.helm.release.v1.a.v99999999999999999999"))),
		"a ConfigMap":           secret.With("kind", model.StringOf("ConfigMap")),
	} {
		if got := kube.ReadRelease(v, sealer); got != nil {
			t.Errorf("%s: got %+v", reason, got)
		}
	}
}

func FuzzReadRelease(f *testing.F) {
	f.Add([]byte(`{"name":"blog","version":1,"info":{"status":"deployed"},"config":{"a":1},"manifest":"a: b","hooks":[{"manifest":"c"}]}`), true)
	f.Add([]byte("?"), false)
	f.Fuzz(func(t *testing.T, text []byte, packed bool) {
		data := twice(text)
		if packed {
			data = packText(t, text)
		}
		if r := kube.ReadRelease(releaseSecret(t, 1, "deployed", data), sealer); r == nil {
			t.Error("the record is not reported")
		}
	})
}
