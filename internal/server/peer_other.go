//go:build !linux

package server

import (
	"errors"
	"net"
)

// peerOf returns a peer with an error: without kernel credentials the socket rejects every request.
func peerOf(net.Conn) *peer {
	return &peer{err: errors.New("this system does not report the credentials of a socket's peer: run the daemon on Linux")}
}

// ownLogin returns nil: this system does not record who logged in.
func ownLogin() *uint32 { return nil }
