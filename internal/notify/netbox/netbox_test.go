package netbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/driftd/driftd/internal/notify/netbox"
	"github.com/driftd/driftd/internal/notify/notifytest"
)

func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// open opens a receiver of the NetBox that the source "netbox" and the declaration "intent" read.
func open(t *testing.T, change func(*netbox.Config)) (notify.Receiver, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("nbt_KEY.0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	return netbox.Definition().Open(notify.Env{Version: "1.2.3", Now: now, Sources: []string{"netbox"}, Declarations: []string{"intent"}}, func(into any) error {
		c := into.(*netbox.Config)
		c.TokenFile, c.Sources, c.Declarations = file, []string{"netbox"}, []string{"intent"}
		change(c)
		return nil
	})
}

// entry returns an entry of the outbox about a virtual machine in NetBox whose memory was changed.
func entry(news model.News) model.OutboxEntry {
	was, is := model.IntOf(2048), model.IntOf(4096)
	f := model.Finding{ID: "f1a2b3c4d5e6", Verdict: model.Changed, Severity: model.High, Key: model.Key{Source: "netbox", Kind: "netbox/virtualization.virtualmachine", ID: "6"},
		Name: "db", Declaration: "infra", Address: "netbox_virtual_machine.db", FirstSeen: now(), Actor: model.Actor{Name: "mara", At: now(), Via: "NetBox changelog", Confidence: model.Exact},
		Changes: []model.Change{{Path: "memory", Declared: &was, Recorded: &was, Live: &is}}}
	return model.OutboxEntry{Message: model.Message{Key: "7c3f.1", Receiver: "journal", Kind: model.NewMessage, At: now(), Thread: "7c3f", First: news == model.Appeared,
		News: []model.Item{{News: news, Finding: f, Fields: 1}}, NewsCount: 1, URL: "https://driftd.example.org"}}
}

func TestContract(t *testing.T) {
	t.Parallel()
	notifytest.Run(t, func(t *testing.T, s notifytest.Settings) notifytest.Deliver {
		r, err := open(t, func(c *netbox.Config) {
			c.URL, c.Timeout = s.URL, s.Timeout
			if err := os.WriteFile(c.TokenFile, []byte(s.Secret), 0o600); err != nil {
				t.Fatal(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context) error {
			_, err := r.Notifier.Notify(ctx, entry(model.Appeared))
			return err
		}
	})
}

// A server is a stand-in for the journal of a NetBox.
type server struct {
	mu      sync.Mutex
	entries []map[string]any
	// lose is set to close the connection after an entry was added.
	lose bool
	// status is the answer instead; 0 for none.
	status int
}

// set sets the answers: a status, and whether the next one is lost.
func (s *server) set(status int, lose bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.lose = status, lose
}

// added returns the entries that were added.
func (s *server) added() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("API-Version", "4.6")
	switch {
	case r.URL.Path != "/nb/api/extras/journal-entries/" || r.Header.Get("Authorization") != "Bearer nbt_KEY.0123456789abcdef":
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"detail":"Invalid token"}`)
	case s.status != 0:
		w.WriteHeader(s.status)
		fmt.Fprint(w, `{"detail":"You do not have permission to perform this action."}`)
	case r.Method == http.MethodPost:
		var e map[string]any
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.entries = append(s.entries, e)
		if s.lose {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":1}`)
	default:
		s.list(w, r)
	}
}

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	found := []map[string]any{}
	for _, e := range s.entries {
		q := r.URL.Query()
		if fmt.Sprint(e["assigned_object_type"], e["assigned_object_id"]) == q.Get("assigned_object_type")+q.Get("assigned_object_id") {
			found = append(found, e)
		}
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"count": len(found), "results": found}); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// serve returns a receiver of a stand-in.
func serve(t *testing.T) (*server, notify.Receiver) {
	t.Helper()
	s := &server{}
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	r, err := open(t, func(c *netbox.Config) { c.URL = at.URL + "/nb/" })
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

// TestEntries verifies the entry of a finding that opens, and that of its end, for which only its key is known.
func TestEntries(t *testing.T) {
	t.Parallel()
	s, r := serve(t)
	receipt, err := r.Notifier.Notify(t.Context(), entry(model.Appeared))
	if receipt != "virtualization.virtualmachine/6" || err != nil {
		t.Fatalf("receipt %q, %v", receipt, err)
	}
	for _, news := range []model.News{model.Altered, model.Reclassified, model.WasSnoozed} {
		later := entry(news)
		later.Receipt = receipt
		if got, err := r.Notifier.Notify(t.Context(), later); got != receipt || err != nil {
			t.Fatalf("%s: receipt %q, %v", news, got, err)
		}
	}
	over := entry(model.Over)
	over.Message.Key, over.Receipt = "7c3f.2", receipt
	f := &over.Message.News[0].Finding
	f.Key, f.Changes, f.Declaration = model.Key{Source: "gone", Kind: "proxmox/qemu", ID: "100"}, nil, ""
	if _, err := r.Notifier.Notify(t.Context(), over); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{"assigned_object_type": "virtualization.virtualmachine", "assigned_object_id": 6., "kind": "warning", "comments": "driftd: changed: virtualmachine 6 (db)\n\n" +
			"In netbox, declared by infra at netbox\\_virtual\\_machine.db\n\nChanged by mara 2026-11-20T12:00:00Z via NetBox changelog\n\n" +
			"- memory: 2048 → 4096\n\n<https://driftd.example.org/findings/f1a2b3c4d5e6>\n\nmessage 7c3f.1"},
		{"assigned_object_type": "virtualization.virtualmachine", "assigned_object_id": 6., "kind": "success",
			"comments": "driftd: resolved: changed: qemu 100 (db)\n\n<https://driftd.example.org/findings/f1a2b3c4d5e6>\n\nmessage 7c3f.2"},
	}
	if diff := cmp.Diff(want, s.added()); diff != "" {
		t.Error(diff)
	}
}

