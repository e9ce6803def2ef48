package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/driftd/driftd/internal/box"
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
		p.started = int(cred.Pid) != os.Getpid() && box.Descends(int(cred.Pid))
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
