package box

import (
	"os"
	"syscall"
)

// killGroup kills the group of a process. It does nothing if the process has ended.
func killGroup(p *os.Process) {
	if p != nil {
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	}
}
