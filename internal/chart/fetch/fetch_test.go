package fetch_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/chart/fetch"
)

const archive = "the archive of a chart"

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// A server is a registry with tokens, and a repository of charts with a password.
type server struct {
	*httptest.Server

	// archive and listed are the content of the archive, and the digest in the index.
	archive, listed string
	// at is the URL of the archive in the index.
	at string
	// realm is where the registry has its tokens; "" is at itself.
	realm    string
	requests []string
}

func (s *server) manifest() string {
	return fmt.Sprintf(`{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": {"mediaType": "x", "digest": %q, "size": 2},
		"layers": [{"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "digest": %q, "size": %d}]}`, digestOf("{}"), digestOf(archive), len(archive))
}

func start(t *testing.T) *server {
	t.Helper()
	s := &server{archive: archive, listed: digestOf(archive), at: "charts/blog-1.0.0.tgz"}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		known := name == "robot" && password == "hunter2"
		s.requests = append(s.requests, r.URL.Path)
		switch path := r.URL.Path; {
		case path == "/token" && known:
			_, _ = fmt.Fprint(w, `{"token": "ticket"}`)
		case strings.HasPrefix(path, "/v2/") && r.Header.Get("Authorization") != "Bearer ticket":
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+cmp.Or(s.realm, s.URL+"/token")+`",service="s"`)
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprint(w, `{"errors": [{"code": "UNAUTHORIZED", "message": "hunter2"}]}`)
		case path == "/v2/charts/blog/manifests/1.0.0_x":
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Docker-Content-Digest", digestOf(s.manifest()))
			_, _ = fmt.Fprint(w, s.manifest())
		case path == "/v2/charts/blog/blobs/"+digestOf(archive), path == "/charts/blog-1.0.0.tgz" && known, path == "/elsewhere" && name == "":
			_, _ = fmt.Fprint(w, s.archive)
		case path == "/index.yaml" && known && r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(http.StatusNotModified)
		case path == "/index.yaml" && known:
			w.Header().Set("ETag", `"1"`)
			_, _ = fmt.Fprint(w, "the index")
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// settings returns the settings for the registry, or for the repository.
func (s *server) settings(t *testing.T, oci bool) fetch.Settings {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	made := fetch.Settings{Version: "1.0.0+x", Username: "robot", PasswordFile: file, Cache: filepath.Join(t.TempDir(), "cache"), Limit: 1 << 20,
		Index: func(_ context.Context, index []byte) (chart.Index, error) {
			if string(index) != "the index" {
				t.Errorf("index %q", index)
			}
			return indexOf(chart.Entry{Version: "1.0.0+x", URLs: []string{s.at}, Digest: strings.TrimPrefix(s.listed, "sha256:")}), nil
		}}
	if oci {
		made.OCI = strings.Replace(s.URL, "http:", "oci:", 1) + "/charts/blog"
	} else {
		made.Repo, made.Chart = s.URL, "blog"
	}
	return made
}

// read fetches the chart and returns its archive.
func read(t *testing.T, settings fetch.Settings) (*fetch.Source, string, error) {
	t.Helper()
	if err := settings.Check(); err != nil {
		t.Fatal(err)
	}
	source, err := fetch.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Fetch(t.Context(), nil); err != nil {
		return source, "", err
	}
	data, err := source.Archive()
	return source, string(data), err
}

// TestFetch fetches a chart with credentials, and a second time from the cache.
func TestFetch(t *testing.T) {
	t.Parallel()
	for _, oci := range []bool{true, false} {
		s := start(t)
		settings := s.settings(t, oci)
		source, got, err := read(t, settings)
		if err != nil || got != archive {
			t.Fatalf("oci %t: %q, %v", oci, got, err)
		}
		s.requests = nil
		if err := source.Fetch(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for _, path := range s.requests {
			if strings.Contains(path, "blobs") || strings.HasSuffix(path, ".tgz") {
				t.Errorf("oci %t: fetches %s again", oci, path)
			}
		}
		if settings.Digest = s.listed; oci {
			settings.Digest = digestOf(s.manifest())
		}
		if _, got, err := read(t, settings); err != nil || got != archive {
			t.Fatalf("oci %t, digest: %q, %v", oci, got, err)
		}
		s.Close()
		if _, got, err := read(t, settings); err != nil || got != archive {
			t.Errorf("oci %t, digest in the cache: %q, %v", oci, got, err)
		}
		settings.Digest = ""
		if _, _, err := read(t, settings); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("oci %t: unreachable: %v", oci, err)
		}
	}
}

// TestFetchProblems fetches charts that are not as they should be. No error has the password or the text of a server.
func TestFetchProblems(t *testing.T) {
	t.Parallel()
	zeros := "sha256:" + strings.Repeat("0", 64)
	for name, tc := range map[string]struct {
		oci    bool
		change func(*server, *fetch.Settings)
		want   string
	}{
		"archive of a registry":      {true, func(s *server, _ *fetch.Settings) { s.archive = strings.ToUpper(archive) }, "the content does not have the digest"},
		"digest in a registry":       {true, func(_ *server, c *fetch.Settings) { c.Digest = zeros }, "with another digest than the setting"},
		"size in a registry":         {true, func(_ *server, c *fetch.Settings) { c.Limit = 3 }, "the archive is larger than 3 bytes"},
		"version in a registry":      {true, func(_ *server, c *fetch.Settings) { c.Version = "2.0.0" }, "the server answers 40"},
		"password for a registry":    {true, func(_ *server, c *fetch.Settings) { c.Username = "other" }, "the server answers 401 Unauthorized: check chart_username"},
		"archive of a repository":    {false, func(s *server, _ *fetch.Settings) { s.archive = "other" }, "the archive does not have the digest"},
		"digest in a repository":     {false, func(_ *server, c *fetch.Settings) { c.Digest = zeros }, "with another digest than the setting"},
		"no digest":                  {false, func(s *server, _ *fetch.Settings) { s.listed = "" }, "the index has no digest of the chart: set digest"},
		"malformed digest":           {false, func(s *server, _ *fetch.Settings) { s.listed = "../../x" }, "does not have the digest"},
		"size in a repository":       {false, func(_ *server, c *fetch.Settings) { c.Limit = 3 }, "the answer is larger than 3 bytes"},
		"password for a repository":  {false, func(_ *server, c *fetch.Settings) { c.Username = "other" }, "the server answers 401 Unauthorized: check chart_username"},
		"plain http to another host": {false, func(s *server, _ *fetch.Settings) { s.at = "http://192.0.2.1/blog.tgz" }, "an address without https"},
		"token host":                 {true, func(s *server, _ *fetch.Settings) { s.realm = "http://127.0.0.1:9/token" }, "the registry wants the password sent to 127.0.0.1:9, which is not its own host: if that is its host for tokens, set chart_token_host to it"},
		"token host with a text":     {true, func(s *server, _ *fetch.Settings) { s.realm = "https://a_b=hunter2/token" }, "wants the password sent to another host"},
		"registry in an index":       {false, func(s *server, _ *fetch.Settings) { s.at = "oci://registry.example.org/charts/blog:1.0.0" }, "the index points to an OCI registry: set oci: oci://registry.example.org/charts/blog instead of repo"},
		"text in an index":           {false, func(s *server, _ *fetch.Settings) { s.at = "oci://registry.example.org/charts/blog?token=hunter2" }, "the index points to an OCI registry: set oci instead of repo"},
		"a file":                     {false, func(s *server, _ *fetch.Settings) { s.at = "file:///etc/passwd" }, "an address without https"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			settings := s.settings(t, tc.oci)
			tc.change(s, &settings)
			_, _, err := read(t, settings)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestOtherHost sends no credentials to a host that only the index names.
func TestOtherHost(t *testing.T) {
	t.Parallel()
	s, other := start(t), start(t)
	s.at = other.URL + "/elsewhere"
	if _, got, err := read(t, s.settings(t, false)); err != nil || got != archive {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		settings fetch.Settings
		want     string
	}{
		{fetch.Settings{OCI: "oci://r.example.org/a", Version: "1.2.3"}, ""},
		{fetch.Settings{OCI: "oci://r.example.org/a", Version: "v1.2.3-rc.1+b"}, ""},
		{fetch.Settings{Repo: "https://r.example.org/a", Chart: "a", Version: "1.2.3"}, ""},
		{fetch.Settings{OCI: "oci://r.example.org/a", Version: "^1.2.3"}, "not an exact version"},
		{fetch.Settings{OCI: "oci://r.example.org/a", Version: "1.2"}, "not an exact version"},
		{fetch.Settings{OCI: "oci://r.example.org/a", Version: "latest"}, "not an exact version"},
		{fetch.Settings{OCI: "oci://r.example.org/a"}, "version is not set"},
		{fetch.Settings{OCI: "https://r.example.org/a", Version: "1.2.3"}, "oci and repo take a URL"},
		{fetch.Settings{OCI: "oci://u:p@r.example.org/a", Version: "1.2.3"}, "oci and repo take a URL"},
		{fetch.Settings{Repo: "http://r.example.org/a", Chart: "a", Version: "1.2.3"}, "oci and repo take a URL"},
		{fetch.Settings{Repo: "https://r.example.org/a", Version: "1.2.3"}, "chart is not set"},
		{fetch.Settings{OCI: "oci://r.example.org/a", Chart: "a", Version: "1.2.3"}, "remove chart"},
		{fetch.Settings{OCI: "oci://r.example.org/a", Repo: "https://r.example.org", Version: "1.2.3"}, "both set"},
		{fetch.Settings{OCI: "oci://r.example.org/a", Version: "1.2.3", Digest: "abc"}, "is not a digest"},
		{fetch.Settings{OCI: "oci://r.example.org/a", Version: "1.2.3", Username: "a"}, "belong together"},
		{fetch.Settings{OCI: "oci://r.example.org/a", Version: "1.2.3", Username: "a", PasswordFile: "b", TokenHost: "t.example.org:5001"}, ""},
		{fetch.Settings{OCI: "oci://r.example.org/a", Version: "1.2.3", Username: "a", PasswordFile: "b", TokenHost: "https://t.example.org"}, "is not the name of a host"},
		{fetch.Settings{OCI: "oci://r.example.org/a", Version: "1.2.3", TokenHost: "t.example.org"}, "remove it"},
		{fetch.Settings{Repo: "https://r.example.org/a", Chart: "a", Version: "1.2.3", Username: "a", PasswordFile: "b", TokenHost: "t.example.org"}, "remove it"},
	} {
		if err := tc.settings.Check(); (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "u:p")) {
			t.Errorf("%+v: %v, want %q", tc.settings, err, tc.want)
		}
	}
}
