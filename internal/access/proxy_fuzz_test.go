package access

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// FuzzProxied checks that the headers of an untrusted address are ignored, and that names and
// groups of a trusted proxy are printable and separated.
func FuzzProxied(f *testing.F) {
	for _, seed := range [][4]string{
		{"10.0.0.1:443", "alice", "sre, staff", "192.0.2.7"},
		{"10.0.0.1:443", "alice\nbob", ",,", "192.0.2.7, 10.0.0.2"},
		{"[::ffff:10.0.0.1]:443", " bob ", "", "2001:db8::1%eth0, ::ffff:10.0.0.3"},
		{"192.0.2.9:1", "root\nroot", "admin", "10.0.0.1"},
		{"@", "x", "y", "unknown"},
		{"[fe80::1%1]:80", "\u202eeve", "a;b", "10.0.0.1:80, [::1]"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	trusted, err := parsePrefixes([]string{"10.0.0.0/8", "::1"})
	if err != nil {
		f.Fatal(err)
	}
	g := &Gate{trusted: trusted, options: Options{Proxy: ReverseProxy{UserHeader: "X-User", GroupsHeader: "X-Groups", GroupsSeparator: ","}}}
	f.Fuzz(func(t *testing.T, peerAddress, users, groups, forwarded string) {
		r := &http.Request{RemoteAddr: peerAddress, Header: http.Header{"X-Forwarded-For": strings.Split(forwarded, "\n")}}
		if users != "" {
			r.Header["X-User"] = strings.Split(users, "\n")
		}
		if groups != "" {
			r.Header["X-Groups"] = strings.Split(groups, "\n")
		}
		name, in, refused := g.proxied(r)
		at := peer(r)
		if !g.isTrusted(at) {
			if name != "" || in != nil || refused != nil {
				t.Errorf("the headers of %q are accepted: %q %q %v", peerAddress, name, in, refused)
			}
			if from := g.client(r); at.IsValid() && !from.Contains(at) {
				t.Errorf("%q comes from %s", peerAddress, from)
			}
			return
		}
		if name != "" && !clean(name) || refused != nil && (name != "" || in != nil) {
			t.Errorf("got %q %q %v", name, in, refused)
		}
		if name == "" && len(in) > 0 || slices.ContainsFunc(in, func(group string) bool { return group == "" || strings.ContainsRune(group, ',') }) {
			t.Errorf("got the groups %q of %q", in, name)
		}
		if from := g.client(r); from != (netip.Prefix{}) && from.Masked() != from {
			t.Errorf("got the network %s", from)
		}
	})
}
