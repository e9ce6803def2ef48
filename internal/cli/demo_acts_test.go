package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/demo"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// A stageTest scans a demonstration with the real collectors and store.
type stageTest struct {
	t      *testing.T
	stage  *demo.Demo
	engine *daemon.Engine
}

func newStageTest(t *testing.T) *stageTest {
	t.Helper()
	stage, err := demo.Start(t.Context(), t.TempDir(), demoAddress)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stage.Close(); err != nil {
			t.Error(err)
		}
	})
	cfg, err := config.Load(stage.ConfigFile(), nil)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	sealer, err := store.Sealer(cfg.StateDir)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := openStore(cfg, storeOptions(cfg, log))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	estate, err := newEstate(cfg, newSurroundings(sealer, cfg, box.NewPool(), cacheDir(cfg.StateDir), log))
	if err != nil {
		t.Fatal(err)
	}
	return &stageTest{t, stage, daemon.New(estate, daemon.Options{Store: opened, Now: time.Now, Log: log, Version: "1.2.3"})}
}

// look scans everything, and returns a line for each finding.
func (s *stageTest) look() []string {
	s.t.Helper()
	report, err := s.engine.Scan(s.t.Context(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, f := range report.Findings {
		line := fmt.Sprint(f.Verdict, " ", strings.TrimPrefix(f.Kind, "kubernetes/"), " ", f.Key.ID)
		if f.Verdict != model.Unchecked {
			line += " by " + f.Actor.Name
		}
		for _, c := range f.Changes {
			line += fmt.Sprint("; ", c.Path, " ", side(c.Declared, c.Recorded), " -> ", side(c.Live))
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// side returns the first value that is not nil.
func side(values ...*model.Value) string {
	for _, v := range values {
		if v != nil {
			return v.String()
		}
	}
	return "-"
}

// expect compares the findings with the initial ones and the additional ones.
func (s *stageTest) expect(when string, more ...string) {
	s.t.Helper()
	want := append(planned(), more...)
	slices.Sort(want)
	if diff := cmp.Diff(want, s.look()); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

func (s *stageTest) do(id string) {
	s.t.Helper()
	if err := s.stage.Do(s.t.Context(), id); err != nil {
		s.t.Fatalf("%s: %v", id, err)
	}
}

// planned are the initial findings.
func planned() []string {
	return []string{
		"changed Deployment.apps shop/web by anna@example.org; spec.template.spec.containers[name=web].image registry.example.org/shop/web:1.4.2 -> registry.example.org/shop/web:1.4.3-hotfix",
		"changed proxmox/qemu 305 by carol@pve; memory[0].dedicated 16384 -> 24576",
	}
}

// acts maps each action to the findings that it causes.
func acts() map[string][]string {
	outage := []string{"unchecked declaration/part intent", "unchecked netbox/ipam.ipaddress 90"}
	for id := 301; id <= 312; id++ {
		outage = append(outage, fmt.Sprint("unchecked netbox/ipam.ipaddress ", id))
	}
	for id := 1; id <= 4; id++ {
		outage = append(outage, fmt.Sprint("unchecked netbox/ipam.prefix ", id))
	}
	const image = "spec.template.spec.containers[name=%s].image registry.example.org/shop/%[1]s:%[2]s -> registry.example.org/shop/%[1]s:%[3]s"
	return map[string][]string{
		"firewall": {"changed proxmox/firewall_rules cluster by unknown; rule[3].action - -> ACCEPT; rule[3].comment - -> temporary!!; rule[3].source - -> 0.0.0.0/0; rule[3].type - -> in"},
		"grow":     {"changed proxmox/qemu 303 by carol@pve; cpu[0].cores 4 -> 8"},
		"byhand":   {"unmanaged proxmox/qemu 399 by dave@pve"},
		"image":    {"changed Deployment.apps shop/api by nina@example.org; " + fmt.Sprintf(image, "api", "3.1.0", "3.1.0-nina")},
		"secret":   {"changed Secret shop/database by nina@example.org; data.password \"(secret)\" -> \"(secret)\""},
		"delete":   {"missing ConfigMap shop/payment by omar@example.org"},
		"address":  {"missing netbox/ipam.ipaddress 90 by jonas"},
		"dispute":  {"disputed proxmox/qemu 307 by jonas; memory[0].dedicated 4096 -> 6144"},
		"outage":   outage,
		"commit":   {"pending Deployment.apps shop/checkout by Lena Vogt; " + fmt.Sprintf(image, "checkout", "2.4.0", "2.3.0")},
	}
}

// TestDemoActs performs each action and undoes it: it causes the expected findings and no
// others.
func TestDemoActs(t *testing.T) {
	t.Parallel()
	s, want := newStageTest(t), acts()
	s.expect("at first")
	for _, a := range s.stage.Acts() {
		if want[a.ID] == nil || a.Title == "" || a.Detail == "" || a.Done {
			t.Errorf("act %+v", a)
		}
		s.do(a.ID)
		s.expect(a.ID, want[a.ID]...)
		if done := s.done(); !slices.Equal(done, []string{a.ID}) {
			t.Errorf("%s: done are %q", a.ID, done)
		}
		s.do(a.ID)
		s.expect(a.ID + ", undone")
	}
	if done, acts := s.done(), s.stage.Acts(); len(done) > 0 || len(acts) != len(want) {
		t.Errorf("done are %q of %d acts, want none of %d", done, len(acts), len(want))
	}
	if err := s.stage.Do(t.Context(), "nothing"); err == nil {
		t.Error("an act that is not there can be done")
	}
}

// TestDemoActsAtOnce performs all actions except the outage, which hides some findings, and
// undoes them in the same order.
func TestDemoActsAtOnce(t *testing.T) {
	t.Parallel()
	s := newStageTest(t)
	var all []string
	for _, a := range s.stage.Acts() {
		if a.ID != "outage" {
			s.do(a.ID)
			all = append(all, acts()[a.ID]...)
		}
	}
	s.expect("all at once", all...)
	for _, id := range s.done() {
		s.do(id)
	}
	s.expect("all undone")
}

// done are the performed actions.
func (s *stageTest) done() []string {
	var ids []string
	for _, a := range s.stage.Acts() {
		if a.Done {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// TestDemoElsewhere checks that another port is chosen if the default one is in use, and none
// was requested.
func TestDemoElsewhere(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	flags := demoFlags{listen: taken.Addr().String()}
	if address, err := flags.address(t.Context(), false); err != nil || address == flags.listen || !strings.HasPrefix(address, "127.0.0.1:") {
		t.Errorf("address %q, %v", address, err)
	}
	if address, err := flags.address(t.Context(), true); err == nil {
		t.Errorf("it takes %q, where somebody else is", address)
	}
}

// TestDemoSaysWhatSlackWouldShow runs the daemon on a demonstration until its Slack workspace
// has the messages of the initial drift, and of the drift of an action.
func TestDemoSaysWhatSlackWouldShow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	listen, err := demoFlags{listen: "127.0.0.1:0"}.address(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	stage, err := demo.Start(t.Context(), dir, listen)
	if err != nil {
		t.Fatal(err)
	}
	c := &command{configFile: stage.ConfigFile(), streams: Streams{Out: io.Discard, Err: io.Discard}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- c.present(ctx, &service{command: c, cmd: c.demo(), stage: stage}, demoPlace{listen: listen, dir: dir})
	}()
	awaitSaid(t, stage, "*anna@example.org*", "*carol@pve*")
	if err := stage.Do(t.Context(), "delete"); err != nil {
		t.Error(err)
	}
	awaitSaid(t, stage, "*omar@example.org*")
	stop()
	if err := errors.Join(<-ended, stage.Close()); err != nil {
		t.Error(err)
	}
}

// awaitSaid waits until messages contain all the words.
func awaitSaid(t *testing.T, stage *demo.Demo, words ...string) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for {
		said := fmt.Sprint(stage.Messages())
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(said, word) }) {
			return
		}
		select {
		case <-ticker.C:
		case <-late.C:
			t.Fatalf("of %q not all was said: %s", words, said)
		}
	}
}
