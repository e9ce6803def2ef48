//go:build unix && !linux

package process

import "syscall"

// ownGroup puts the program into a process group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
