package box

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"
	landlocksys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// seal removes the permissions of the process that no job needs. It cannot be undone. The
// report lists what the kernel does not offer.
func seal(s setup) (Report, error) {
	r := &Report{}
	// If memory runs out, the kernel should kill this process first. Not every kernel
	// allows the setting.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	r.add("memory limit", limitResources(s.Limits))
	r.add(landlocked(s))
	if s.Limits.Network {
		endWithPrograms()
	} else {
		r.add("seccomp", filterCalls())
	}
	return *r, nil
}

func (r *Report) add(name string, err error) {
	if err != nil {
		r.Lacks = append(r.Lacks, fmt.Sprintf("%s (%v)", name, err))
		return
	}
	r.Seals = append(r.Seals, name)
}

// maxFetched bounds a file that a box with a network writes, in bytes.
const maxFetched = 1 << 30

func limitResources(l Limits) error {
	own, err := dataSize()
	if err != nil {
		// Without /proc the size is not known. The other limits are set.
		own = unknownData
	}
	files, size := uint64(64), uint64(0)
	if l.Network {
		files, size = 1024, maxFetched
	}
	for resource, limit := range map[int]uint64{
		unix.RLIMIT_DATA: own + overhead*uint64(max(l.Memory, minMemory)), unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: size,
		unix.RLIMIT_NOFILE: files, unix.RLIMIT_CPU: uint64(maxCPU.Seconds()),
	} {
		if limitErr := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); limitErr != nil {
			err = limitErr
		}
	}
	return err
}

// unknownData is assumed for a new process, in bytes, where the kernel does not report it.
const unknownData = 256 << 20

// dataSize returns how many bytes count for RLIMIT_DATA now.
func dataSize() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(status), "\nVmData:")
	fields := strings.Fields(after)
	if !found || len(fields) == 0 {
		return 0, errors.New("the kernel does not report the memory of the process")
	}
	size, err := strconv.ParseUint(fields[0], 10, 64)
	return size << 10, err
}

// landlocked forbids access to files, and without a network everything else that landlock
// restricts.
func landlocked(s setup) (string, error) {
	abi, err := landlocksys.LandlockGetABIVersion()
	if err != nil {
		return "landlock", err
	}
	name := fmt.Sprintf("landlock %d", abi)
	newest := landlock.V7.BestEffort()
	if s.Limits.Network {
		return name, newest.RestrictPaths(gitFiles(s.Temp)...)
	}
	return name, newest.Restrict()
}

// calls are the system calls that the Go runtime needs to compute, and to read and
// write what is open. None of them opens a file or a socket, or starts a program.
func calls() []string {
	return []string{
		"brk", "clock_gettime", "clock_nanosleep", "close", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait",
		"eventfd2", "exit", "exit_group", "fstat", "futex", "getpid", "getrandom", "getrusage", "gettid", "gettimeofday",
		"madvise", "membarrier", "mincore", "mmap", "mprotect", "munmap", "nanosleep", "read", "restart_syscall", "rseq",
		"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sched_getaffinity", "sched_yield", "set_robust_list", "setitimer",
		"sigaltstack", "timer_create", "timer_delete", "timer_settime", "write",
	}
}

// filterCalls forbids all other system calls. They fail with EPERM.
func filterCalls() error {
	known, err := arch.GetInfo(runtime.GOARCH)
	if err != nil {
		return err
	}
	allow := seccomp.SyscallGroup{Action: seccomp.ActionAllow, NamesWithCondtions: []seccomp.NameWithConditions{
		// Threads only, no processes.
		{Name: "clone", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_THREAD}}},
		// The runtime reads the flags of open files.
		{Name: "fcntl", Conditions: seccomp.ArgumentConditions{{Argument: 1, Operation: seccomp.Equal, Value: unix.F_GETFL}}},
		// The runtime signals its own threads. Other processes get no signal.
		{Name: "tgkill", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: uint64(os.Getpid())}}},
	}}
	for _, name := range calls() {
		if _, exists := known.SyscallNames[name]; exists {
			allow.Names = append(allow.Names, name)
		}
	}
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		// A filter cannot check the arguments of clone3. A C library falls back to clone.
		Syscalls: []seccomp.SyscallGroup{allow, {Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}}},
	}})
}

// peakMemory returns the peak memory of a process that has ended, in bytes.
func peakMemory(state *os.ProcessState) int64 {
	if state == nil {
		return 0
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss << 10
	}
	return 0
}

// attributes returns what makes the process a group of its own that ends with its parent.
// A process that may start programs gets SIGTERM, so that it can end them.
func attributes(l Limits) *syscall.SysProcAttr {
	end := syscall.SIGKILL
	if l.Network {
		end = syscall.SIGTERM
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: end}
}

// endWithPrograms kills the process, with all programs that it started, on SIGTERM.
func endWithPrograms() {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		_ = syscall.Kill(0, syscall.SIGKILL)
	}()
}
