package server

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/user"
	"strconv"

	"github.com/driftd/driftd/internal/access"
)

// peerKey is the context key of the *peer of a request's connection.
type peerKey struct{}

// A peer is the process at the other end of the socket.
type peer struct {
	uid, gid uint32
	groups   []uint32
	// login is the user who logged in to the session of a root process; nil if the process is not
	// one of root, belongs to no session, or cannot be inspected.
	login *uint32
	// started is set for a program that the daemon started, such as a provider of a Terraform plan,
	// and for one whose parents cannot be read.
	started bool
	// err is the error of reading the credentials.
	err error
}

// withPeer stores the peer of a connection in the context of its requests.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, peerOf(conn))
}

// onlyPeers rejects requests of users who may not use the socket.
func onlyPeers(next http.Handler, a API, self peer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := r.Context().Value(peerKey{}).(*peer)
		switch {
		case ok && p.err != nil:
			a.reply(w, r, nil, p.err)
		case !ok || !p.mayUse(self):
			a.reply(w, r, nil, &Error{Status: http.StatusForbidden, Message: "this user may not use the socket",
				Hint: "run this as root, as the daemon's user, or as a member of its group that can access the folder"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// mayUse reports whether a peer is root, the daemon's user or in its group, and was not started by
// the daemon itself. A plan runs as the daemon's user and must not decide on its findings.
func (p *peer) mayUse(self peer) bool {
	if p.started && p.uid == self.uid {
		return false
	}
	if p.uid == 0 || p.uid == self.uid || p.gid == self.gid {
		return true
	}
	for _, group := range p.groups {
		if group == self.gid {
			return true
		}
	}
	return false
}

// visitor returns the peer with all permissions. A root process that a user started with sudo or su
// is that user.
func (p *peer) visitor(people *access.People) access.Visitor {
	uid, asRoot := p.uid, false
	if p.uid == 0 && p.login != nil && access.IsPersonal(*p.login) {
		uid, asRoot = *p.login, true
	}
	name := userName(uid)
	v := access.Visitor{Name: cmp.Or(name, fmt.Sprintf("uid %d", uid)), Role: access.Approver, Via: access.Local, AsRoot: asRoot}
	return people.Recognize(v, access.UnixIdentities(uid, name)...)
}

// userName returns the name of a user, or "" if it is unknown.
func userName(uid uint32) string {
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return ""
	}
	return u.Username
}

// thisProcess returns a peer with the user of this process.
func thisProcess() *peer { return &peer{uid: uint32(os.Getuid()), login: ownLogin()} }
