package shoutrrr

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/notifytest"
)

func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func openConfig(c Config) (notify.Receiver, error) {
	return Definition().Open(notify.Env{Name: "test", Now: now}, func(into any) error {
		config := into.(*Config)
		config.URLFile = c.URLFile
		if c.Timeout != 0 {
			config.Timeout = c.Timeout
		}
		return nil
	})
}

// file writes content to a file and returns its path.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// openSender returns the sender for address. If server is not empty, it gets all requests.
func openSender(t *testing.T, address, server string) *sender {
	t.Helper()
	r, err := openConfig(Config{URLFile: file(t, address), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Notifier.(*sender)
	// By default, the race detector delays the end of each process by a second.
	s.env = []string{"GORACE=" + os.Getenv("GORACE") + " atexit_sleep_ms=0"}
	if server != "" {
		s.env = append(s.env, serverEnv+"="+server)
	}
	return s
}

func TestContract(t *testing.T) {
	t.Parallel()
	notifytest.Run(t, func(t *testing.T, s notifytest.Settings) notifytest.Deliver {
		address := "generic://" + strings.TrimPrefix(s.URL, "http://") + "/" + s.Secret + "?disabletls=yes&template=json&key=" + s.Secret
		r, err := openConfig(Config{URLFile: file(t, address), Timeout: s.Timeout})
		if err != nil {
			t.Fatal(err)
		}
		return notifytest.Notifier(r.Notifier)
	})
}

const (
	key32  = "0123456789abcdef0123456789abcdef"
	uuid   = "01234567-89ab-cdef-0123-456789abcdef"
	secret = "s3cr3ts3cr3t"
)

// addresses holds services that use HTTP: the address, the expected host and path of the
// request, and the body of a successful response.
var addresses = map[string]struct{ address, host, path, answer string }{
	"discord":    {"discord://" + secret + "@123456", "https://discord.com", "/api/webhooks/123456/" + secret, ""},
	"telegram":   {"telegram://123456789:" + key32 + "xyz@telegram?chats=-100", "https://api.telegram.org", "/bot123456789:" + key32 + "xyz/sendMessage", `{"ok":true,"result":{}}`},
	"teams":      {"teams://" + uuid + "@" + uuid + "/" + key32 + "/" + uuid + "/" + secret + "?host=example.webhook.office.com", "https://example.webhook.office.com", "/webhookb2/" + uuid + "@" + uuid + "/IncomingWebhook/" + key32 + "/" + uuid + "/" + secret, "1"},
	"pagerduty":  {"pagerduty://events.pagerduty.com/" + key32, "https://events.pagerduty.com:443", "/v2/enqueue", `{"status":"success"}`},
	"opsgenie":   {"opsgenie://api.opsgenie.com/" + uuid, "https://api.opsgenie.com:443", "/v2/alerts", "{}"},
	"zulip":      {"zulip://bot%40example.org:" + secret + "@chat.zulip.com?stream=ops&topic=drift", "https://chat.zulip.com", "/api/v1/messages", "{}"},
	"ntfy":       {"ntfy://ntfy.sh/" + secret, "https://ntfy.sh", "/" + secret, "{}"},
	"googlechat": {"googlechat://chat.googleapis.com/v1/spaces/FOO/messages?key=" + secret + "&token=" + secret, "https://chat.googleapis.com", "/v1/spaces/FOO/messages", ""},
	"rocketchat": {"rocketchat://rocket.example.org/" + secret + "/" + secret + "/ops", "https://rocket.example.org", "/hooks/" + secret + "/" + secret, ""},
}

// A receivedRequest is a request that a test server received.
type receivedRequest struct {
	host, path string
	header     http.Header
	body       string
}

// serve starts a server that responds with a status and a body. got returns the received
// requests.
func serve(t *testing.T, status int, answer string) (url string, got func() []receivedRequest) {
	t.Helper()
	var mu sync.Mutex
	var all []receivedRequest
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, receivedRequest{r.Header.Get("Original-Host"), r.URL.Path, r.Header, string(body)})
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(status)
		if _, err := io.WriteString(w, answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []receivedRequest {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

func TestServices(t *testing.T) {
	t.Parallel()
	for name, s := range addresses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, got := serve(t, http.StatusOK, s.answer)
			if receipt, err := openSender(t, s.address, server).Notify(t.Context(), notifytest.Entry()); receipt != "" || err != nil {
				t.Fatalf("receipt %q, error %v", receipt, err)
			}
			requests := got()
			if len(requests) != 1 || requests[0].host != s.host || requests[0].path != s.path || !strings.Contains(requests[0].body, "shop") {
				t.Errorf("requests %+v, want one to %s%s", requests, s.host, s.path)
			}
		})
	}
}

// TestServicesFail checks that a failed delivery is an error of the right kind, after one
// request, and without secrets.
func TestServicesFail(t *testing.T) {
	t.Parallel()
	for name, s := range addresses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkSecrets := func(err error) {
				t.Helper()
				for _, part := range []string{secret, key32, uuid, "://"} {
					if err != nil && strings.Contains(err.Error(), part) {
						t.Errorf("the error contains %q: %v", part, err)
					}
				}
			}
			for status, want := range map[int]error{http.StatusForbidden: notify.ErrPermanent, http.StatusBadRequest: notify.ErrRefused, http.StatusTooManyRequests: nil, http.StatusBadGateway: nil} {
				server, got := serve(t, status, `{"error":"`+secret+`"}`)
				_, err := openSender(t, s.address, server).Notify(t.Context(), notifytest.Entry())
				var later *notify.Later
				switch {
				case err == nil, want != nil && !errors.Is(err, want), len(got()) != 1:
					t.Errorf("status %d: error %v after %d requests", status, err, len(got()))
				case status == http.StatusTooManyRequests && (!errors.As(err, &later) || later.After != 3*time.Second):
					t.Errorf("status %d: error %v, want a notify.Later of 3s", status, err)
				}
				checkSecrets(err)
			}
			server := httptest.NewServer(http.NotFoundHandler())
			server.Close()
			_, err := openSender(t, s.address, server.URL).Notify(t.Context(), notifytest.Entry())
			if err == nil || !strings.Contains(err.Error(), "connection refused") || errors.Is(err, notify.ErrPermanent) {
				t.Errorf("refused connection: error %v", err)
			}
			checkSecrets(err)
		})
	}
}

