// Package launch runs programs whose configuration determines their actions, such as terraform, below a guard: a
// process of driftd's own program that bounds them and leaves nothing of them running.
//
// Every program that imports this package can be a guard: its init function does not return in a process that was
// started as one. The package and what it imports are initialized before nearly everything else that driftd
// imports, so that a guard starts in a fraction of the time that driftd does. Its imports must stay few.
package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Launch describes how to run a program other than driftd's own, such as terraform, whose configuration
// determines its actions. Instead of the program, driftd's own program is started as a guard. The guard
// starts the program in a sandbox, and kills all processes that it started, including those that left its
// process group.
type Launch struct {
	// Program is the absolute path of the program.
	Program string `json:"program"`
	// Open runs the program without a sandbox.
	Open bool `json:"open,omitempty"`
	// Read are files and folders that the program may read and execute. Write are folders to which it may
	// also write. Those that do not exist are ignored. Those of the system are always readable. If the
	// kernel supports Landlock, all others are not accessible.
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
	// Memory is the maximum memory of all processes of the program together, in bytes; 0 means no limit.
	// MemorySetting is the name of the setting, for messages.
	Memory        int64  `json:"memory,omitempty"`
	MemorySetting string `json:"memory_setting,omitempty"`
	// Output is the maximum size of the program's output, in bytes, after which it is killed. Lines of more
	// than Line bytes are omitted. 0 means no limit.
	Output int64 `json:"output,omitempty"`
	Line   int   `json:"line,omitempty"`
	// Grace is the time that the program has to stop after an interrupt.
	Grace time.Duration `json:"grace,omitempty"`
	// Version is printed for the arguments "version -json", in the form of Terraform's
	// own; if it is "", the program answers.
	Version string `json:"version,omitempty"`
	// Inner reports whether the process is the one that the guard starts.
	Inner bool `json:"inner,omitempty"`
}

// launchVariable holds a Launch, as JSON. A variable, not an argument: a library that starts
// a program with the program's own arguments can start the guard instead of it.
const launchVariable = "DRIFTD_LAUNCH"

// passed begins the names of the variables that the guard passes on to the program,
// without it. No other variable reaches the program, and none of the program's has an
// effect on the guard.
const passed = "DRIFTD_ENV_"

// Start returns the path and the environment of the guard that must be started instead of l.Program. env is
// the environment for l.Program. The arguments and the standard input are passed on to l.Program.
func (l Launch) Start(env []string) (path string, environment []string, err error) {
	text, err := json.Marshal(l)
	if err != nil {
		return "", nil, fmt.Errorf("launch %s: %w", l.Program, err)
	}
	environment = append(environment, launchVariable+"="+string(text), "GORACE="+os.Getenv("GORACE"))
	for _, variable := range env {
		environment = append(environment, passed+variable)
	}
	return Program(), environment, nil
}

// passedOn returns the environment of the program, sorted.
func passedOn() []string {
	var env []string
	for _, variable := range os.Environ() {
		if variable, ok := strings.CutPrefix(variable, passed); ok {
			env = append(env, variable)
		}
	}
	slices.Sort(env)
	return env
}

func init() {
	if text := os.Getenv(launchVariable); text != "" {
		os.Exit(run(text))
	}
}

// run runs the program of a Launch, given as JSON. It returns the status of the program when none of
// its processes is left.
func run(text string) (status int) {
	var l Launch
	err := json.Unmarshal([]byte(text), &l)
	if err == nil {
		err = os.Unsetenv(launchVariable)
	}
	switch {
	case err != nil:
	case l.Inner:
		err = l.become()
	case l.Version != "" && slices.Equal(os.Args[1:], []string{"version", "-json"}):
		_, err = fmt.Printf("{\"terraform_version\":%q}\n", l.Version)
	default:
		status, err = l.guard()
	}
	if err != nil {
		complain(err)
		return 1
	}
	return status
}

// complain writes an error as Terraform and OpenTofu write theirs: the reader of what they
// print takes it from there.
func complain(err error) {
	text := "driftd: " + err.Error()
	if limit, ok := errors.AsType[limitError](err); ok {
		text = string(limit)
	}
	fmt.Fprintf(os.Stderr, "\nError: %s\n", text)
}

// A limitError is the error of a program that was ended because it exceeded a limit.
type limitError string

// Error implements error.
func (e limitError) Error() string { return string(e) }

func (l Launch) tooMuchMemory() error {
	return limitError(fmt.Sprintf("the program and what it started needed more memory than %s (%s)", l.MemorySetting, size(l.Memory)))
}

func (l Launch) tooMuchOutput() error {
	return limitError("the program prints more than " + size(l.Output))
}

func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// A relative is a process of the system with its parent.
type relative struct{ pid, parent int }

// parentOf returns the parent of a process, from a line of /proc/PID/stat: the name of the
// program, in parentheses, may hold anything.
func parentOf(stat string) (int, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, errors.New("the kernel does not say who the parent of a process is")
	}
	return strconv.Atoi(fields[1])
}

// descendants returns the processes that descend from one.
func descendants(all []relative, of int) []int {
	children := map[int][]int{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p.pid)
	}
	var found []int
	for next := children[of]; len(next) > 0; {
		pid := next[0]
		next = append(next[1:], children[pid]...)
		delete(children, pid)
		found = append(found, pid)
	}
	return found
}
