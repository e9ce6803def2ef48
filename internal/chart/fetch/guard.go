package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/lazyregexp"
)

// guarded refuses requests without TLS, unless own allows them to this machine, requests with
// the password to other hosts than the trusted ones, and those that are not permitted.
type guarded struct {
	next      http.RoundTripper
	own       bool
	trusted   []string
	permitted func(*url.URL) bool
	// tokenHost is the name of the setting of a host for tokens.
	tokenHost string
}

// RoundTrip implements http.RoundTripper.
func (g *guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !(g.own && isOwnMachine(r.URL)) {
		return nil, problem("an address without https, to which driftd sends no request")
	}
	if _, _, ok := r.BasicAuth(); ok && !slices.Contains(g.trusted, hostOf(r.URL)) {
		return nil, problem("the registry wants the password sent to %s, which is not its own host: if that is its host for tokens, set %s to it", shown(r.URL.Host), g.tokenHost)
	}
	if !g.permitted(r.URL) {
		return nil, problem("the server leads to %s, below no URL of the setting charts: list it there if charts may come from it", shown(r.URL.Host))
	}
	return g.next.RoundTrip(r)
}

// sends reports whether a request is permitted.
func (s *Settings) sends(at *url.URL) bool { return s.Within == nil || s.Within.sends(at) }

// trusted returns the hosts that get the credentials.
func (s *Settings) trusted(base *url.URL) []string {
	hosts := []string{hostOf(base)}
	if s.TokenHost != "" {
		hosts = append(hosts, hostOf(&url.URL{Host: s.TokenHost}))
	}
	// docker.io is a name for registry-1.docker.io, whose tokens come from a host of their own.
	if docker := "registry-1.docker.io:443"; s.OCI != "" && (hosts[0] == docker || hosts[0] == "docker.io:443") {
		hosts = append(hosts, docker, "auth.docker.io:443")
	}
	return hosts
}

// checkTokenHost checks TokenHost.
func (s *Settings) checkTokenHost() error {
	switch {
	case s.TokenHost == "":
		return nil
	case s.OCI == "" || s.Username == "":
		return errors.New("chart_token_host is for oci with chart_username: remove it")
	case !isHost(s.TokenHost):
		return fmt.Errorf("chart_token_host %q is not the name of a host, such as auth.example.org or auth.example.org:5001", s.TokenHost)
	}
	return nil
}

// redirect follows a redirect. The credentials go to the host of the first request only, and there to URLs that get them.
func (s *Settings) redirect(r *http.Request, via []*http.Request) error {
	const most = 5
	if len(via) > most {
		return problem("too many redirects")
	}
	// net/http itself leaves them to other ports and to hosts below the first one.
	if first := via[0].URL; r.URL.Scheme != first.Scheme || r.URL.Host != first.Host || !s.carries(first, r.URL) {
		r.Header.Del("Authorization")
	}
	return nil
}

// carries reports whether a URL may get the credentials that another one on its host got. Those of a repository go to URLs of the same entry only; a
// registry decides itself where on its host its blobs are.
func (s *Settings) carries(first, at *url.URL) bool {
	return s.Within == nil || s.OCI != "" || s.Within.entryOf(first) == s.Within.entryOf(at)
}

// hostOf returns the host of a URL with its port.
func hostOf(u *url.URL) string {
	port := u.Port()
	switch {
	case port == "" && (u.Scheme == "http" || u.Scheme == "oci" && httpclient.Loopback(u.Hostname())):
		port = "80"
	case port == "":
		port = "443"
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}

var plainHost = lazyregexp.New(`^[0-9A-Za-z.-]+(?::[0-9]{1,5})?$`)

// isHost reports whether a text is the name of a host, with or without a port.
func isHost(text string) bool {
	const longest = len(":65535") + 253
	return len(text) <= longest && plainHost().MatchString(text)
}

// shown returns a host that a server has named, for errors.
func shown(host string) string {
	if isHost(host) {
		return host
	}
	return "another host"
}
