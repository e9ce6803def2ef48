package cli

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/metrics"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
	"github.com/driftd/driftd/internal/web"
)

func TestWriteStatus(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	long := strings.Repeat("x", 10_000)
	s := server.Status{Version: "1.2.3", Daemon: true, Problems: []string{"the configuration was not reloaded at 14:05"}, Receivers: []model.ReceiverStatus{
		{Name: "ops", Type: "slack", Queued: 3, Oldest: now, Error: "token revoked: make a new one", Stopped: true, Delivered: now.Add(-time.Minute)},
		{Name: "night", Type: "webhook", Untold: 12},
	}}
	for i := range 13 {
		s.Ending = append(s.Ending, model.DecisionStatus{Decision: model.Decision{ID: fmt.Sprintf("%04d", i), Kind: model.Accept, By: "al\x1b[2J\nice",
			Subject: model.Target{Key: model.Key{Source: "prod", Kind: "kubernetes/Secret", ID: long}}, Until: now}})
	}
	var out bytes.Buffer
	if err := writeStatus(&out, &s, now, ""); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{
		"PROBLEM: the configuration was not reloaded at 14:05\ndriftd 1.2.3",
		"3 since 2026-03-01T10:00:00Z", "STOPPED: token revoked: make a new one; fix it, then reload driftd (SIGHUP) or restart it\n",
		"0, 12 held back", "not since the start              ok\n", "0009       accept", "\nand 3 more: see driftd decisions\n", `al\x1b[2J\nice`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the status lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "0010") || strings.Contains(text, strings.Repeat("x", widest+1)) || strings.Contains(text, "\x1b") {
		t.Errorf("the status shows too much:\n%s", text)
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "a\nb\tc": "a\nb\tc", "\x1b[31mred\n\u202e": `\x1b[31mred` + "\n" + `\u202e`, "größe": "größe"} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
	d := model.DecisionStatus{Decision: model.Decision{Kind: model.Accept, Subject: model.Target{Key: model.Key{ID: "a\nrevoked ffff\x1b[2J"}}}}
	if line := phrase.Visible(done(&d)); strings.ContainsAny(line, "\n\x1b") {
		t.Errorf("a name forges a line: %q", line)
	}
}

func TestFailedReloadIsAProblem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "driftd.yaml")
	write := func(more string) {
		t.Helper()
		text := fmt.Sprintf("state_dir: %s\nsources: [{name: prod, type: kubernetes, settings: {dump: live.yaml}}]\n%s", dir, more)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	log := slog.New(slog.DiscardHandler)
	s := &service{command: &command{configFile: file, streams: Streams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}}, log: log,
		metrics: metrics.New(metrics.Build{}, time.Now), news: web.NewNews()}
	s.cmd = s.command.serve()
	cfg, err := s.checkConfigured(s.cmd)
	if err != nil {
		t.Fatal(err)
	}
	if s.store, err = store.Open(dir, store.Options{Log: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.store.Close(); err != nil {
			t.Error(err)
		}
	})
	s.current.Store(&generation{config: cfg})
	if got := s.problems(); len(got) != 0 {
		t.Errorf("problems before: %q", got)
	}
	write("shedule: {}\nnotify: {receivers: [{name: ops, type: slak}]}\n")
	if s.reload() != nil {
		t.Fatal("a bad configuration was taken")
	}
	got := strings.Join(s.problems(), "\n")
	for _, want := range []string{"the configuration was not reloaded at 2", `:3: unknown key "shedule"`, `; `, `:4: unknown type "slak"`, "; the old one stays in use"} {
		if !strings.Contains(got, want) {
			t.Errorf("problems lack %q: %s", want, got)
		}
	}
	if strings.Contains(got, "\n") {
		t.Errorf("a problem has lines: %s", got)
	}
	write("")
	if s.reload() == nil {
		t.Fatal("a good configuration was not taken")
	}
	if got := s.problems(); len(got) != 0 {
		t.Errorf("problems after: %q", got)
	}
	aside := filepath.Join(dir, "driftd.db.damaged-20260102T030405Z")
	if err := os.WriteFile(aside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.problems(), "\n"); !strings.Contains(got, "set aside as "+aside) {
		t.Errorf("problems with a damaged database that nobody looked after: %q", got)
	}
}
