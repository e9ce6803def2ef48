package config

import (
	"time"

	"github.com/driftd/driftd/internal/access"
)

// Access configures authentication and authorization over TCP. A client of the socket in state_dir has all
// permissions.
type Access struct {
	// Loopback is the role of a client without a login that connects from an address of this host: viewer,
	// operator, approver, or `nobody`, which has no rights. It applies only while listen is a loopback
	// address, and never to requests that a proxy forwards.
	Loopback string `mapstructure:"loopback"`
	// UsersFile is a file with user names and the bcrypt hashes of their passwords, one user a line, as
	// `driftd user` and `htpasswd -B` write them; "" disables login with a password. The file is read again
	// when it changes.
	UsersFile string `mapstructure:"users_file" path:"true"`
	// OIDC configures login with an OpenID provider. It needs notify.url.
	OIDC OIDC `mapstructure:"oidc"`
	// Proxy configures authentication by a reverse proxy.
	Proxy Proxy `mapstructure:"proxy"`
	// Roles lists the users and groups of each role. Without any entry, every authenticated
	// user is a viewer.
	Roles Roles `mapstructure:"roles"`
	// Session is the duration after which a login expires.
	Session time.Duration `mapstructure:"session"`
}

// OIDC configures the OpenID provider, and driftd as its client. The redirect URI is notify.url followed by
// /login/oidc/callback.
type OIDC struct {
	// Issuer is the URL of the provider, as in its discovery document; "" disables login with OpenID.
	Issuer string `mapstructure:"issuer"`
	// ClientID is driftd's client ID at the provider.
	ClientID string `mapstructure:"client_id"`
	// ClientSecretFile is a file with the client secret; "" means a public client.
	ClientSecretFile string `mapstructure:"client_secret_file" path:"true"`
	// CAFile is a file with the certificate authorities to trust; "" means those of the system.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Scopes are the scopes to request; openid must be among them.
	Scopes []string `mapstructure:"scopes"`
	// NameClaim is the claim with the name of the user. Use a claim that users cannot choose themselves.
	NameClaim string `mapstructure:"name_claim"`
	// GroupsClaim is the claim that lists the user's groups.
	GroupsClaim string `mapstructure:"groups_claim"`
}

// Proxy configures a reverse proxy that authenticates users. If it is set, every request needs a user name.
type Proxy struct {
	// Trusted are the addresses or prefixes of the proxies. The headers of other clients are
	// ignored.
	Trusted []string `mapstructure:"trusted"`
	// UserHeader is the header with the name of the user.
	UserHeader string `mapstructure:"user_header"`
	// GroupsHeader is the header that lists the user's groups.
	GroupsHeader string `mapstructure:"groups_header"`
	// GroupsSeparator separates the groups in that header. Authentik separates them by "|".
	GroupsSeparator string `mapstructure:"groups_separator"`
}

// Roles lists the members of each role: user names, "group:NAME", or "*" for every
// authenticated user. A user has the highest role that matches; each role includes the rights
// of the roles before it.
type Roles struct {
	// Viewer is read-only.
	Viewer []string `mapstructure:"viewer"`
	// Operator may also make decisions about findings with an end date, and request scans.
	Operator []string `mapstructure:"operator"`
	// Approver may also make decisions without an end date, and revoke or replace decisions of other users.
	Approver []string `mapstructure:"approver"`
}

// A Person maps identities to one name, which decisions record, so that a person with several names counts
// as one. Each identity belongs to at most one person; at least one is required.
type Person struct {
	// Name is the name that decisions record, without colons and parentheses.
	Name string `mapstructure:"name"`
	// Unix is the user on the daemon's host, a name or a user ID in quotes. It is the user who
	// logs in, also under sudo; `root` and `nobody` belong to no person. Users that are not in
	// /etc/passwd, such as those of a directory service, need the user ID.
	Unix string `mapstructure:"unix"`
	// Login is the name in users_file, in web_config_file, in a client certificate, or from the
	// proxy.
	Login string `mapstructure:"login"`
	// OIDC is the name from the OpenID provider, in the claim of name_claim.
	OIDC string `mapstructure:"oidc"`
	// Slack is the member ID, such as U0123456789, from the profile of the member.
	Slack string `mapstructure:"slack"`
	// Kubernetes is the user name in the audit logs of the API servers. The author of a drift must not
	// approve the action that puts it back.
	Kubernetes string `mapstructure:"kubernetes"`
	// Proxmox is the user, with the realm, in the logs of a PVE cluster, such as alice@pam. API tokens of the user
	// count as the user. The author of a drift must not approve the action that puts it back.
	Proxmox string `mapstructure:"proxmox"`
}

// Identified returns the person in the form of package access.
func (p Person) Identified() access.Person {
	return access.Person{Name: p.Name, Unix: p.Unix, Login: p.Login, OIDC: p.OIDC, Slack: p.Slack, Kubernetes: p.Kubernetes, Proxmox: p.Proxmox}
}

// defaultAccess returns the default Access.
func defaultAccess() Access {
	return Access{
		Loopback: "viewer",
		OIDC:     OIDC{Scopes: []string{"openid", "profile", "email"}, NameClaim: "preferred_username", GroupsClaim: "groups"},
		Proxy:    Proxy{UserHeader: "X-Forwarded-User", GroupsHeader: "X-Forwarded-Groups", GroupsSeparator: ","},
		Session:  access.DefaultSession,
	}
}
