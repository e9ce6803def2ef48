//go:build e2e

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// hostileAnswers returns handlers of responses that need much more memory than they have bytes,
// or never end. "allowed" is one of the largest that is decoded.
func hostileAnswers(t *testing.T) map[string]http.HandlerFunc {
	repeated := func(begin, each string, n int, end string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			// The reader may close the connection at any time.
			_, _ = io.WriteString(w, begin)
			part := strings.Repeat(each, 10_000)
			for range n / 10_000 {
				if _, err := io.WriteString(w, part); err != nil {
					return
				}
			}
			_, _ = io.WriteString(w, end)
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	// The kernel counts the memory of the parent as that of a new process at first: this parent
	// is small.
	part := strings.Repeat("a", 1<<20)
	_, err := io.WriteString(z, `{"count":1,"next":null,"results":[{"a":"`)
	for range 256 {
		_, more := io.WriteString(z, part)
		err = errors.Join(err, more)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return map[string]http.HandlerFunc{
		"maps":    repeated(`{"count":1,"next":null,"results":[{}`, ",{}", 9_000_000, "]}"),
		"lists":   repeated("", "[", 5_000_000, ""),
		"nulls":   repeated(`{"kind":"List","items":[null`, ",null", 9_000_000, "]}"),
		"fields":  repeated(`{"data":{"":0`, `,"abcdef":1`, 4_000_000, "}}"),
		"allowed": repeated(`{"data":{"":0`, `,"abcdef":1`, 1_500_000, "}}"),
		"tags":    repeated("<a>", "<b/>", 4_000_000, "</a>"),
		"endless": repeated(`{"results":[{"a":"`, "a", 1<<31, ""),
		"packed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		},
	}
}

// maxScanned bounds the memory of a scan of one hostile source with the default max_memory, in
// KiB.
const maxScanned = 700 << 10

// TestHostileServers checks that a server of any type cannot make driftd exceed the default
// memory bound, and that its source is unchecked.
//
//nolint:paralleltest // a process begins with the memory of this one
func TestHostileServers(t *testing.T) {
	answers := hostileAnswers(t)
	for _, typ := range []string{"netbox", "proxmox", "kubernetes", "openstack", "aws"} {
		for name, answer := range answers {
			t.Run(typ+" "+name, func(t *testing.T) {
				server := httptest.NewServer(answer)
				defer server.Close()
				dir := t.TempDir()
				url := server.URL
				settings := map[string]string{
					"netbox":     fmt.Sprintf("{url: %q, token_file: token}", url),
					"proxmox":    fmt.Sprintf("{url: %q, token_id: a@pve!x, token_file: token}", url),
					"kubernetes": fmt.Sprintf("{server: %q, token_file: token}", url),
					"openstack":  "{clouds_file: clouds.yaml, cloud: c}",
					"aws":        fmt.Sprintf("{endpoint: %q, region: r, path_style: true, credentials_file: aws, profile: default}", url),
				}[typ]
				for file, text := range map[string]string{
					"token":       "0123456789abcdef",
					"clouds.yaml": fmt.Sprintf("clouds: {c: {auth: {auth_url: %q, username: u, password: p, project_name: p, user_domain_name: d, project_domain_name: d}, region_name: r}}\n", url+"/v3"),
					"aws":         "[default]\naws_access_key_id = A\naws_secret_access_key = 0123456789abcdef\n",
					"driftd.yaml": "state_dir: state\nsources: [{name: x, type: " + typ + ", timeout: 60s, settings: " + settings + "}]\n",
				} {
					if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				cmd := exec.Command(driftdPath(t), "scan", "--config", "driftd.yaml", "-o", "json")
				cmd.Dir = dir
				var report struct {
					Coverage []model.Coverage `json:"coverage"`
				}
				out, err := cmd.Output()
				if code := cmd.ProcessState.ExitCode(); code != 3 {
					t.Errorf("exit %d, want 3: %v", code, err)
				}
				if err := json.Unmarshal(out, &report); err != nil {
					t.Fatalf("%v: %.500s", err, out)
				}
				if len(report.Coverage) != 1 || report.Coverage[0].Complete || report.Coverage[0].Reason == "" {
					t.Errorf("coverage %+v", report.Coverage)
				}
				used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
				t.Logf("%d MiB: %.120s", used>>10, report.Coverage[0].Reason)
				if used > maxScanned {
					t.Errorf("it took %d MiB", used>>10)
				}
			})
		}
	}
}
