package shoutrrr

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"testing"
)

// serverEnv is the environment variable with the address of the server that gets all
// requests of the process.
const serverEnv = "DRIFTD_TEST_SERVER"

// TestMain is also the main function of the process that sends a message.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 || os.Args[1] != Verb {
		os.Exit(m.Run())
	}
	if server := os.Getenv(serverEnv); server != "" {
		http.DefaultTransport = &redirectTransport{server, http.DefaultTransport}
	}
	if err := Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A redirectTransport sends all requests to a test server. It adds the original host in a
// header.
type redirectTransport struct {
	server string
	next   http.RoundTripper
}

func (d *redirectTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	server, err := url.Parse(d.server)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Original-Host", r.URL.Scheme+"://"+r.URL.Host)
	r.URL.Scheme, r.URL.Host, r.Host = server.Scheme, server.Host, server.Host
	return d.next.RoundTrip(r)
}
