package server

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// pipeListener accepts connections within the process, so that a test controls their time.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (l *pipeListener) dial() net.Conn {
	here, there := net.Pipe()
	l.conns <- there
	return here
}

// served runs a server of one pipe in a synctest bubble.
func served(t *testing.T, a API, use func(l *pipeListener, stop func())) {
	t.Helper()
	a.Log, a.Now = quiet(), time.Now
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l := newPipeListener()
		done := make(chan error, 1)
		d := Options{Log: quiet()}.newDoor(ctx, l, a.Handler())
		go func() { done <- serveAll(ctx, stop, []*endpoint{d}) }()
		use(l, stop)
		stop()
		if err := <-done; err != nil {
			t.Errorf("serveAll() = %v", err)
		}
	})
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

func TestSlowRequestIsCutOff(t *testing.T) {
	t.Parallel()
	served(t, API{}, func(l *pipeListener, _ func()) {
		conn := l.dial()
		send(t, conn, "GET /healthz HTTP/1.1\r\nHost: driftd\r\n") // an incomplete request
		began := time.Now()
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("read = %v, want the end", err)
		}
		if took := time.Since(began); took != readHeaderTimeout {
			t.Errorf("cut off after %v, want %v", took, readHeaderTimeout)
		}
	})
}

func TestSlowReaderIsCutOff(t *testing.T) {
	t.Parallel()
	served(t, API{}, func(l *pipeListener, _ func()) {
		conn := l.dial()
		send(t, conn, "GET /healthz HTTP/1.1\r\nHost: driftd\r\n\r\n")
		time.Sleep(writeTimeout + time.Second) // time of the bubble; nothing is read
		if rest, err := io.ReadAll(conn); err != nil || len(rest) > 0 {
			t.Errorf("read = %q, %v; want the end", rest, err)
		}
	})
}

func TestLongScanIsNotCutOff(t *testing.T) {
	t.Parallel()
	a := API{Scanner: scanner(func(ctx context.Context, _ []string) (model.Report, error) {
		select {
		case <-time.After(time.Hour):
			return model.Report{Version: model.ReportVersion}, nil
		case <-ctx.Done():
			return model.Report{}, ctx.Err()
		}
	})}
	served(t, a, func(l *pipeListener, _ func()) {
		conn := l.dial()
		send(t, conn, "POST /api/v1/scan HTTP/1.1\r\nHost: driftd\r\nContent-Length: 0\r\n\r\n")
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body := read(t, answer); answer.StatusCode != http.StatusOK {
			t.Errorf("scan = %d %s", answer.StatusCode, body)
		}
	})
}

func TestScanEndsWithItsClient(t *testing.T) {
	t.Parallel()
	ended := false
	a := API{Scanner: scanner(func(ctx context.Context, _ []string) (model.Report, error) {
		<-ctx.Done()
		ended = true
		return model.Report{}, ctx.Err()
	})}
	served(t, a, func(l *pipeListener, _ func()) {
		conn := l.dial()
		send(t, conn, "POST /api/v1/scan HTTP/1.1\r\nHost: driftd\r\nContent-Length: 0\r\n\r\n")
		synctest.Wait()
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !ended {
			t.Error("the scan continues without its client")
		}
	})
}

func TestStopEndsAScan(t *testing.T) {
	t.Parallel()
	a := API{Scanner: scanner(func(ctx context.Context, _ []string) (model.Report, error) {
		<-ctx.Done()
		return model.Report{}, ctx.Err()
	})}
	served(t, a, func(l *pipeListener, stop func()) {
		conn := l.dial()
		send(t, conn, "POST /api/v1/scan HTTP/1.1\r\nHost: driftd\r\nContent-Length: 0\r\n\r\n")
		synctest.Wait()
		stop()
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body := read(t, answer); answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "was aborted") {
			t.Errorf("scan = %d %s", answer.StatusCode, body)
		}
	})
}

func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	a := API{Scanner: scanner(func(context.Context, []string) (model.Report, error) {
		time.Sleep(time.Minute) // time of the bubble; the scan ignores the context
		return model.Report{}, nil
	})}
	synctest.Test(t, func(t *testing.T) {
		a.Log, a.Now = quiet(), time.Now
		ctx, stop := context.WithCancel(t.Context())
		l := newPipeListener()
		done := make(chan error, 1)
		d := Options{Log: quiet()}.newDoor(ctx, l, a.Handler())
		go func() { done <- serveAll(ctx, stop, []*endpoint{d}) }()
		conn := l.dial()
		send(t, conn, "POST /api/v1/scan HTTP/1.1\r\nHost: driftd\r\nContent-Length: 0\r\n\r\n")
		synctest.Wait()
		began := time.Now()
		stop()
		if err := <-done; err != nil || time.Since(began) > stopTimeout+time.Second {
			t.Errorf("serveAll() = %v after %v, want %v", err, time.Since(began), stopTimeout)
		}
		time.Sleep(time.Minute) // the scan ends
	})
}

func TestFailedListenerEndsAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		o := Options{Log: quiet()}
		good, bad := newPipeListener(), newPipeListener()
		if err := bad.Close(); err != nil {
			t.Fatal(err)
		}
		err := serveAll(ctx, stop, []*endpoint{o.newDoor(ctx, good, http.NotFoundHandler()), o.newDoor(ctx, bad, http.NotFoundHandler())})
		if err == nil || !strings.Contains(err.Error(), "serve pipe") {
			t.Errorf("serveAll() = %v, want the error of the fallen endpoint", err)
		}
	})
}
