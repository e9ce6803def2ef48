package server

import (
	"errors"
	"net"
	"testing"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	inner, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	l := limit(inner, 1)
	dial := func() net.Conn {
		t.Helper()
		var d net.Dialer
		conn, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	dial()
	first, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	dial()
	second := make(chan net.Conn)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		second <- conn
	}()
	select {
	case <-second:
		t.Fatal("two connections, where there is place for one")
	default:
	}
	for range 2 { // a second close frees no second slot
		_ = first.Close()
	}
	last := <-second
	waits := make(chan error)
	go func() {
		_, err := l.Accept()
		waits <- err
	}()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept() of a closed listener = %v", err)
	}
	if err := last.Close(); err != nil {
		t.Error(err)
	}
}
