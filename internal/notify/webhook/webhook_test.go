package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/notifytest"
	"github.com/driftd/driftd/internal/notify/webhook"
)

var update = flag.Bool("update", false, "write the golden files anew")

func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// open opens a webhook receiver with settings on top of the defaults.
func open(env notify.Env, change func(*webhook.Config)) (notify.Receiver, error) {
	env.Now = now
	return webhook.Definition().Open(env, func(into any) error {
		change(into.(*webhook.Config))
		return nil
	})
}

// file writes a file and returns its path.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestContract(t *testing.T) {
	t.Parallel()
	notifytest.Run(t, func(t *testing.T, s notifytest.Settings) notifytest.Deliver {
		r, err := open(notify.Env{}, func(c *webhook.Config) {
			c.URLFile, c.Timeout = file(t, s.URL+"/"+s.Secret+"?key="+s.Secret), s.Timeout
			c.SecretFile, c.HeadersFile = file(t, s.Secret), file(t, "Authorization: Bearer "+s.Secret)
		})
		if err != nil {
			t.Fatal(err)
		}
		return notifytest.Notifier(r.Notifier)
	})
}

// A delivery is what a server got.
type delivery struct {
	header http.Header
	body   []byte
}

// serve answers each delivery well, and hands it on.
func serve(t *testing.T) (url string, got <-chan delivery) {
	t.Helper()
	deliveries := make(chan delivery, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		deliveries <- delivery{r.Header, body}
	}))
	t.Cleanup(server.Close)
	return server.URL, deliveries
}

func TestEvent(t *testing.T) {
	t.Parallel()
	url, got := serve(t)
	key := strings.Repeat("k", 32)
	raw := strings.Repeat("r", 24)
	r, err := open(notify.Env{URL: "https://driftd.example.org", Version: "1.2.3"}, func(c *webhook.Config) {
		c.URL = url
		c.SecretFile = file(t, "whsec_"+base64.StdEncoding.EncodeToString([]byte(key))+"\r\n"+raw+"\n")
		c.HeadersFile = file(t, "Authorization: Bearer t0ken\n\nX-Team: ops\n")
	})
	if err != nil {
		t.Fatal(err)
	}
	if receipt, err := r.Notifier.Notify(t.Context(), notifytest.Entry()); receipt != "" || err != nil {
		t.Fatalf("receipt %q, error %v", receipt, err)
	}
	d := <-got
	sign := func(key string) string {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte("7c3f.1.1795176000."))
		mac.Write(d.body)
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	for name, want := range map[string]string{
		"Content-Type": "application/cloudevents+json; charset=UTF-8", "User-Agent": "driftd/1.2.3", "Webhook-Id": "7c3f.1",
		"Webhook-Timestamp": "1795176000", "Webhook-Signature": sign(key) + " " + sign(raw), "Authorization": "Bearer t0ken", "X-Team": "ops",
	} {
		if got := d.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	golden(t, d.body)
}

// golden compares an event with the golden file.
func golden(t *testing.T, body []byte) {
	t.Helper()
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(tree, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "event.json")
	if *update {
		if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

// A repeated delivery has the same id.
func TestAgain(t *testing.T) {
	t.Parallel()
	url, got := serve(t)
	r, err := open(notify.Env{}, func(c *webhook.Config) { c.URL = url })
	if err != nil {
		t.Fatal(err)
	}
	entry := notifytest.Entry()
	for _, begun := range []bool{false, true} {
		entry.Begun = begun
		if _, err := r.Notifier.Notify(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}
	first, second := <-got, <-got
	if string(first.body) != string(second.body) || first.header.Get("Webhook-Id") != second.header.Get("Webhook-Id") {
		t.Error("the second delivery of a message is another message")
	}
	var e struct{ ID, Source, SpecVersion string }
	if err := json.Unmarshal(first.body, &e); err != nil || e.ID != entry.Message.Key || e.Source != "/driftd" || e.SpecVersion != "1.0" {
		t.Errorf("event %+v, error %v", e, err)
	}
	if len(first.header["Webhook-Signature"]) > 0 {
		t.Error("a message without a key is signed")
	}
}

// TestNames checks that unusual names are encoded as JSON strings.
func TestNames(t *testing.T) {
	t.Parallel()
	url, got := serve(t)
	r, err := open(notify.Env{}, func(c *webhook.Config) { c.URL = url })
	if err != nil {
		t.Fatal(err)
	}
	entry := notifytest.Entry()
	name := "<!channel>\"\\\u202e\n" + strings.Repeat("é", 10000)
	entry.Message.News[0].Finding.Name = name
	if _, err := r.Notifier.Notify(t.Context(), entry); err != nil {
		t.Fatal(err)
	}
	var e struct{ Data model.Message }
	if err := json.Unmarshal((<-got).body, &e); err != nil || e.Data.News[0].Finding.Name != name {
		t.Errorf("the name arrives as %.40q, error %v", e.Data.News[0].Finding.Name, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	tests := map[string]struct {
		change func(*webhook.Config)
		want   string
	}{
		"no address":    {func(*webhook.Config) {}, "set either url or url_file"},
		"two addresses": {func(c *webhook.Config) { c.URL, c.URLFile = "https://a", file(t, "https://b") }, "set either url or url_file"},
		"no url":        {func(c *webhook.Config) { c.URL = "https://a b/" + secret }, "url: the address is not a valid URL"},
		"ftp":           {func(c *webhook.Config) { c.URLFile = file(t, "ftp://"+secret) }, "url_file: the address must begin with https"},
		"no host":       {func(c *webhook.Config) { c.URL = "https:///x" }, "and a host"},
		"password":      {func(c *webhook.Config) { c.URL = "https://me:" + secret + "@a/" }, "must not contain a user"},
		"short key":     {func(c *webhook.Config) { c.URL, c.SecretFile = "https://a", file(t, secret) }, "a key has 7 bytes, want at least 24"},
		"bad base64":    {func(c *webhook.Config) { c.URL, c.SecretFile = "https://a", file(t, "whsec_"+secret+"!") }, "not base64"},
		"no secret":     {func(c *webhook.Config) { c.URL, c.SecretFile = "https://a", "/nowhere/"+"x" }, "secret_file: read secret file /nowhere/x"},
		"no headers":    {func(c *webhook.Config) { c.URL, c.HeadersFile = "https://a", file(t, "A: b\n"+secret) }, "line 2 is not a header"},
		"line break":    {func(c *webhook.Config) { c.URL, c.HeadersFile = "https://a", file(t, "A: b\x01"+secret) }, "line 1 is not a header"},
		"our header":    {func(c *webhook.Config) { c.URL, c.HeadersFile = "https://a", file(t, "webhook-id: "+secret) }, "driftd sets itself"},
		"no timeout":    {func(c *webhook.Config) { c.URL, c.Timeout = "https://a", 0 }, "timeout: must be over 0s"},
		"no authority":  {func(c *webhook.Config) { c.URL, c.CAFile = "https://a", file(t, "x") }, "no certificate in PEM form"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(notify.Env{}, test.change)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v, want one with %q and without secrets", err, test.want)
			}
		})
	}
	broken := errors.New("broken")
	if _, err := webhook.Definition().Open(notify.Env{}, func(any) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}
