package server

import (
	"net"
	"sync"
)

// A limited listener has at most so many connections at once: more wait to be
// accepted. Its connections stay TCP's own, so that net/http closes them softly.
type limited struct {
	*net.TCPListener
	places chan struct{}
	closed chan struct{}
	once   sync.Once
}

func limit(listener *net.TCPListener, connections int) *limited {
	return &limited{TCPListener: listener, places: make(chan struct{}, connections), closed: make(chan struct{})}
}

// Accept waits for a place and then for a connection.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.AcceptTCP()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &placed{TCPConn: conn, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

// Close ends waiting, too.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.TCPListener.Close()
}

// placed is a connection that has a place until it is closed.
type placed struct {
	*net.TCPConn
	leave func()
}

// Close gives the place back.
func (c *placed) Close() error {
	defer c.leave()
	return c.TCPConn.Close()
}
