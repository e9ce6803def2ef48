package httpclient

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrust(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	dir := t.TempDir()
	good, other := filepath.Join(dir, "good.pem"), filepath.Join(dir, "other.pem")
	for file, content := range map[string][]byte{
		good:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		other: []byte("no certificate"),
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		reason, file, refused, unreached string
	}{
		"file":   {reason: "the file's authority is believed", file: good},
		"system": {reason: "without a file the system's are", unreached: "unknown authority"},
		"none":   {reason: "a file that is not there trusts nobody else", file: filepath.Join(dir, "none"), refused: "no such file"},
		"device": {reason: "a device has no end", file: "/dev/zero", refused: "not a regular file"},
		"other":  {reason: "nor does one of something else", file: other, refused: "holds no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trust, err := Trust(tc.file)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("Trust() error = %v, want %q: %s", err, tc.refused, tc.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust}}
			defer client.CloseIdleConnections()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := client.Do(r)
			if err == nil {
				err = answer.Body.Close()
			}
			if said := text(err); tc.unreached == "" && err != nil || !strings.Contains(said, tc.unreached) {
				t.Errorf("request: %v, want %q: %s", err, tc.unreached, tc.reason)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
