package launch

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

const (
	// watchEvery is how often the memory of a guarded program is summed.
	watchEvery = 200 * time.Millisecond
	// killEvery is how often what is left is killed again: a process may start another
	// one while it is killed.
	killEvery = 5 * time.Millisecond
	// killFor bounds that. A process that hangs in the kernel dies later.
	killFor = 10 * time.Second
)

// guard starts the program, passes on interrupts, and waits until nothing of it is left.
func (l Launch) guard() (status int, err error) {
	// The kernel sends PDEATHSIG when the thread that started the child ends.
	runtime.LockOSThread()
	// Orphans become children of this process.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 1, fmt.Errorf("become the parent of orphans: %w", err)
	}
	interrupts := make(chan os.Signal, 8)
	signal.Notify(interrupts, syscall.SIGINT, syscall.SIGTERM)
	// A write after driftd has closed its end of the output must not end the guard: it has to
	// end the program first.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if err := ownEnd(); err != nil {
		return 1, err
	}
	inner := l
	inner.Inner = true
	_, env, err := inner.Start(passedOn())
	if err != nil {
		return 1, err
	}
	out, err := l.openOutput()
	if err != nil {
		return 1, err
	}
	pid, err := syscall.ForkExec(Program(), append([]string{l.Program}, os.Args[1:]...), &syscall.ProcAttr{Env: env,
		Files: []uintptr{0, out.stdout.Fd(), out.stderr.Fd()}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		return 1, fmt.Errorf("start %s: %w", l.Program, err)
	}
	ended := make(chan int, 1)
	go reap(pid, ended)
	copied := out.copy(l)
	status, err = l.watch(pid, ended, out.full, interrupts)
	killErr := killChildren(ended)
	out.finish(copied, killErr == nil)
	if err == nil && out.exceeded() {
		status, err = 1, l.tooMuchOutput() // The program ended before the guard read all of it.
	}
	return status, errors.Join(err, killErr)
}

// ownEnd has the kernel send SIGTERM to this process when its parent ends, instead of the
// signal that the parent set: after SIGKILL the processes of the program would be left.
func ownEnd() error {
	parent := os.Getppid()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0); err != nil {
		return fmt.Errorf("end with the parent: %w", err)
	}
	if os.Getppid() != parent {
		return errors.New("driftd has ended")
	}
	return nil
}

// watch waits until the program ends, or has to be ended.
func (l Launch) watch(pid int, ended chan int, full <-chan struct{}, interrupts chan os.Signal) (status int, err error) {
	var grace, tick <-chan time.Time
	if l.Memory > 0 {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case status = <-ended:
			return status, nil
		case s := <-interrupts:
			if s == syscall.SIGTERM {
				return 1, nil
			}
			_ = syscall.Kill(pid, syscall.SIGINT) // it may have ended
			if grace == nil {
				grace = time.After(l.Grace)
			}
		case <-grace:
			return 1, nil
		case <-tick:
			if held() > l.Memory {
				return 1, l.tooMuchMemory()
			}
		case <-full:
			return 1, l.tooMuchOutput()
		}
	}
}

// reap waits for all children, and reports the status of the first one. It closes ended
// when there are none left.
func reap(pid int, ended chan<- int) {
	defer close(ended)
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return
		case got == pid && status.Signaled():
			ended <- 128 + int(status.Signal())
		case got == pid:
			ended <- status.ExitStatus()
		}
	}
}

// killChildren kills the children of this process, and what becomes one by that, until
// none is left.
func killChildren(ended <-chan int) error {
	deadline := time.After(killFor)
	for {
		for _, pid := range childrenOfSelf() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		select {
		case _, open := <-ended:
			if !open {
				return nil
			}
		case <-time.After(killEvery):
		case <-deadline:
			return errors.New("what the program started cannot be ended")
		}
	}
}

// childrenOfSelf returns the children of this process. A kernel may not list them by
// thread; then those that /proc shows are found.
func childrenOfSelf() []int {
	threads, err := os.ReadDir("/proc/self/task")
	if _, missing := os.Stat("/proc/thread-self/children"); err != nil || missing != nil {
		return descendants(relatives(), os.Getpid())
	}
	var pids []int
	for _, thread := range threads {
		text, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		if err != nil {
			continue // a thread that ended
		}
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 1 {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Descends reports whether a process is, or may be, a descendant of this process. The processes of a
// guarded program are descendants while the guard exists.
func Descends(pid int) bool {
	own := os.Getpid()
	for pid != own {
		if pid <= 1 {
			return false
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return true
		}
		if pid, err = parentOf(string(stat)); err != nil {
			return true
		}
	}
	return true
}

// relatives returns all processes that /proc shows.
func relatives() []relative {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []relative
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // not a process
		}
		text, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // a process that ended
		}
		if parent, err := parentOf(string(text)); err == nil {
			all = append(all, relative{pid, parent})
		}
	}
	return all
}

// held returns how many bytes of memory the descendants of this process hold that no file
// stands for.
func held() int64 {
	var sum int64
	for _, pid := range descendants(relatives(), os.Getpid()) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		for _, name := range []string{"\nRssAnon:", "\nRssShmem:"} {
			_, after, _ := strings.Cut(string(text), name)
			if fields := strings.Fields(after); len(fields) > 0 {
				kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
				if err == nil {
					sum += kilobytes << 10
				}
			}
		}
	}
	return sum
}

// become seals this process and becomes the program.
func (l Launch) become() error {
	// The kernel should kill this process first. Not every kernel allows that setting.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	if !l.Open {
		if err := l.seal(); err != nil {
			return fmt.Errorf("seal %s: %w", l.Program, err)
		}
	}
	err := syscall.Exec(l.Program, append([]string{l.Program}, os.Args[1:]...), passedOn())
	return fmt.Errorf("start %s: %w", l.Program, err)
}

// seal restricts files to those of l, and signals and abstract sockets to what the program
// starts. Restrictions that the kernel does not support are left out.
func (l Launch) seal() error {
	folders, files := SystemFolders(), SystemFiles()
	for _, path := range l.Read {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			files = append(files, path)
		} else if err == nil {
			folders = append(folders, path)
		}
	}
	rules := []landlock.Rule{
		landlock.RODirs(folders...).IgnoreIfMissing(), landlock.ROFiles(files...).IgnoreIfMissing(),
		Devices(),
		landlock.RWDirs(l.Write...).WithRefer().IgnoreIfMissing(),
	}
	if err := landlock.V7.BestEffort().RestrictPaths(rules...); err != nil {
		return err
	}
	return landlock.V7.BestEffort().RestrictScoped()
}

// Devices returns the devices that any program may use.
func Devices() landlock.Rule {
	return landlock.RWFiles("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/tty").IgnoreIfMissing()
}

// Program returns the path of the running program, as a child of it opens it.
func Program() string { return "/proc/self/exe" }
