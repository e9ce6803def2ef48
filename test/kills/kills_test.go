//go:build e2e

// Package kills kills the built program at random moments and looks whether the
// database is whole and holds all that was called stored.
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
	"syscall"
	"testing"
	"time"
)

// driftdPath returns the program under test: DRIFTD_BIN, or what make build built.
func driftdPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("DRIFTD_BIN")
	if path == "" {
		path = filepath.Join("..", "..", "bin", "driftd")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("find driftd: %v: run make build", err)
	}
	return path
}

// objects is how many objects the source has. Each round one more drifts.
const objects = 400

// An estate is a source in a dump, and a kustomization, which is built in the box.
type estate struct {
	t       *testing.T
	program string
	dir     string
}

func newEstate(t *testing.T) *estate {
	t.Helper()
	e := &estate{t: t, program: driftdPath(t), dir: t.TempDir()}
	if err := os.Mkdir(e.path("deploy"), 0o700); err != nil {
		t.Fatal(err)
	}
	e.write("driftd.yaml", `
state_dir: state
server: {listen: ""}
schedule: {every: 1s, jitter: 0s}
sources: [{name: prod, type: kubernetes, settings: {dump: live.yaml, dump_complete: true}}]
declarations: [{name: shop, type: manifests, governs: [prod], settings: {dir: deploy}}]
`)
	e.write("deploy/kustomization.yaml", "resources: [all.yaml]\n")
	e.write("deploy/all.yaml", list(0))
	return e
}

// list returns the objects, of which the first so many drift.
func list(drifted int) string {
	var b strings.Builder
	for i := range objects {
		value := "good"
		if i < drifted {
			value = "bad"
		}
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%03d, namespace: shop}\ndata: {v: %s, more: %s}\n", i, value, strings.Repeat("x", 200))
	}
	return b.String()
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
	var out, errs bytes.Buffer
	cmd := e.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		e.t.Fatalf("run driftd %v: %v", args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// drifted returns how many objects drift in the output of scan or report.
func (e *estate) drifted(args ...string) int {
	e.t.Helper()
	stdout, stderr, code := e.run(append(args, "-o", "json")...)
	var report struct {
		Findings []struct{ Verdict, Name string }
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code == 1 {
		e.t.Fatalf("driftd %v: exit code %d, %v: %s%s", args, code, err, stdout, stderr)
	}
	n := 0
	for _, f := range report.Findings {
		switch f.Verdict {
		case "changed":
			n++
		case "unchecked": // a daemon that is killed early has not read all
		default:
			e.t.Fatalf("driftd %v: %s is %s", args, f.Name, f.Verdict)
		}
	}
	return n
}

// killed runs a command and kills it at a moment, unless it ends before.
func (e *estate) killed(after time.Duration, args ...string) (ended bool) {
	e.t.Helper()
	cmd := e.command(args...)
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait()
	}()
	select {
	case <-done:
		return true
	case <-time.After(after):
	}
	_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended just now
	<-done
	return false
}

// TestKilledScansLoseNothing kills scans and daemons. Each time the database is
// whole, it holds what the last scan that ended has found, and no more than there
// is. DRIFTD_KILLS says how many kills, DRIFTD_SEED which moments.
func TestKilledScansLoseNothing(t *testing.T) {
	t.Parallel()
	kills, seed := number(t, "DRIFTD_KILLS", 20), number(t, "DRIFTD_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 18))
	e := newEstate(t)
	e.write("live.yaml", list(1))
	began := time.Now()
	stored := e.drifted("scan")
	whole := time.Since(began)
	died, advanced := 0, 0
	for n := 1; died < kills; n++ {
		there := min(n/4+2, objects)
		e.write("live.yaml", list(there))
		args := []string{[]string{"scan", "serve"}[n%2]}
		if !e.killed(time.Duration(random.Int64N(int64(whole*3/2))), args...) {
			died++
		}
		if stdout, stderr, code := e.run("store", "verify"); code != 0 {
			t.Fatalf("after kill %d: driftd store verify: exit code %d: %s%s", died, code, stdout, stderr)
		}
		got := e.drifted("report")
		if got < stored || got > there {
			t.Fatalf("after kill %d: %d findings, want from %d that were stored to %d that there are", died, got, stored, there)
		}
		if got > stored {
			advanced++
		}
		stored = got
		if n%10 == 0 {
			if stored = e.drifted("scan"); stored != there {
				t.Fatalf("after kill %d: a scan finds %d, want %d", died, stored, there)
			}
		}
	}
	if aside, err := filepath.Glob(e.path("state/*.damaged-*")); err != nil || len(aside) > 0 {
		t.Errorf("set aside: %v, %v", aside, err)
	}
	t.Logf("%d kills; after %d of them something new was stored", died, advanced)
	if advanced == 0 {
		t.Error("no kill came after a save; the test tests too little")
	}
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
