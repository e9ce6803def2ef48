package server

import (
	"net"
	"sync"
)

// A limited listener bounds the number of open connections; further ones wait to be accepted. It
// returns the connections of the TCP listener with CloseWrite, which net/http needs for a graceful
// close.
type limited struct {
	*net.TCPListener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func limit(listener *net.TCPListener, connections int) *limited {
	return &limited{TCPListener: listener, slots: make(chan struct{}, connections), closed: make(chan struct{})}
}

// Accept waits for a free slot, and then for a connection.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.AcceptTCP()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &slotConn{TCPConn: conn, leave: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close closes the listener and unblocks pending calls of Accept.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.TCPListener.Close()
}

// slotConn is a connection that occupies a slot until it is closed.
type slotConn struct {
	*net.TCPConn
	leave func()
}

// Close closes the connection and releases its slot.
func (c *slotConn) Close() error {
	defer c.leave()
	return c.TCPConn.Close()
}
