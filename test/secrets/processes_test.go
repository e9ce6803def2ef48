//go:build e2e

package secrets

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A watch reads the arguments, the environment and the limits of a daemon and of each
// descendant while they run.
type watch struct {
	*installation
	daemon int
	stop   chan struct{}
	group  sync.WaitGroup
	// seen are the programs that were seen, by their arguments.
	seen map[string]bool
	// dumping are programs that may leave a core.
	dumping map[string]bool
}

func newWatch(i *installation, daemon int) *watch {
	w := &watch{installation: i, daemon: daemon, stop: make(chan struct{}), seen: map[string]bool{}, dumping: map[string]bool{}}
	w.group.Go(w.run)
	return w
}

func (w *watch) run() {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			w.look(w.daemon, nil)
		}
	}
}

// end ends the watch, and checks the limits.
func (w *watch) end() {
	w.t.Helper()
	close(w.stop)
	w.group.Wait()
	for program := range w.dumping {
		w.t.Errorf("%s may leave a core", program)
	}
	if len(w.seen) == 0 {
		w.t.Error("no process was seen")
	}
}

var coreLimit = regexp.MustCompile(`Max core file size +(\S+) +(\S+)`)

// look reads a process and its descendants. Processes that end meanwhile are skipped.
func (w *watch) look(pid int, parent []byte) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	args, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
	// Between fork and exec, a child is a copy of its parent.
	if len(args) > 0 && !bytes.Equal(args, parent) {
		w.process(proc, args, parent == nil)
	}
	tasks, _ := filepath.Glob(filepath.Join(proc, "task/*/children"))
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for child := range strings.FieldsSeq(string(children)) {
			if number, err := strconv.Atoi(child); err == nil {
				w.look(number, args)
			}
		}
	}
}

func (w *watch) process(proc string, args []byte, isDaemon bool) {
	limits, _ := os.ReadFile(filepath.Join(proc, "limits"))
	environment, _ := os.ReadFile(filepath.Join(proc, "environ"))
	line := string(bytes.ReplaceAll(args, []byte{0}, []byte(" ")))
	if !w.seen[line] {
		w.check("arguments of a process", args)
		w.seen[line] = true
	}
	if isDaemon {
		// The environment of driftd itself is the administrator's. It sets its limits after its
		// start: they are checked once it is ready.
		if _, err := os.Stat(w.path("state/driftd.sock")); err != nil {
			return
		}
	} else {
		w.check("environment of a process", environment)
	}
	if m := coreLimit.FindSubmatch(limits); m != nil && (string(m[1]) != "0" || string(m[2]) != "0") {
		w.dumping[fmt.Sprintf("%s (%s, %s)", line, m[1], m[2])] = true
	}
}
