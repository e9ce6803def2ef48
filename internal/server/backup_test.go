package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// asking returns a client of a handler over a real connection.
func asking(t *testing.T, h http.Handler) *Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	client := server.Client()
	client.Transport = toServer{server.URL, client.Transport}
	return &Client{HTTP: client}
}

// toServer sends every request to one server.
type toServer struct {
	url  string
	next http.RoundTripper
}

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = strings.TrimPrefix(s.url, "http://")
	return s.next.RoundTrip(r)
}

func TestBackupOverTheSocket(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("page", 100_000)
	api := API{Now: now, Log: quiet(), Copy: func(w io.Writer) (int64, error) {
		n, err := io.WriteString(w, whole)
		return int64(n), err
	}}
	var got bytes.Buffer
	if err := asking(t, api.backup()).Backup(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if got.String() != whole {
		t.Errorf("the copy has %d bytes, want %d", got.Len(), len(whole))
	}
}

// TestTruncatedBackup verifies that a truncated backup is an error for the client.
func TestTruncatedBackup(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, sent, want string
	}{
		"at once":       {"nothing was sent yet, so the error can be said", "", "the disk is gone"},
		"in the middle": {"a part of a database looks like one", strings.Repeat("page", 100_000), "copy the backup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := API{Now: now, Log: quiet(), Copy: func(w io.Writer) (int64, error) {
				if tc.sent != "" {
					if _, err := io.WriteString(w, tc.sent); err != nil {
						return 0, err
					}
				}
				return 0, errors.New("the disk is gone")
			}}
			err := asking(t, api.backup()).Backup(t.Context(), io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Backup() = %v, want %q: %s", err, tc.want, tc.reason)
			}
		})
	}
}

func TestOneBackupAtATime(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	api := API{Now: now, Log: quiet(), Copy: func(io.Writer) (int64, error) {
		close(begun)
		<-end
		return 0, nil
	}}
	client := asking(t, api.backup())
	first := make(chan error, 1)
	go func() { first <- client.Backup(t.Context(), io.Discard) }()
	<-begun
	err := client.Backup(t.Context(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "another backup") {
		t.Errorf("a second backup = %v, want a refusal", err)
	}
	close(end)
	if err := <-first; err != nil {
		t.Errorf("the first backup = %v", err)
	}
}
