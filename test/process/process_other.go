//go:build !linux

package process

import "syscall"

// dieWithParent keeps a terminal's interrupt from the program; only Linux can
// tie its end to the test binary's.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
