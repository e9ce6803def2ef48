package cli

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/server"
)

// newPeople returns the table of people of a configuration.
func newPeople(cfg *config.Config) *access.People {
	list := make([]access.Person, 0, len(cfg.People))
	for _, p := range cfg.People {
		list = append(list, p.Identified())
	}
	return access.NewPeople(list)
}

// newGate opens the authenticator for requests over TCP. It makes no network connections. people
// may be nil.
func newGate(cfg *config.Config, people func() *access.People, log *slog.Logger) (*access.Gate, error) {
	a := cfg.Server.Access
	loopback, err := access.ParseRole(a.Loopback)
	if err != nil {
		return nil, fmt.Errorf("read server.access.loopback: %w", err)
	}
	gate, err := access.New(access.Options{
		Loopback:  loopback,
		UsersFile: a.UsersFile,
		OpenID: access.OpenIDClient{Issuer: a.OIDC.Issuer, ClientID: a.OIDC.ClientID, ClientSecretFile: a.OIDC.ClientSecretFile,
			CAFile: a.OIDC.CAFile, Scopes: a.OIDC.Scopes, NameClaim: a.OIDC.NameClaim, GroupsClaim: a.OIDC.GroupsClaim},
		Proxy:   access.ReverseProxy{Trusted: a.Proxy.Trusted, UserHeader: a.Proxy.UserHeader, GroupsHeader: a.Proxy.GroupsHeader, GroupsSeparator: a.Proxy.GroupsSeparator},
		Roles:   access.Roles{Viewer: a.Roles.Viewer, Operator: a.Roles.Operator, Approver: a.Roles.Approver},
		People:  people,
		Session: a.Session,
		URL:     cfg.Notify.URL,
		Vouched: server.Vouched(cfg.Server.WebConfigFile),
		Now:     time.Now, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("open server.access: %w", err)
	}
	return gate, nil
}
