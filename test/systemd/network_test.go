//go:build e2e

package systemd

import (
	"bufio"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// server is an address that a machine lacks until it gets a network.
const server = "192.0.2.10"

// within calls do in the network of the machine. Sockets that do opens stay there.
func (m *machine) within(do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	here, err := os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()))
	if err != nil {
		return err
	}
	defer func() { _ = here.Close() }()
	there, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", m.leader))
	if err != nil {
		return err
	}
	defer func() { _ = there.Close() }()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the machine's network: %w", err)
	}
	err = do()
	if back := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); back != nil {
		panic(back) // this thread is in the wrong network
	}
	return err
}

// connect gives the machine its address, like a network that starts late.
func (m *machine) connect() {
	m.t.Helper()
	output(m.t, "", "nsenter", "--target", fmt.Sprint(m.leader), "--net", "ip", "address", "add", server+"/32", "dev", "lo")
}

// inventory is the name and port of another server at that address; its certificate is the test
// certificate of package httptest.
const inventory = "example.com:8443"

// authority is the CA certificate of inventory.
func authority() string {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// serve serves inventory in the machine's network.
func (m *machine) serve(handler http.Handler) {
	m.t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // a killed daemon leaves unfinished handshakes
	err := m.within(func() (err error) {
		other := s.Listener
		s.Listener, err = net.Listen("tcp", server+":8443")
		return errors.Join(err, other.Close())
	})
	if err != nil {
		m.t.Fatal(err)
	}
	s.StartTLS()
	m.owner.Cleanup(s.Close)
}

// get requests a path of driftd's own server, from inside the machine.
func (m *machine) get(path string) (code int, body string, err error) {
	const address = "127.0.0.1:9797"
	var conn net.Conn
	err = m.within(func() (err error) {
		conn, err = net.DialTimeout("tcp", address, 5*time.Second)
		return err
	})
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return 0, "", err
	}
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: "+address+"\r\nConnection: close\r\n\r\n"); err != nil {
		return 0, "", err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// awaitReady waits for a response of /readyz.
func (m *machine) awaitReady(code int, want string) {
	m.t.Helper()
	m.await(fmt.Sprintf("/readyz with %d %q", code, want), patience, func() (string, bool) {
		got, body, err := m.get("/readyz")
		return fmt.Sprint(got, body, err), got == code && strings.Contains(body, want)
	})
}
