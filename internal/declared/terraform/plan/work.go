package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
)

// The bounds of the copy of a root.
const (
	maxFiles = 100_000
	maxBytes = 2 << 30
)

// A work is a private folder for one plan. Other processes, and the next start, use its lock to
// determine whether it is still in use.
type work struct {
	Options
	dir string
	// root is the copy of Options.Dir.
	root      string
	data, tmp string
	// content is the digest of the copy before a program ran, if Compare is set.
	content string
	// memory is the folder in memory of an apply; "" otherwise.
	memory string
	// set holds the variables that the configuration sets, unlike those of PassEnv.
	set map[string]string
	// ofWriter holds the input variables of the root that Writer sets.
	ofWriter map[string]bool
	// required are the root's version constraints for the CLI.
	required []string
	// block holds the constant strings in the backend block. backend completes it. kept holds its
	// settings from .terraform in the root.
	block         map[string]string
	backend, kept map[string]any
	lock          *os.File
}

// begin makes a work folder, and removes those of killed processes.
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
	if err := w.createFolders(); err != nil {
		return nil, errors.Join(err, w.end())
	}
	return w, nil
}

// createFolders creates the folders and files in the settings of the CLI.
func (w *work) createFolders() error {
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
	// Values are passed in a file, because every user of the machine can read arguments.
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
	err := errors.Join(removeTmpLink(w.dir), os.RemoveAll(w.dir), os.RemoveAll(w.memory))
	return errors.Join(err, os.Remove(w.lock.Name()), w.lock.Close())
}

// plugins returns the plugin cache of the root. Roots share none: one init may replace the provider that another plan runs
// (docs/decisions/0055-plugin-caches.md).
func (w *work) plugins() string { return filepath.Join(w.CacheDir, "plugins") }

func (w *work) home() string {
	if w.Home != "" {
		return w.Home
	}
	return filepath.Join(w.dir, "home")
}

// cliConfig returns the CLI configuration file: that of the options, that in Home, or an empty one.
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

// copied is the folder of the private copy in the work folder.
const copied = "copy"

// copyRoot makes the private copy.
func (w *work) copyRoot(ctx context.Context, whole bool) error {
	root, err := workcopy.Copy(ctx, workcopy.Source{Root: w.Dir, Within: w.Within, Whole: whole, Absent: w.Absent, Except: w.CacheDir, Received: w.Received,
		Stateless: workcopy.Scan(w.Dir).Backend != "", Contained: w.Policy.Enforced(), Sealed: w.Boxed,
		Limits: workcopy.Limits{Files: maxFiles, Bytes: maxBytes}}, filepath.Join(w.dir, copied))
	if err != nil {
		return err
	}
	if err := edit(root, w.Edits); err != nil {
		return err
	}
	m := workcopy.Scan(root)
	if m.Unread != nil {
		return &failure{"read configuration", m.Unread.Error()}
	}
	w.root, w.required = root, m.Required
	slices.Sort(w.required)
	w.required = slices.Compact(w.required)
	if !whole && !workcopy.IsRoot(root) {
		return fmt.Errorf("%s has no configuration (*.tf)", cmp.Or(w.Shown, w.Dir))
	}
	return nil
}

// edit writes files to a private copy. It follows no link out of the copy.
func edit(copied string, edits map[string][]byte) (err error) {
	root, err := os.OpenRoot(copied)
	if err != nil {
		return fmt.Errorf("edit the copy: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for name, text := range edits {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("edit the copy: %w", err)
		}
		if err := root.WriteFile(name, text, 0o600); err != nil {
			return fmt.Errorf("edit the copy: %w", err)
		}
	}
	return nil
}

// lockFile opens and locks a file. The lock ends with the process.
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

// lockPoll is the interval of attempts to take a lock that another process has.
const lockPoll = 100 * time.Millisecond

// waitForLock takes a lock that another process may have for minutes.
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

// release releases a lock. An error of Close does not keep it locked.
func release(lock *os.File) { _ = lock.Close() }

// sweep removes the folders of ended processes, and ends their remaining child processes.
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
		if err := errors.Join(removeTmpLink(dir), os.RemoveAll(dir), os.RemoveAll(memoryOf(dir)), os.Remove(path), lock.Close()); err != nil {
			return fmt.Errorf("remove an old work folder: %w", err)
		}
	}
	return nil
}

// killUsers ends the processes whose data folder no longer has an owner. The folder's name is
// random, so no other process has it in its environment.
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
			// The process may have ended in the meantime.
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
