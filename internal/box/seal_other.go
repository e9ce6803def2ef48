//go:build unix && !linux

package box

import (
	"errors"
	"os"
	"syscall"
)

// seal limits CPU time and the size of files. Kernels other than Linux offer nothing more.
// The code of jobs uses neither the disk nor the network.
func seal(setup) (Report, error) {
	r := Report{Lacks: []string{"seccomp", "landlock", "memory limit"}}
	seconds := uint64(maxCPU.Seconds())
	return r, errors.Join(syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}), syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{}),
		syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: seconds, Max: seconds}))
}

// peakMemory returns 0: memory is not limited.
func peakMemory(*os.ProcessState) int64 { return 0 }

func attributes(Limits) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