// TestNamesAreQuoted checks that the names of findings contain no mentions and no markup.
func TestNamesAreQuoted(t *testing.T) {
	t.Parallel()
	entry := notifytest.Entry()
	name := "@everyone <@123> <!channel> <b>*x*</b> [a](https://e)\r\nBcc: x"
	entry.Message.Title = "changed: " + name
	entry.Message.News[0].Finding.Name = name
	entry.Message.News[0].Finding.Key.ID = name
	for service, s := range addresses {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			server, got := serve(t, http.StatusOK, s.answer)
			if _, err := openSender(t, s.address, server).Notify(t.Context(), entry); err != nil {
				t.Fatal(err)
			}
			body := got()[0].body
			if service == "pagerduty" || service == "opsgenie" {
				return // these services have no markup
			}
			for _, bad := range []string{"@everyone", "<@1", "<!ch", "<b>", "%40everyone", `\u003c@`, `\u003c!`, `\u003cb`, `"parse_mode"`} {
				if strings.Contains(body, bad) {
					t.Errorf("the body contains %q: %s", bad, body)
				}
			}
		})
	}
}

// TestServicesWithOwnClient checks that the requests of services with their own HTTP client
// are observed.
func TestServicesWithOwnClient(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"mattermost://me@HOST/" + secret + "/ops?disabletls=yes", "gotify://HOST/AzyoeNS.D4iJLVa?disabletls=yes", "ntfy://HOST/" + secret + "?scheme=http&disabletls=yes"} {
		server, got := serve(t, http.StatusOK, "{}")
		host := strings.TrimPrefix(server, "http://")
		if _, err := openSender(t, strings.Replace(address, "HOST", host, 1), "").Notify(t.Context(), notifytest.Entry()); err != nil || len(got()) != 1 {
			t.Errorf("%s: error %v after %d requests", serviceName(address), err, len(got()))
		}
		server, _ = serve(t, http.StatusUnauthorized, secret)
		host = strings.TrimPrefix(server, "http://")
		if _, err := openSender(t, strings.Replace(address, "HOST", host, 1), "").Notify(t.Context(), notifytest.Entry()); !errors.Is(err, notify.ErrPermanent) {
			t.Errorf("%s: error %v, want a permanent one", serviceName(address), err)
		}
	}
}

func TestDiscordEmbeds(t *testing.T) {
	t.Parallel()
	server, got := serve(t, http.StatusNoContent, "")
	if _, err := openSender(t, addresses["discord"].address, server).Notify(t.Context(), notifytest.Entry()); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Content string
		Embeds  []struct{ Title, Description string }
	}
	if err := json.Unmarshal([]byte(got()[0].body), &body); err != nil {
		t.Fatal(err)
	}
	if body.Content != "" || len(body.Embeds) != 1 || body.Embeds[0].Title == "" || !strings.Contains(body.Embeds[0].Description, `shop/web`) {
		t.Errorf("body %+v, want one embed, in which mentions do not notify", body)
	}
}

