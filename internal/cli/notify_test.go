package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/cli"
)

func TestNotifyTest(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.URL.Path+" "+string(body))
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusGone)
		}
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "driftd.yaml")
	config := fmt.Sprintf(`
state_dir: ./state
sources: [{name: prod, type: kubernetes, settings: {dump: live.yaml}}]
notify:
  receivers:
    - {name: hook, type: webhook, settings: {url: "%[1]s/hook"}}
    - {name: gone, type: webhook, settings: {url: "%[1]s/gone"}}
    - {name: alerts, type: alertmanager, settings: {urls: ["%[1]s"]}}
`, server.URL)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := cli.Run(t.Context(), cli.Build{Version: "1.2.3"}, []string{"notify", "test", "--config", file}, cli.Streams{Out: &out, Err: &errs})
	for _, want := range []string{"hook (webhook): ok\n", "gone (webhook): FAILED: ", "alerts (alertmanager): ok\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("stdout lacks %q:\n%s%s", want, out.String(), errs.String())
		}
	}
	if code != 1 {
		t.Errorf("exit code %d, want 1: one receiver failed", code)
	}
	mu.Lock()
	defer mu.Unlock()
	if all := strings.Join(got, "\n"); !strings.Contains(all, "This is a test") || !strings.Contains(all, "/api/v2/alerts []") || strings.Contains(all, ":null") {
		t.Errorf("the receivers got:\n%s", all)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(file), "state")); err == nil {
		t.Error("a test leaves something in the state folder")
	}
}
