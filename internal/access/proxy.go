package access

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// A ReverseProxy describes proxies that authenticate visitors, and that send their name and groups in
// headers.
type ReverseProxy struct {
	// Trusted lists the addresses and prefixes of the proxies whose headers are accepted.
	Trusted []string
	// UserHeader is the header with the name of the visitor. GroupsHeader is the header with the groups,
	// separated by GroupsSeparator.
	UserHeader, GroupsHeader, GroupsSeparator string
}

// ParsePrefix parses an address or a prefix such as 10.0.0.0/8. It returns an error for a prefix that
// contains every address, because any client could then claim any name.
func ParsePrefix(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if ip, wrong := netip.ParseAddr(text); err != nil && wrong == nil && ip.Zone() == "" {
		prefix, err = netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	switch {
	case err != nil:
		return prefix, fmt.Errorf("address %q: want one such as 127.0.0.1 or 10.0.0.0/24", text)
	case prefix.Bits() == 0:
		return prefix, fmt.Errorf("address %q: any client could claim any name; use the proxy's address", text)
	case prefix.Addr().Is4In6() && prefix.Bits() >= 96:
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		if prefix.Bits() == 0 {
			return prefix, fmt.Errorf("address %q: any client could claim any name; use the proxy's address", text)
		}
	}
	return prefix.Masked(), nil
}

func parsePrefixes(texts []string) ([]netip.Prefix, error) {
	prefixes := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		prefix, err := ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

// isTrusted reports whether an address is that of a trusted proxy.
func (g *Gate) isTrusted(ip netip.Addr) bool {
	for _, prefix := range g.trusted {
		if prefix.Contains(ip) {
			return true
		}
	}
	return false
}

// proxied returns the name and groups that a trusted proxy sent in the headers of a request,
// or "" if there are none. A request with two such headers is refused: the visitor may have
// sent one of them.
func (g *Gate) proxied(r *http.Request) (name string, groups []string, refused *Refused) {
	if len(g.trusted) == 0 || !g.isTrusted(peer(r)) {
		return "", nil, nil
	}
	users, lists := r.Header.Values(g.options.Proxy.UserHeader), r.Header.Values(g.options.Proxy.GroupsHeader)
	if len(users) > 1 || len(lists) > 1 {
		return "", nil, &Refused{Status: http.StatusForbidden, Message: "the proxy sent two user or group headers",
			Hint: "configure it to replace the headers of its clients instead of adding to them: docs/access.md"}
	}
	if len(users) == 0 || strings.TrimSpace(users[0]) == "" {
		return "", nil, nil
	}
	if name = strings.TrimSpace(users[0]); !clean(name) {
		return "", nil, &Refused{Status: http.StatusForbidden, Message: "the user name from the proxy contains unprintable characters or is too long",
			Hint: fmt.Sprintf("configure it to send at most %d bytes of printable text", maxName)}
	}
	for _, list := range lists {
		for group := range strings.SplitSeq(list, g.options.Proxy.GroupsSeparator) {
			if group = strings.TrimSpace(group); group != "" {
				groups = append(groups, group)
			}
		}
	}
	return name, groups, nil
}

// peer returns the remote address of the connection, or the zero Addr if there is none.
func peer(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

// client returns the network that a request comes from: an IPv4 address, or the /64 of an IPv6
// address, which usually belongs to one site. Behind trusted proxies it is the network of the
// client of the outermost proxy.
func (g *Gate) client(r *http.Request) netip.Prefix {
	ip := peer(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && g.isTrusted(ip); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		ip = hop.Unmap().WithZone("")
	}
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	prefix, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
