package witness_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/witness"
)

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWebhookMessage(t *testing.T) {
	t.Parallel()
	var got map[string]any
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &got)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	h := newLog(t).add()
	h.Origin = "a<b>"
	w := open(t, witness.Settings{WebhookFile: file(t, server.URL+"/hook\n"), TokenFile: file(t, "t0ken\n")}, env())
	if err := w.Publish(t.Context(), h, false); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"origin": "a<b>", "size": 1.0, "root": h.Root.String(), "note": string(h.Note), "time": "2026-11-24T12:00:00Z",
		"text": "driftd audit head: 1 entries, root " + h.Root.String() + " (a&lt;b&gt;)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"Authorization": "Bearer t0ken", "User-Agent": "driftd/1.2.3", "Content-Type": "application/json; charset=UTF-8"} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, err := w.Heads(t.Context(), nil); !errors.Is(err, witness.ErrWriteOnly) {
		t.Error(err)
	}
}

func TestWebhookRefused(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.URL.String()+r.Header.Get("Authorization"), http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	for want, s := range map[string]witness.Settings{
		"responds with 403 Forbidden: check the credentials":         {Webhook: server.URL + "/" + secret, TokenFile: file(t, secret)},
		"token_file: read secret file":                               {Webhook: server.URL + "/" + secret, TokenFile: "/nowhere/x"},
		"webhook_file: read secret file":                             {WebhookFile: "/nowhere/x"},
		"webhook_file: the address must begin with https://":         {WebhookFile: file(t, secret)},
		"webhook_file: the address would send the token in clear te": {WebhookFile: file(t, "http://a.example/"+secret), TokenFile: file(t, secret)},
		"no certificate in PEM form":                                 {Webhook: server.URL, CAFile: file(t, "x")},
	} {
		err := open(t, s, env()).Publish(t.Context(), newLog(t).add(), false)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]witness.Settings{
		"set exactly one of": {},
		"exactly one of file, webhook, webhook_file and git": {File: "/a", Git: "/b"},
		"webhook: the address must begin with https":         {Webhook: "ftp://a"},
		"is neither a URL nor an absolute path":              {Git: "a/b", Branch: "c"},
		"would send the token in clear text":                 {Git: "http://a/b", TokenFile: "/c", Branch: "c"},
	} {
		if _, err := witness.Open(s, env()); err == nil || !strings.HasPrefix(err.Error(), "open witness: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", s, err, want)
		}
	}
	for want, s := range map[string]witness.Settings{
		"the webhook https://a.example":   {Webhook: "https://a.example/s3cr3t"},
		"the webhook in /a":               {WebhookFile: "/a"},
		"branch c of https://a.example/b": {Git: "https://a.example/b", Branch: "c"},
		"branch c of git@a.example:b":     {Git: "git@a.example:b", Branch: "c"},
	} {
		if got := open(t, s, env()).Name(); got != want {
			t.Errorf("name %q, want %q", got, want)
		}
	}
}
