package shoutrrr

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"testing"
)

// serverEnv names the server that the process asks in place of every other one.
const serverEnv = "DRIFTD_TEST_SERVER"

// TestMain is also the process that sends.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 || os.Args[1] != Verb {
		os.Exit(m.Run())
	}
	if server := os.Getenv(serverEnv); server != "" {
		http.DefaultTransport = &detour{server, http.DefaultTransport}
	}
	if err := Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A detour sends requests to a test's server; it says there whom they were for.
type detour struct {
	server string
	next   http.RoundTripper
}

func (d *detour) RoundTrip(r *http.Request) (*http.Response, error) {
	server, err := url.Parse(d.server)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Asked", r.URL.Scheme+"://"+r.URL.Host)
	r.URL.Scheme, r.URL.Host, r.Host = server.Scheme, server.Host, server.Host
	return d.next.RoundTrip(r)
}
