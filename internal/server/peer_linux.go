package server

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/driftd/driftd/internal/launch"
)

// peerOf returns the credentials of the process at the other end of a unix socket, from SO_PEERCRED
// and SO_PEERGROUPS of socket(7) and unix(7).
func peerOf(conn net.Conn) *peer {
	p := &peer{}
	if err := p.read(conn); err != nil {
		p.err = fmt.Errorf("read the credentials of the socket's peer: %w", err)
	}
	return p
}

func (p *peer) read(conn net.Conn) error {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return fmt.Errorf("%T is not a socket", conn)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var asked error
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			asked = err
			return
		}
		p.uid, p.gid = cred.Uid, cred.Gid
		p.started = int(cred.Pid) != os.Getpid() && launch.Descends(int(cred.Pid))
		if cred.Uid == 0 {
			p.login = loginOf(int(fd), int(cred.Pid))
		}
		p.groups, asked = peerGroups(fd)
	})
	return errors.Join(err, asked)
}

// maxGroups is the largest number of groups of a process (NGROUPS_MAX).
const maxGroups = 65536

// peerGroups returns the supplementary groups.
func peerGroups(fd uintptr) ([]uint32, error) {
	groups := make([]uint32, 32)
	for {
		size := uint32(4 * len(groups))
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&size)), 0)
		switch {
		case errno == 0:
			return groups[:size/4], nil
		case errno == unix.ERANGE && size/4 > uint32(len(groups)) && size/4 <= maxGroups:
			groups = make([]uint32, size/4) // the kernel sets size to the required number of bytes
		default:
			return nil, errno
		}
	}
}

// loginOf returns the user who logged in to the session of the socket's peer with a process ID. It
// returns nil if there is none, or if the process has ended: its ID may belong to another one.
func loginOf(socket, pid int) *uint32 {
	process, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if errors.Is(err, unix.ENOPROTOOPT) { // before Linux 6.5
		process, err = unix.PidfdOpen(pid, 0)
	}
	if err != nil {
		return nil
	}
	login := readLogin(fmt.Sprintf("/proc/%d/loginuid", pid))
	if !isRunning(process) {
		login = nil
	}
	if unix.Close(process) != nil {
		return nil
	}
	return login
}

// isRunning reports whether the process of a pidfd has not ended (pidfd_open(2)).
func isRunning(process int) bool {
	ended, err := unix.Poll([]unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}, 0)
	return err == nil && ended == 0
}

// readLogin returns the user of a file of proc_pid_loginuid(5), or nil if none logged in.
func readLogin(file string) *uint32 {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	uid, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if login := uint32(uid); err == nil && login != math.MaxUint32 {
		return &login
	}
	return nil
}

// ownLogin returns the user who logged in to the session of this process, or nil if there is none.
func ownLogin() *uint32 { return readLogin("/proc/self/loginuid") }
