package box

import (
	"os"
	"syscall"
)

// killGroup kills the group of a process. A process that is gone already is none.
func killGroup(p *os.Process) {
	if p != nil {
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	}
}
