package process

import "syscall"

// dieWithParent returns attributes by which the kernel kills the program when the test binary
// ends for any reason.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
