package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/timeparse"
)

// longestSession is the maximum of Session.
const longestSession = 90 * timeparse.Day

func (d *document) checkAccess(c *Config) {
	const at = "server.access"
	a := &c.Server.Access
	if _, err := access.ParseRole(a.Loopback); err != nil {
		d.add(at+".loopback", "loopback role %q: %s", a.Loopback, oneOf(a.Loopback, access.RoleNames()))
	}
	if a.Session <= 0 || a.Session > longestSession {
		d.add(at+".session", "session: want a duration above zero and of at most 90d, such as 12h")
	}
	d.checkOIDC(at+".oidc", a.OIDC, c.Notify.URL)
	d.checkProxy(at+".proxy", a.Proxy)
	d.checkRoles(at+".roles", a.Roles)
	byName := a.UsersFile != "" || a.OIDC.Issuer != "" || len(a.Proxy.Trusted) > 0 || c.Server.WebConfigFile != ""
	if roles := a.Roles; !byName && len(roles.Viewer)+len(roles.Operator)+len(roles.Approver) > 0 {
		d.add(at+".roles", "roles without authentication: set users_file, oidc or proxy, or server.web_config_file")
	}
}

func (d *document) checkOIDC(at string, o OIDC, pages string) {
	if o.Issuer == "" {
		if o.ClientID != "" || o.ClientSecretFile != "" || o.CAFile != "" {
			d.add(at, "oidc without an issuer: name the provider's address, as in issuer: https://login.example.org")
		}
		return
	}
	if err := access.CheckIssuer(o.Issuer); err != nil {
		d.add(at+".issuer", "%v", err)
	}
	if o.ClientID == "" {
		d.add(at, "oidc without client_id: register driftd with the provider, and name the client")
	}
	if !slices.Contains(o.Scopes, "openid") {
		d.add(at+".scopes", "scopes without openid: add it, the provider needs it to return the user's name")
	}
	for key, claim := range map[string]string{"name_claim": o.NameClaim, "groups_claim": o.GroupsClaim} {
		if claim == "" {
			d.add(at+"."+key, "%s: name the claim", key)
		}
	}
	if u, err := url.Parse(pages); pages == "" || err != nil || u.Host == "" {
		d.add(at, "oidc without notify.url: set it, the provider redirects users to that address")
	}
}

func (d *document) checkProxy(at string, p Proxy) {
	for i, text := range p.Trusted {
		if _, err := access.ParsePrefix(text); err != nil {
			d.add(fmt.Sprintf("%s.trusted[%d]", at, i), "%v", err)
		}
	}
	for key, name := range map[string]string{"user_header": p.UserHeader, "groups_header": p.GroupsHeader} {
		if !httpguts.ValidHeaderFieldName(name) {
			d.add(at+"."+key, "%s: want the name of a header, such as X-Forwarded-User", key)
		}
	}
	if p.GroupsSeparator == "" {
		d.add(at+".groups_separator", `groups_separator: want what separates groups, such as "," or "|"`)
	}
	if strings.EqualFold(p.UserHeader, p.GroupsHeader) {
		d.add(at+".groups_header", "groups_header and user_header are the same header: name another")
	}
	_, user := d.places[at+".user_header"]
	_, groups := d.places[at+".groups_header"]
	if (user || groups) && len(p.Trusted) == 0 {
		d.add(at, "proxy without trusted: name the addresses of the proxy, as in trusted: [127.0.0.1]")
	}
}

func (d *document) checkRoles(at string, r Roles) {
	for role, list := range map[string][]string{"viewer": r.Viewer, "operator": r.Operator, "approver": r.Approver} {
		for i, name := range list {
			item := fmt.Sprintf("%s.%s[%d]", at, role, i)
			group, isGroup := strings.CutPrefix(name, "group:")
			switch {
			case strings.TrimSpace(name) == "" || isGroup && strings.TrimSpace(group) == "":
				d.add(item, `%s: want a name, "group:NAME" or "*"`, role)
			case strings.TrimSpace(name) != name || strings.TrimSpace(group) != group:
				d.add(item, "%s %q has a blank that no name has: remove it", role, name)
			case group == "*" && isGroup:
				d.add(item, `%s: "group:*" is not a group: write "*" for every authenticated user`, role)
			case slices.Index(list, name) < i:
				d.add(item, "%s %q twice: name it once", role, name)
			}
		}
	}
}