// TestPagerDuty checks that an incident is triggered and resolved with the same key.
func TestPagerDuty(t *testing.T) {
	t.Parallel()
	server, got := serve(t, http.StatusAccepted, "{}")
	s := openSender(t, addresses["pagerduty"].address, server)
	entry := notifytest.Entry()
	for range 2 {
		if _, err := s.Notify(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
		entry.Message.Kind, entry.Message.OpenCount, entry.Message.ResolvedCount = model.ResolvedMessage, 0, 2
	}
	type event struct {
		Routing string `json:"routing_key"`
		Action  string `json:"event_action"`
		Dedup   string `json:"dedup_key"`
		URL     string `json:"client_url"`
		Payload struct{ Summary, Severity, Source string }
	}
	var events [2]event
	for i, r := range got() {
		if err := json.Unmarshal([]byte(r.body), &events[i]); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(events[i].Payload.Summary, "changed: shop/web and 1 more\n") {
			t.Errorf("summary %q", events[i].Payload.Summary)
		}
		events[i].Payload.Summary = ""
	}
	want := event{key32, "trigger", "driftd-7c3f", "https://driftd.example.org", struct{ Summary, Severity, Source string }{"", "error", "driftd"}}
	resolved := want
	resolved.Action = "resolve"
	if diff := cmp.Diff([2]event{want, resolved}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestOpsgenie checks that a message without open findings is not sent.
func TestOpsgenie(t *testing.T) {
	t.Parallel()
	server, got := serve(t, http.StatusAccepted, "{}")
	s := openSender(t, addresses["opsgenie"].address, server)
	entry := notifytest.Entry()
	for range 2 {
		if _, err := s.Notify(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
		entry.Message.Kind, entry.Message.OpenCount = model.ResolvedMessage, 0
	}
	var a struct{ Message, Alias, Priority, Description string }
	if requests := got(); len(requests) != 1 {
		t.Fatalf("%d requests, want one", len(requests))
	} else if err := json.Unmarshal([]byte(requests[0].body), &a); err != nil {
		t.Fatal(err)
	}
	if a.Message != "changed: shop/web and 1 more" || a.Alias != "driftd-7c3f" || a.Priority != "P2" || !strings.Contains(a.Description, "web:1.5-hotfix") {
		t.Errorf("alert %+v", a)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config Config
		want   string
	}{
		"empty":      {Config{}, "url_file: set the path of the file"},
		"no file":    {Config{URLFile: "/nowhere/x"}, "url_file: read secret file /nowhere/x"},
		"no time":    {Config{URLFile: "x", Timeout: -1}, "timeout: must be over 0s"},
		"no URL":     {Config{URLFile: file(t, secret)}, "the address must begin with one of bark, discord, generic"},
		"logger":     {Config{URLFile: file(t, "logger://")}, "sends no notifications"},
		"incomplete": {Config{URLFile: file(t, "smtp://me:"+secret+"@mail.example.org/")}, "for smtp: "},
		"no chat":    {Config{URLFile: file(t, "telegram://"+secret+"@telegram")}, "for telegram: "},
		"bad path":   {Config{URLFile: file(t, "pagerduty://h/"+secret)}, "for pagerduty: "},
		"unknown":    {Config{URLFile: file(t, "discord://"+secret+"@1?"+secret+"=1")}, "for discord: "},
		"not a URL":  {Config{URLFile: file(t, "discord://"+secret+"@[:::1")}, "for discord: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openConfig(test.config)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v, want one with %q and without secrets", err, test.want)
			}
		})
	}
	// The library signs in to Matrix when it parses the address.
	if s := openSender(t, "matrix://me:"+secret+"@matrix.invalid", ""); s.name != "matrix" {
		t.Errorf("service %q", s.name)
	}
	if s := openSender(t, "generic+https://example.org/x", ""); s.name != "generic" {
		t.Errorf("service %q", s.name)
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	s := openSender(t, addresses["ntfy"].address, "")
	for program, want := range map[string]string{"/nowhere/driftd": "start the process that sends", "/bin/false": "sends the message failed", "/bin/true": "sends the message failed"} {
		s.program = program
		if _, err := s.Notify(t.Context(), notifytest.Entry()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", program, err, want)
		}
	}
	if err := Serve(strings.NewReader("{"), io.Discard); err == nil {
		t.Error("Serve() accepts an invalid request")
	}
	b := &limitedBuffer{}
	if n, err := b.Write(make([]byte, 2*maxOutcome)); n != 2*maxOutcome || err != nil || b.Len() != maxOutcome {
		t.Errorf("kept %d bytes of %d, error %v", b.Len(), n, err)
	}
}

func FuzzAddress(f *testing.F) {
	for _, s := range addresses {
		f.Add(s.address)
	}
	f.Add("smtp://user:p%40ss@mail.example.org:587/?from=a@b&to=c@d,e@f&timeout=x")
	f.Fuzz(func(t *testing.T, address string) {
		const marked = "T0pS3cr3tT0k3n"
		for _, a := range []string{address, address + marked, strings.Replace(address, "@", marked+"@", 1), strings.Replace(address, "=", "="+marked, 1)} {
			if _, err := check(a); err != nil && strings.Contains(err.Error(), marked) {
				t.Errorf("the error shows the address: %v", err)
			}
		}
	})
}

func TestInheritedEnv(t *testing.T) {
	t.Parallel()
	got := inheritedEnv([]string{"PATH=/bin", "VAULT_TOKEN=hunter2", "https_proxy=http://proxy.example.org", "AWS_SECRET_ACCESS_KEY=hunter2", "TZ=UTC", "HOMEPAGE_TOKEN=hunter2"})
	want := []string{"PATH=/bin", "https_proxy=http://proxy.example.org", "TZ=UTC"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the environment of the process that sends (-want +got):\n%s", diff)
	}
}
