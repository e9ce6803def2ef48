//go:build !linux

package process

import "syscall"

// dieWithParent returns attributes by which the program gets no interrupt from the terminal. Only
// Linux can kill it when the test binary ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
