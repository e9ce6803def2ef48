package box_test

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func ptrace(pid int) error { return syscall.PtraceAttach(pid) }

func fcntl(fd uintptr, command, arg int) (int, error) { return unix.FcntlInt(fd, command, arg) }
