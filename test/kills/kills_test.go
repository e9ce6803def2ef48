//go:build e2e

// Package kills kills the built program at random times and checks that the database is intact
// and has all that was saved.
package kills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/test/process"
)

// objects is the number of objects of the source prod. In each round one more drifts.
const objects = 400

// swollen is the number of objects of the source swollen, of which swollenDrift always drift.
const swollen, swollenDrift = 20, 5

// An estate has two sources in dumps, each with a kustomization that is built in the box. In
// some rounds the dump of the source swollen exceeds its budget, in others the output of its
// kustomization does.
type estate struct {
	t       *testing.T
	program string
	dir     string
}

func newEstate(t *testing.T) *estate {
	t.Helper()
	program, err := process.Driftd()
	if err != nil {
		t.Fatal(err)
	}
	e := &estate{t: t, program: program, dir: t.TempDir()}
	for _, dir := range []string{"deploy", "swollen"} {
		if err := os.Mkdir(e.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	e.write("driftd.yaml", `
state_dir: state
server: {listen: ""}
schedule: {every: 1s, jitter: 0s, max_memory: 48MiB}
max_memory: 64MiB
sources:
  - {name: prod, type: kubernetes, settings: {dump: live.yaml, dump_complete: true}}
  - {name: swollen, type: kubernetes, max_memory: 16MiB, settings: {dump: swollen.json, dump_complete: true}}
declarations:
  - {name: shop, type: manifests, governs: [prod], settings: {dir: deploy}}
  - {name: bulk, type: manifests, governs: [swollen], max_memory: 16MiB, settings: {dir: swollen}}
`)
	e.write("deploy/kustomization.yaml", "resources: [all.yaml]\n")
	e.write("deploy/all.yaml", list("c", objects, 0))
	e.write("swollen/kustomization.yaml", "resources: [all.yaml]\n")
	e.swell(false, false)
	return e
}

// list returns the manifests of n objects, the first of which drift.
func list(prefix string, n, drifted int) string {
	var b strings.Builder
	for i := range n {
		value := "good"
		if i < drifted {
			value = "bad"
		}
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s%03d, namespace: shop}\ndata: {v: %s, more: %s}\n", prefix, i, value, strings.Repeat("x", 200))
	}
	return b.String()
}

// swell writes the dump of the source swollen and its manifests, within their budgets or
// larger.
func (e *estate) swell(live, declared bool) {
	e.t.Helper()
	var items []string
	for i := range swollen {
		value := "good"
		if i < swollenDrift {
			value = "bad"
		}
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b%03d","namespace":"shop"},"data":{"v":%q,"more":%q}}`, i, value, strings.Repeat("x", 200)))
	}
	if live {
		items = append(items, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"z","namespace":"shop"},"data":[`+strings.Repeat("{},", 60_000)+`{}]}`)
	}
	e.write("swollen.json", `{"apiVersion":"v1","kind":"List","items":[`+strings.Join(items, ",")+`]}`)
	text := list("b", swollen, 0)
	if declared {
		text += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: z, namespace: shop}\nx: [" + strings.Repeat("[],", 300_000) + "]\n"
	}
	e.write("swollen/all.yaml", text)
}

func (e *estate) path(name string) string { return filepath.Join(e.dir, name) }

// write replaces a file in one step.
func (e *estate) write(name, text string) {
	e.t.Helper()
	if err := errors.Join(os.WriteFile(e.path(name+".new"), []byte(text), 0o600), os.Rename(e.path(name+".new"), e.path(name))); err != nil {
		e.t.Fatal(err)
	}
}

func (e *estate) command(args ...string) *exec.Cmd {
	cmd := exec.Command(e.program, append(args, "--config", e.path("driftd.yaml"))...)
	cmd.Dir, cmd.Env = e.dir, []string{"HOME=" + e.dir}
	return cmd
}

// run runs a command to its end.
func (e *estate) run(args ...string) (stdout, stderr string, code int) {
	e.t.Helper()
	stdout, stderr, code, err := process.Run(e.command(args...))
	if err != nil {
		e.t.Fatal(err)
	}
	return stdout, stderr, code
}

// scan scans and returns the number of objects of prod that drift after it.
func (e *estate) scan() int {
	e.t.Helper()
	if stdout, stderr, code := e.run("scan", "-o", "json"); code == 1 {
		e.t.Fatalf("driftd scan: %s%s", stdout, stderr)
	}
	return e.drifted()
}

// drifted returns the number of objects of prod that drift in the report. It checks that these
// are the first ones, each once, and that those of swollen are open, too.
func (e *estate) drifted() int {
	e.t.Helper()
	prod := 0
	seen := map[string]int{}
	for _, f := range e.findings("report", "-o", "json") {
		switch {
		case f.Verdict == "unchecked": // a daemon that was killed early has not read all sources
		case f.Verdict != "changed":
			e.t.Fatalf("driftd report: %s is %s", f.Name, f.Verdict)
		default:
			seen[f.Source+" "+f.Name]++
			if f.Source == "prod" {
				prod++
			}
		}
	}
	for i := range prod {
		if name := fmt.Sprintf("prod c%03d", i); seen[name] != 1 {
			e.t.Fatalf("driftd report: %s is there %d times, with %d of prod", name, seen[name], prod)
		}
	}
	for i := range swollenDrift {
		if name := fmt.Sprintf("swollen b%03d", i); seen[name] != 1 {
			e.t.Fatalf("driftd report: %s is there %d times", name, seen[name])
		}
	}
	if len(seen) != prod+swollenDrift {
		e.t.Fatalf("driftd report: %v", seen)
	}
	return prod
}

type finding struct{ Verdict, Source, Name, Reason string }

// findings returns the findings in the output of a command.
func (e *estate) findings(args ...string) []finding {
	e.t.Helper()
	stdout, stderr, code := e.run(args...)
	var report struct{ Findings []finding }
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code == 1 {
		e.t.Fatalf("driftd %v: exit code %d, %v: %s%s", args, code, err, stdout, stderr)
	}
	return report.Findings
}

// killed runs a command and kills it after a time. It reports whether the command ended before.
func (e *estate) killed(after time.Duration, args ...string) (ended bool) {
	e.t.Helper()
	p, err := process.Watch(e.command(args...))
	if err != nil {
		e.t.Fatal(err)
	}
	select {
	case <-p.Done():
		return true
	case <-time.After(after):
	}
	if err := p.Kill(); err != nil {
		e.t.Fatal(err)
	}
	return false
}

// killedAfterScan starts the daemon, waits for its first finished scan, and kills it after a
// time.
func (e *estate) killedAfterScan(after time.Duration) {
	e.t.Helper()
	cmd, scanned := e.command("serve"), &mark{text: "msg=scanned", seen: make(chan struct{})}
	cmd.Stderr = scanned
	p, err := process.Watch(cmd)
	if err != nil {
		e.t.Fatal(err)
	}
	select {
	case <-p.Done():
		e.t.Fatalf("driftd serve ended with exit code %d: %s", p.ExitCode(), scanned.output)
	case <-e.t.Context().Done():
		e.t.Fatal(e.t.Context().Err())
	case <-scanned.seen:
	}
	time.Sleep(after)
	if err := p.Kill(); err != nil {
		e.t.Fatal(err)
	}
}

// A mark closes seen when a text was written to it.
type mark struct {
	text   string
	seen   chan struct{}
	found  bool
	output []byte
}

func (m *mark) Write(b []byte) (int, error) {
	m.output = append(m.output, b...)
	if !m.found && bytes.Contains(m.output, []byte(m.text)) {
		m.found = true
		close(m.seen)
	}
	return len(b), nil
}

// resolvedNone fails if a finding other than unchecked is resolved: no drift is ever repaired
// here.
func (e *estate) resolvedNone() {
	e.t.Helper()
	stdout, _, _ := e.run("findings", "--resolved", "--verdict", "changed", "-o", "json")
	var list struct {
		Findings []struct {
			Verdict, Source, Name string
			Resolved              *string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		e.t.Fatalf("driftd findings: %v: %s", err, stdout)
	}
	for _, f := range list.Findings {
		if f.Resolved != nil {
			e.t.Fatalf("%s of %s is called resolved at %s", f.Name, f.Source, *f.Resolved)
		}
	}
}

// TestKilledScansLoseNothing kills scans and daemons, while a box renders manifests, and while
// a source or a declaration exceeds its budget. After each kill the database is intact, and has
// at least the findings of the last finished scan, and only real ones. Every fourth kill waits
// for the first scan of a daemon, so that some come after a save on any machine. DRIFTD_TEST_KILLS is the
// number of kills, DRIFTD_TEST_SEED the seed of their times.
func TestKilledScansLoseNothing(t *testing.T) {
	t.Parallel()
	kills, seed := number(t, "DRIFTD_TEST_KILLS", 20), number(t, "DRIFTD_TEST_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 18))
	e := newEstate(t)
	e.write("live.yaml", list("c", objects, 1))
	began := time.Now()
	stored := e.scan()
	whole := time.Since(began)
	died, advanced, exceeded := 0, 0, 0
	for n := 1; died < kills; n++ {
		there := min(n+1, objects)
		e.write("live.yaml", list("c", objects, there))
		e.swell(n%5 == 1 || n%5 == 2, n%5 == 3)
		after := time.Duration(random.Int64N(int64(whole * 3 / 2)))
		switch {
		case n%4 == 1:
			e.killedAfterScan(after)
			died++
		case !e.killed(after, []string{"scan", "serve"}[n%2]):
			died++
		}
		if stdout, stderr, code := e.run("store", "verify"); code != 0 {
			t.Fatalf("after kill %d: driftd store verify: exit code %d: %s%s", died, code, stdout, stderr)
		}
		got := e.drifted()
		if got < stored || got > there {
			t.Fatalf("after kill %d: %d findings, want from %d that were stored to %d that there are", died, got, stored, there)
		}
		e.resolvedNone()
		if got > stored {
			advanced++
		}
		stored = got
		if n%11 == 0 {
			if stored = e.scan(); stored != there {
				t.Fatalf("after kill %d: a scan finds %d, want %d", died, stored, there)
			}
			exceeded += e.exceeded()
		}
	}
	if aside, err := filepath.Glob(e.path("state/*.damaged-*")); err != nil || len(aside) > 0 {
		t.Errorf("set aside: %v, %v", aside, err)
	}
	e.swell(false, false)
	if e.scan(); e.exceeded() != 0 {
		t.Error("a source within its budget is still reported as too large")
	}
	e.resolvedNone()
	t.Logf("%d kills; after %d of them there was a new finding; %d of the scans in between exceeded a budget", died, advanced, exceeded)
	if advanced == 0 || exceeded == 0 {
		t.Error("no kill came after a save, or no budget was exceeded; the test tests too little")
	}
}

// exceeded returns 1 if the report names a budget.
func (e *estate) exceeded() int {
	e.t.Helper()
	for _, f := range e.findings("report", "-o", "json") {
		if f.Verdict == "unchecked" && strings.Contains(f.Reason, "max_memory") {
			return 1
		}
	}
	return 0
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
