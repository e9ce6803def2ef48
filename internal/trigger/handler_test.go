package trigger_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/trigger"
)

func TestServeHTTP(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	q := trigger.NewQueue(trigger.Options{Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))})
	mux := http.NewServeMux()
	mux.Handle("POST /hooks/{name}", q)
	ask := func(name, signature, body string) string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/"+name, strings.NewReader(body))
		r.Header.Set("X-Hub-Signature-256", signature)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return fmt.Sprint(w.Code, " ", w.Header().Get("Content-Type"), " ", w.Body.String())
	}
	unknown := ask("push", hubSignature, hubBody) // before any trigger is configured
	q.Configure([]trigger.Trigger{
		{Name: "push", Type: "github", Secret: secret(hubSecret)},
		{Name: "broken", Type: "github", Secret: func() (string, error) { return "", errors.New("read secret file /x: gone") }},
	})
	const typ = " application/json "
	tests := []struct{ reason, got, want string }{
		{"no trigger is configured", unknown, "404" + typ + `{"error":"unknown trigger","hint":"check the setting triggers of driftd"}`},
		{"no trigger has this name", ask("psh", hubSignature, hubBody), strings.TrimSpace(unknown)},
		{"a valid signature", ask("push", hubSignature, hubBody), "202" + typ + `{"accepted":true}`},
		{"a replay", ask("push", hubSignature, hubBody), "409" + typ + `{"error":"this request was already accepted","hint":"send a new request for a new scan"}`},
		{"a wrong signature", ask("push", hubSignature, "{}"), "401" + typ + `{"error":"invalid signature","hint":"see the log of driftd for the reason"}`},
		{"another wrong signature", ask("push", hubSignature, "[]"), "401" + typ + `{"error":"invalid signature","hint":"see the log of driftd for the reason"}`},
		{"a secret that cannot be read", ask("broken", hubSignature, "{}"), "500" + typ + `{"error":"the signature could not be checked","hint":"see the log of driftd for the reason"}`},
		{"a body that is too large", ask("push", hubSignature, strings.Repeat("x", trigger.MaxBody+1)), "413" + typ + `{"error":"request body over 25 MiB","hint":"send a smaller request"}`},
	}
	for _, tt := range tests {
		if strings.TrimSpace(tt.got) != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.reason, tt.got, tt.want)
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	want := []string{`trigger=push err="request already accepted"`, "does not match the body", "trigger=broken", "over 25 MiB"}
	if len(lines) != len(want) {
		t.Fatalf("want one line for each trigger and kind of refusal, got:\n%s", log.String())
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Errorf("line %d of the log is %s, want %q in it", i, line, want[i])
		}
	}
	if text := log.String(); strings.Contains(text, hubSecret) || strings.Contains(text, "757107ea") {
		t.Errorf("the log shows a secret or a signature:\n%s", text)
	}
}

func TestBrokenRequests(t *testing.T) {
	t.Parallel()
	q := trigger.NewQueue(trigger.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	q.Configure([]trigger.Trigger{{Name: "push", Type: "github", Secret: secret(hubSecret)}})
	tests := map[string]struct {
		reason string
		limit  int64
		length int64
		want   int
	}{
		"cut off":   {"a body that ends early", 1 << 20, 100, http.StatusBadRequest},
		"too large": {"the limit of the server itself", 5, 0, http.StatusRequestEntityTooLarge},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.SetPathValue("name", "push")
				r.Body = http.MaxBytesReader(w, r.Body, tt.limit)
				q.ServeHTTP(w, r)
			}))
			defer server.Close()
			got := raw(t, server.Listener.Addr().String(), fmt.Sprintf("POST /hooks/push HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Hub-Signature-256: %s\r\nContent-Length: %d\r\n\r\n%s",
				hubSignature, max(tt.length, int64(len(hubBody))), hubBody))
			if got != tt.want {
				t.Errorf("%s: answered %d, want %d", tt.reason, got, tt.want)
			}
		})
	}
}

// raw sends a request byte for byte, closes its half of the connection and returns
// the status of the answer.
func raw(t *testing.T, address, request string) int {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode
}
