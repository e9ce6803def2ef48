package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/driftd/driftd/internal/declared/terraform/plan/rootdir"
)

// Bounds of the copy of a root.
const (
	maxFiles = 100_000
	maxBytes = 2 << 30
)

// A work is a private folder in which one plan is made. Its lock tells the
// others, and the next start, whether it is still in use.
type work struct {
	Options
	dir string
	// root is the copy of Options.Dir.
	root      string
	data, tmp string
	// fromFiles are the variables of EnvFiles.
	fromFiles map[string]string
	// required are the root's version constraints on the CLI.
	required []string
	// block are the constant texts of the backend block. backend completes it. kept is what of it .terraform in the root keeps.
	block         map[string]string
	backend, kept map[string]any
	lock          *os.File
}

// begin makes a work folder, and removes what killed processes left.
func begin(o Options) (*work, error) {
	all := filepath.Join(o.CacheDir, "work")
	if err := os.MkdirAll(all, 0o700); err != nil {
		return nil, fmt.Errorf("make work folder: %w", err)
	}
	gate, err := lockFile(filepath.Join(o.CacheDir, "work.lock"), syscall.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer release(gate)
	if err := sweep(all); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(all, "")
	if err != nil {
		return nil, fmt.Errorf("make work folder: %w", err)
	}
	lock, err := lockFile(dir+".lock", syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	w := &work{Options: o, dir: dir, data: filepath.Join(dir, "data"), tmp: filepath.Join(dir, "tmp"), lock: lock}
	if err := w.furnish(); err != nil {
		return nil, errors.Join(err, w.end())
	}
	return w, nil
}

// furnish makes the folders and files that the CLI is pointed to.
func (w *work) furnish() error {
	for _, dir := range []string{w.data, w.tmp, w.plugins(), filepath.Join(w.dir, "home")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make work folder: %w", err)
		}
	}
	if err := w.shortenTmp(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.dir, "cli.tfrc"), nil, 0o600); err != nil {
		return fmt.Errorf("make work folder: %w", err)
	}
	// Values go by file: arguments are for everybody on the machine to read.
	return w.writeJSON("driftd.tfvars.json", w.Vars)
}

func (w *work) writeJSON(name string, content map[string]any) error {
	if len(content) == 0 {
		return nil
	}
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, name), text, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// end removes the folder. It is called once.
func (w *work) end() error {
	err := errors.Join(removeTmpLink(w.dir), os.RemoveAll(w.dir))
	return errors.Join(err, os.Remove(w.lock.Name()), w.lock.Close())
}

func (w *work) plugins() string { return filepath.Join(w.CacheDir, "plugins") }

func (w *work) home() string {
	if w.Home != "" {
		return w.Home
	}
	return filepath.Join(w.dir, "home")
}

// cliConfig returns the CLI's configuration file: the one that is named, or
// that of the home that is named, or an empty one.
func (w *work) cliConfig(cli string) string {
	if w.CLIConfig != "" {
		return w.CLIConfig
	}
	names := []string{".terraformrc"}
	if strings.HasPrefix(filepath.Base(cli), "tofu") {
		names = []string{".tofurc", ".terraformrc"}
	}
	for _, name := range names {
		if file := filepath.Join(w.Home, name); w.Home != "" && isFile(file) {
			return file
		}
	}
	return filepath.Join(w.dir, "cli.tfrc")
}

// copied is the folder of the private copy, in the work folder.
const copied = "copy"

// copyRoot makes the private copy.
func (w *work) copyRoot(ctx context.Context, whole bool) error {
	root, err := rootdir.Copy(ctx, rootdir.Source{Root: w.Dir, Within: w.Within, Whole: whole, Absent: w.Absent, Except: w.CacheDir,
		Stateless: rootdir.Scan(w.Dir).Backend != "", Contained: w.Policy.Enforced(), Sealed: w.Boxed,
		Limits: rootdir.Limits{Files: maxFiles, Bytes: maxBytes}}, filepath.Join(w.dir, copied))
	if err != nil {
		return err
	}
	m := rootdir.Scan(root)
	if m.Unread != nil {
		return &failure{"read configuration", m.Unread.Error()}
	}
	w.root, w.required = root, m.Required
	slices.Sort(w.required)
	w.required = slices.Compact(w.required)
	if !whole && !rootdir.IsRoot(root) {
		return fmt.Errorf("%s holds no configuration (*.tf)", cmp.Or(w.Shown, w.Dir))
	}
	return nil
}

// lockFile opens a file and takes a lock on it, which ends with the process.
func lockFile(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock work folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), how); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}

// lockPoll is how often a lock is tried that another process holds.
const lockPoll = 100 * time.Millisecond

// waitForLock takes a lock that another process may hold for minutes.
func waitForLock(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := lockFile(path, syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockPoll):
		}
	}
}

// release gives a lock back. Closing cannot fail in a way that keeps it.
func release(lock *os.File) { _ = lock.Close() }

// sweep removes the folders of processes that are gone, and ends what they left
// running.
func sweep(all string) error {
	locks, err := filepath.Glob(filepath.Join(all, "*.lock"))
	if err != nil {
		return fmt.Errorf("list work folders: %w", err)
	}
	for _, path := range locks {
		lock, err := lockFile(path, syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			continue
		}
		if err != nil {
			return err
		}
		dir := strings.TrimSuffix(path, ".lock")
		killUsers(filepath.Join(dir, "data"))
		if err := errors.Join(removeTmpLink(dir), os.RemoveAll(dir), os.Remove(path), lock.Close()); err != nil {
			return fmt.Errorf("remove an old work folder: %w", err)
		}
	}
	return nil
}

// killUsers ends the processes that were started with a data folder that is
// nobody's any more. Its name is random: nothing else holds it.
func killUsers(data string) {
	entries, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return
	}
	for _, path := range entries {
		environ, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(environ), "TF_DATA_DIR="+data+"\x00") {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/environ", &pid); err == nil && pid != os.Getpid() {
			// It may have ended by itself meanwhile.
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
