//go:build unix && !linux

package box

import (
	"errors"
	"os"
	"syscall"
)

// seal limits what the process may take. Other kernels than Linux offer no more than
// that; a job has no way to the disk or the network but through bugs.
func seal(setup) (Report, error) {
	r := Report{Lacks: []string{"seccomp", "landlock", "memory limit"}}
	seconds := uint64(maxCPU.Seconds())
	return r, errors.Join(syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}), syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{}),
		syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: seconds, Max: seconds}))
}

// peakMemory returns 0: there is no limit that a process could meet.
func peakMemory(*os.ProcessState) int64 { return 0 }

func program() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

func attributes(Limits) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