// TestRepeatedDelivery verifies that an entry whose answer was lost is not written again.
func TestRepeatedDelivery(t *testing.T) {
	t.Parallel()
	s, r := serve(t)
	s.set(0, true)
	e := entry(model.Appeared)
	if _, err := r.Notifier.Notify(t.Context(), e); err == nil {
		t.Fatal("no error for a lost answer")
	}
	s.set(0, false)
	e.Begun = true
	if receipt, err := r.Notifier.Notify(t.Context(), e); receipt != "virtualization.virtualmachine/6" || err != nil {
		t.Errorf("receipt %q, %v", receipt, err)
	}
	e.Message.Key = "other.1"
	if _, err := r.Notifier.Notify(t.Context(), e); err != nil {
		t.Error(err)
	}
	if n := len(s.added()); n != 2 {
		t.Errorf("%d entries, want that of each message once", n)
	}
}

func TestTokenWithoutTheRight(t *testing.T) {
	t.Parallel()
	for name, begun := range map[string]bool{"add": false, "view": true} {
		s, r := serve(t)
		s.set(http.StatusForbidden, false)
		e := entry(model.Appeared)
		e.Begun = begun
		_, err := r.Notifier.Notify(t.Context(), e)
		if !errors.Is(err, notify.ErrPermanent) || !strings.Contains(err.Error(), "permission") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTestMessage(t *testing.T) {
	t.Parallel()
	s, r := serve(t)
	e := model.OutboxEntry{Message: model.Message{Kind: model.TestMessage}}
	if _, err := r.Notifier.Notify(t.Context(), e); err != nil || len(s.added()) > 0 {
		t.Errorf("%d entries, %v", len(s.added()), err)
	}
	s.set(http.StatusForbidden, false)
	if _, err := r.Notifier.Notify(t.Context(), e); err == nil {
		t.Error("no error for a token without the permission")
	}
}

// TestConcerns verifies which findings have entries.
func TestConcerns(t *testing.T) {
	t.Parallel()
	_, r := serve(t)
	claims := []model.ClaimedValue{{Declaration: "infra", Address: "x"}, {Declaration: "intent", Address: "devices/3"}}
	for name, tc := range map[string]struct {
		reason string
		f      model.Finding
		want   bool
	}{
		"object":         {"it is in this NetBox", entry(model.Appeared).Message.News[0].Finding, true},
		"other NetBox":   {"its ids are those of others", model.Finding{Key: model.Key{Source: "other", Kind: "netbox/dcim.device", ID: "6"}}, false},
		"no journal":     {"NetBox refuses it", model.Finding{Key: model.Key{Source: "netbox", Kind: "netbox/extras.tag", ID: "6"}}, false},
		"no id":          {"a finding on the source itself", model.Finding{Key: model.Key{Source: "netbox", Kind: "netbox/dcim.device", ID: "../6"}}, false},
		"declared guest": {"this NetBox declares it", model.Finding{Key: model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "100"}, Declaration: "intent", Address: "virtual-machines/6"}, true},
		"other guest":    {"Terraform declares it", model.Finding{Key: model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "100"}, Declaration: "infra", Address: "virtual-machines/6"}, false},
		"disputed":       {"this NetBox is one of those that declare it", model.Finding{Declaration: "infra", Changes: []model.Change{{Claims: claims}}}, true},
	} {
		if got := r.Concerns(&tc.f); got != tc.want {
			t.Errorf("%s: %s: got %v", name, tc.reason, got)
		}
	}
}

// TestForeignTextIsNoMarkup verifies that names in live systems add no links and images to the page of NetBox.
func TestForeignTextIsNoMarkup(t *testing.T) {
	t.Parallel()
	s, r := serve(t)
	e := entry(model.Appeared)
	e.Message.News[0].Finding.Name = "![x](https://evil.example.org/x.png) <script> `a` | b\n# c"
	if _, err := r.Notifier.Notify(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	text, _ := s.added()[0]["comments"].(string)
	for _, markup := range []string{"![", "x](", "<script", " `a`", "| b", "\n# c"} {
		if strings.Contains(text, markup) {
			t.Errorf("the entry has %q:\n%s", markup, text)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*netbox.Config)
		want   string
	}{
		"no url":      {func(c *netbox.Config) { c.URL = "" }, "setting url is missing"},
		"bad url":     {func(c *netbox.Config) { c.URL = "netbox.example.org" }, "url: the address must begin with https://"},
		"no token":    {func(c *netbox.Config) { c.TokenFile = "" }, "setting token_file is missing"},
		"no file":     {func(c *netbox.Config) { c.TokenFile += ".none" }, "token_file: "},
		"no sources":  {func(c *netbox.Config) { c.Sources, c.Declarations = nil, nil }, "set sources or declarations"},
		"source":      {func(c *netbox.Config) { c.Sources = []string{"netbx"} }, `sources: none of type netbox is named "netbx": want one of [netbox]`},
		"declaration": {func(c *netbox.Config) { c.Declarations = []string{"infra"} }, `declarations: none of type netbox is named "infra": want one of [intent]`},
		"bad timeout": {func(c *netbox.Config) { c.Timeout = 0 }, "timeout: must be over 0s"},
	} {
		_, err := open(t, func(c *netbox.Config) {
			c.URL = "https://netbox.example.org"
			tc.change(c)
		})
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}
