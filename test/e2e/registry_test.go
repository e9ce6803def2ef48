//go:build e2e

package e2e

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"
)

// chartServer FOLDER FILES... starts an OCI registry that also serves the folder, and replaces $REGISTRY in
// the files by its address, which is also set in the environment. "chartserver -stop" stops it.
func (h harness) chartServer(ts *testscript.TestScript, neg bool, args []string) {
	if !neg && len(args) == 1 && args[0] == "-stop" {
		ts.Value(chartServerKey{}).(*chartServer).stop()
		return
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: chartserver FOLDER FILES... or chartserver -stop")
	}
	mux := http.NewServeMux()
	mux.Handle("/v2/", registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	mux.Handle("/", http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	server := httptest.NewServer(mux)
	ts.Defer(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	ts.Value(chartServerKey{}).(*chartServer).stop = server.Close
	ts.Setenv("REGISTRY", address)
	for _, file := range args[1:] {
		text := strings.ReplaceAll(ts.ReadFile(file), "$REGISTRY", address)
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
}

// A chartServer is the server of a script.
type chartServer struct{ stop func() }

type chartServerKey struct{}
