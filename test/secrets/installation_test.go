//go:build e2e

package secrets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/process"
)

// patience bounds each wait for a condition.
const patience = 60 * time.Second

// An installation is a configuration, a state folder and a folder for temporary files, with the
// vault of all planted secrets.
type installation struct {
	*vault
	t       *testing.T
	dir     string
	address string
	// env is added to driftd's environment.
	env []string
	// known are the secrets that a place contains by design, by description.
	known map[string][]string

	mu    sync.Mutex
	leaks map[string]map[string]leak
}

// install makes an empty installation. At the end of the test it reports, for each secret that
// was found, the places.
func install(t *testing.T) *installation {
	t.Helper()
	address, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	i := &installation{vault: newVault(), t: t, dir: t.TempDir(), address: address,
		known: map[string][]string{}, leaks: map[string]map[string]leak{}}
	for _, name := range []string{"tmp", "home"} {
		if err := os.Mkdir(i.path(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(i.report)
	return i
}

// check searches the content of a place for secrets.
func (i *installation) check(place string, text []byte) {
	for _, l := range i.find(text) {
		if slices.Contains(i.known[l.what], place) {
			continue
		}
		i.mu.Lock()
		if i.leaks[l.what] == nil {
			i.leaks[l.what] = map[string]leak{}
		}
		i.leaks[l.what][place] = l
		i.mu.Unlock()
	}
}

func (i *installation) report() {
	for _, what := range slices.Sorted(maps.Keys(i.leaks)) {
		places := i.leaks[what]
		names := slices.Sorted(maps.Keys(places))
		first := places[names[0]]
		i.t.Errorf("LEAK %s: in %s (%s, after %q)", what, strings.Join(names, ", "), first.form, first.around)
	}
}

func (i *installation) path(name string) string { return filepath.Join(i.dir, name) }

// write writes a file that only its owner may read, and returns its path.
func (i *installation) write(name, text string) string {
	i.t.Helper()
	path := i.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		i.t.Fatal(err)
	}
	return path
}

// configure writes the configuration: the common settings, and the given ones.
func (i *installation) configure(rest string) {
	i.t.Helper()
	i.write("driftd.yaml", fmt.Sprintf("state_dir: state\nlog: {level: debug}\nserver: {listen: %q}\nschedule: {every: 1h, jitter: 0s, timeout: 1m}\n%s", i.address, rest))
}

func (i *installation) command(args ...string) *exec.Cmd {
	i.t.Helper()
	program, err := process.Driftd()
	if err != nil {
		i.t.Fatal(err)
	}
	cmd := exec.Command(program, append(args, "--config", i.path("driftd.yaml"))...)
	cmd.Dir = i.dir
	cmd.Env = append([]string{"HOME=" + i.path("home"), "TMPDIR=" + i.path("tmp"), "PATH=" + os.Getenv("PATH")}, i.env...)
	return cmd
}

// driftd runs a command to its end, searches its output for secrets, and returns it.
func (i *installation) driftd(args ...string) (stdout string, code int) {
	i.t.Helper()
	stdout, stderr, code, err := process.Run(i.command(args...))
	if err != nil {
		i.t.Fatal(err)
	}
	name := strings.Join(args[:min(len(args), 3)], " ")
	if args[0] == "history" || len(args) > 1 && args[1] == "show" {
		name = strings.Join(args[:2-len(args)%2], " ")
	}
	i.check("driftd "+name, []byte(stdout))
	i.check("driftd "+name+" stderr", []byte(stderr))
	return stdout, code
}

// scan scans, and returns the report.
func (i *installation) scan() model.Report {
	i.t.Helper()
	stdout, code := i.driftd("scan", "-o", "json")
	var r model.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		i.t.Fatalf("read report: %v: exit code %d: %s", err, code, stdout)
	}
	return r
}

// A daemon is a running `driftd serve`.
type daemon struct {
	*installation
	process *process.Process
	log     string
	// watch reads the processes that the daemon starts.
	watch *watch
}

// serve starts the daemon and waits until it is ready.
func (i *installation) serve() *daemon {
	i.t.Helper()
	d := &daemon{installation: i, log: i.path("log")}
	out, err := os.Create(d.log)
	if err != nil {
		i.t.Fatal(err)
	}
	cmd := i.command("serve")
	cmd.Stdout, cmd.Stderr = out, out
	d.process, err = process.Watch(cmd)
	if err := errors.Join(err, out.Close()); err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() {
		if err := d.process.Kill(); err != nil {
			i.t.Error(err)
		}
	})
	d.watch = newWatch(i, d.process.PID())
	d.await("the daemon", func() error {
		if d.process.Exited() {
			i.t.Fatalf("driftd serve exited: %s", d.logged())
		}
		_, err := d.get("/readyz")
		return err
	})
	return d
}

func (d *daemon) logged() []byte {
	d.t.Helper()
	text, err := os.ReadFile(d.log)
	if err != nil {
		d.t.Fatal(err)
	}
	return text
}

// await waits until a condition holds.
func (i *installation) await(what string, holds func() error) {
	i.t.Helper()
	deadline, tick := time.After(patience), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		err := holds()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			i.t.Fatalf("wait for %s: %v", what, err)
		}
	}
}

// get requests a path of the daemon.
func (d *daemon) get(path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, "http://"+d.address+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	return ask(req)
}

func ask(req *http.Request) ([]byte, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", req.Method, req.URL.Path, resp.Status, body)
	}
	return body, err
}

// stop stops the daemon, and checks its log and its files.
func (d *daemon) stop() {
	d.t.Helper()
	if err := d.process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	select {
	case <-d.process.Done():
	case <-time.After(patience):
		d.t.Fatal("driftd serve does not stop")
	}
	if code := d.process.ExitCode(); code != 0 {
		d.t.Errorf("driftd serve: exit code %d", code)
	}
	d.watch.end()
	d.check("log", d.logged())
}
