//go:build unix && !linux

package box

import (
	"os"
	"syscall"
)

// seal limits what the process may take. Other kernels than Linux offer no more than
// that; a job has no way to the disk or the network but through bugs.
func seal(setup) (Report, error) {
	r := Report{Lacks: []string{"seccomp", "landlock", "memory limit"}}
	for _, resource := range []int{syscall.RLIMIT_CORE, syscall.RLIMIT_FSIZE} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{}); err != nil {
			return r, err
		}
	}
	return r, nil
}

func program() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
