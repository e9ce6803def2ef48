package config

import (
	"time"

	"github.com/driftd/driftd/internal/access"
)

// Access says who may come in over TCP, and what they may do. Whoever uses the
// socket in state_dir may do everything.
type Access struct {
	// Loopback is what whoever reaches driftd at an address of this host alone
	// may do without logging in: nobody, viewer, operator or approver. It counts
	// only while listen is such an address, and never for what a proxy passes on.
	Loopback string `mapstructure:"loopback"`
	// UsersFile holds names and the bcrypt hashes of their passwords, a line
	// each, as `driftd user` and `htpasswd -B` write them; "" means that nobody
	// logs in with a password. It is read again when it changes.
	UsersFile string `mapstructure:"users_file" path:"true"`
	// OIDC lets people log in at an OpenID provider. It needs notify.url.
	OIDC OIDC `mapstructure:"oidc"`
	// Proxy trusts a reverse proxy to say who asks.
	Proxy Proxy `mapstructure:"proxy"`
	// Roles say who may do what. Without any, everybody who is known is a viewer.
	Roles Roles `mapstructure:"roles"`
	// Session is how long a login holds.
	Session time.Duration `mapstructure:"session"`
}

// OIDC is an OpenID provider, and driftd as its client. The address to which the
// provider sends people back is notify.url with /login/oidc/callback.
type OIDC struct {
	// Issuer is the provider's address, as its discovery document names it; ""
	// means that there is none.
	Issuer string `mapstructure:"issuer"`
	// ClientID is what the provider calls driftd.
	ClientID string `mapstructure:"client_id"`
	// ClientSecretFile holds the client's secret; "" is for a public client.
	ClientSecretFile string `mapstructure:"client_secret_file" path:"true"`
	// CAFile holds the authorities to trust instead of the system's; "" trusts
	// the system's.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Scopes are what is asked for; openid is among them.
	Scopes []string `mapstructure:"scopes"`
	// NameClaim is the claim that names the visitor. Take one that people cannot
	// choose for themselves.
	NameClaim string `mapstructure:"name_claim"`
	// GroupsClaim is the claim that lists the visitor's groups.
	GroupsClaim string `mapstructure:"groups_claim"`
}

// Proxy is a reverse proxy that has asked people who they are. With one, nobody
// comes in without a name.
type Proxy struct {
	// Trusted are the addresses, or prefixes, of the proxies whose headers count;
	// from anywhere else they are ignored.
	Trusted []string `mapstructure:"trusted"`
	// UserHeader names the visitor.
	UserHeader string `mapstructure:"user_header"`
	// GroupsHeader lists the visitor's groups, with commas between them.
	GroupsHeader string `mapstructure:"groups_header"`
}

// Roles list who has which role: names, "group:NAME", or "*" for everybody who
// is known. The highest that fits counts; each role may do what those before it
// may.
type Roles struct {
	// Viewer may read.
	Viewer []string `mapstructure:"viewer"`
	// Operator may also decide about findings for a time, and ask for scans.
	Operator []string `mapstructure:"operator"`
	// Approver may also decide for ever, and take back or replace what others
	// decided.
	Approver []string `mapstructure:"approver"`
}

// defaultAccess returns the Access of an empty file.
func defaultAccess() Access {
	return Access{
		Loopback: "viewer",
		OIDC:     OIDC{Scopes: []string{"openid", "profile", "email"}, NameClaim: "preferred_username", GroupsClaim: "groups"},
		Proxy:    Proxy{UserHeader: "X-Forwarded-User", GroupsHeader: "X-Forwarded-Groups"},
		Session:  access.DefaultSession,
	}
}
