package process

import "syscall"

// ownGroup puts the program into a process group of its own, and has the
// kernel ask it to stop when driftd dies without having done so.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
}
