package backend_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/state/backend"
)

// content is a valid state.
const content = `{"version":4,"serial":1}`

// settings returns the default settings of tests.
func settings() backend.Settings {
	s := backend.Defaults()
	s.Timeout = 30 * time.Second
	return s
}

// file writes a file and returns its path.
func file(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A service is a test server of a store.
type service struct{ *httptest.Server }

// serve starts a service over HTTP. It refuses all methods except GET, and POST for tokens.
func serve(t testing.TB, answer http.HandlerFunc) *service {
	t.Helper()
	s := &service{httptest.NewServer(readOnly(answer))}
	t.Cleanup(s.Close)
	return s
}

// serveTLS starts a service over HTTPS. It also returns the file of its authority.
func serveTLS(t testing.TB, answer http.HandlerFunc) (*service, string) {
	t.Helper()
	s := &service{httptest.NewUnstartedServer(readOnly(answer))}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that do not trust the server close the connection
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, file(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
}

func readOnly(answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.URL.Path != "/token" {
			http.Error(w, "read only", http.StatusMethodNotAllowed)
			return
		}
		answer(w, r)
	}
}

// host returns the address without the scheme.
func (s *service) host() string {
	_, host, _ := strings.Cut(s.URL, "://")
	return host
}

// all reads all states of a listing. It returns one line per state.
func all(ctx context.Context, s *backend.Source) ([]string, error) {
	addresses, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	lines := []string{}
	for _, address := range addresses {
		err := s.Read(ctx, address, func(r io.Reader) error {
			text, err := io.ReadAll(r)
			lines = append(lines, fmt.Sprintf("%s: %s", address, text))
			return err
		})
		if err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// checkStates checks that source has the states of lines, each after prefix. If wantErr is not
// empty, it checks that source cannot be read for that reason, and that the error discloses no
// secret.
func checkStates(t *testing.T, reason string, source *backend.Source, prefix string, lines []string, wantErr string) {
	t.Helper()
	got, err := all(t.Context(), source)
	if wantErr != "" {
		if err == nil || !strings.Contains(err.Error(), wantErr) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q", reason, err, wantErr)
		}
		return
	}
	var want []string
	for _, line := range lines {
		want = append(want, prefix+line)
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got):\n%s", reason, err, diff)
	}
}

// named returns the lines of states that contain their own keys.
func named(keys []string) []string {
	var lines []string
	for _, key := range keys {
		lines = append(lines, key+": "+key)
	}
	return lines
}

// open opens a location. It fails the test on an error.
func open(t testing.TB, location string, s backend.Settings) *backend.Source {
	t.Helper()
	source, err := backend.Open(location, s)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func overwrite(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
