package backend_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/state/backend"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"terraform.tfstate":                          "root",
		"terraform.tfstate.backup":                   "old",
		"terraform.tfstate.d/prod/terraform.tfstate": "prod",
		"terraform.tfstate.d/test/terraform.tfstate": "test",
		"envs/a/terraform.tfstate":                   "a",
		"envs/b/terraform.tfstate":                   "b",
		"envs/b/other.tfstate":                       "other",
		"odd[1].tfstate":                             "odd",
		"packed.tfstate":                             gzipped("packed"),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason     string
		location   string
		workspaces []string
		want       []string
		err        string
	}{
		"File":       {"a file", "terraform.tfstate", nil, []string{"terraform.tfstate: root"}, ""},
		"Folder":     {"a folder", ".", nil, []string{"terraform.tfstate: root"}, ""},
		"Glob":       {"a pattern", "envs/*/terraform.tfstate", nil, []string{"envs/a/terraform.tfstate: a", "envs/b/terraform.tfstate: b"}, ""},
		"Brackets":   {"brackets are literal", "odd[1].tfstate", nil, []string{"odd[1].tfstate: odd"}, ""},
		"Packed":     {"a gzip file", "packed.tfstate", nil, []string{"packed.tfstate: packed"}, ""},
		"Workspace":  {"a workspace in a folder", "terraform.tfstate", []string{"prod"}, []string{"terraform.tfstate.d/prod/terraform.tfstate: prod"}, ""},
		"Workspaces": {"every workspace of a folder", ".", []string{"*"}, []string{"terraform.tfstate: root", "terraform.tfstate.d/prod/terraform.tfstate: prod", "terraform.tfstate.d/test/terraform.tfstate: test"}, ""},
		"Some":       {"some workspaces", ".", []string{"default", "t*"}, []string{"terraform.tfstate: root", "terraform.tfstate.d/test/terraform.tfstate: test"}, ""},
		"Absent":     {"no file", "gone.tfstate", nil, nil, "there is no state; check the location, the workspace"},
		"Nothing":    {"a pattern of nothing", "gone/*.tfstate", nil, nil, "no state found; check the location and the workspaces"},
		"IsFolder":   {"a folder instead of a file", "envs/*", nil, nil, "not a regular file; set the path of the state file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings()
			s.Workspaces = tc.workspaces
			got, err := all(t.Context(), open(t, filepath.Join(dir, tc.location), s))
			for i, line := range got {
				got[i] = strings.TrimPrefix(line, dir+"/")
			}
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: got %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func TestFilesBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"Plain": strings.Repeat("x", 5<<20), "Bomb": gzipped(strings.Repeat("x", 5<<20)), "Broken": "\x1f\x8bxx"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings()
			s.MaxBytes = 4 << 20
			_, err := all(t.Context(), open(t, file(t, text), s))
			if err == nil || !strings.Contains(err.Error(), "more than 4 MiB; raise backend.max_bytes") && name != "Broken" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestReadOutside(t *testing.T) {
	t.Parallel()
	s := settings()
	s.GS.Anonymous = true
	err := open(t, "gs://bucket/a", s).Read(t.Context(), "gs://other/a.tfstate", nil)
	if err == nil || !strings.Contains(err.Error(), "the state is not in gs://bucket/") {
		t.Errorf("got %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ location, want string }{
		"Nothing":         {"", "no path; set the path of the state file"},
		"Scheme":          {"ftp://host/path", `unknown scheme "ftp"; want a file's path, or one of azurerm, consul, file, gs, http, https, kubernetes, pg, remote, s3`},
		"S3":              {"s3://bucket", "want s3://bucket/key"},
		"S3Credentials":   {"s3://AKIA:hunter2@bucket/key", "without credentials"},
		"GS":              {"gs://", "want gs://bucket/prefix"},
		"Azure":           {"azurerm://account/container", "want azurerm://account/container/key"},
		"AzureToken":      {"azurerm://account:hunter2@x/container/key", "without credentials"},
		"HTTP":            {"https://", "not a URL"},
		"HTTPPassword":    {"https://user:hunter2@host/state", "set backend.http.username and backend.http.password_file"},
		"PG":              {"pg://user:hunter2@host/db", "set backend.pg.password_file"},
		"PGQuery":         {"pg://user@host/db?password=hunter2", "set backend.pg.password_file"},
		"PGPort":          {"pg://user@host:port/db", "not a URL"},
		"PGMode":          {"pg://user@host/db?sslmode=odd", "want pg://user@host:port/database"},
		"Consul":          {"consul://host:8500", "want consul://host:port/path"},
		"ConsulToken":     {"consul://:hunter2@host/path", "without credentials"},
		"Kubernetes":      {"kubernetes://namespace", "want kubernetes://namespace/suffix"},
		"Remote":          {"remote://app.terraform.io/org", "want remote://app.terraform.io/organization/workspace"},
		"RemoteToken":     {"remote://x:hunter2@host/org/ws", "without credentials"},
		"RemoteTooDeep":   {"remote://host/org/ws/more", "want remote://"},
		"AzureNoAccount":  {"azurerm:///container/key", "want azurerm://"},
		"KubernetesDepth": {"kubernetes://a/b/c", "want kubernetes://"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := backend.Open(tc.location, settings())
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	t.Run("Workspaces", func(t *testing.T) {
		t.Parallel()
		s := settings()
		s.Workspaces = []string{"prod"}
		for _, location := range []string{"https://host/state", "remote://host/org/ws"} {
			if _, err := backend.Open(location, s); err == nil || !strings.Contains(err.Error(), "remove backend.workspaces") {
				t.Errorf("%s: got %v", location, err)
			}
		}
	})
	t.Run("Endpoint", func(t *testing.T) {
		t.Parallel()
		s := settings()
		s.GS.Endpoint = "https://user:hunter2@host"
		if _, err := backend.Open("gs://bucket/x", s); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v", err)
		}
	})
}
