package config_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/config"
)

func TestLoadAccess(t *testing.T) {
	t.Parallel()
	file := write(t, minimal+`notify: {url: "https://driftd.example.org"}
server:
  access:
    loopback: nobody
    users_file: users
    oidc: {issuer: "https://login.example.org", client_id: driftd, client_secret_file: /run/secret, groups_claim: realm_access.roles, scopes: [openid]}
    proxy: {trusted: [192.0.2.7], user_header: Remote-User}
    roles: {viewer: ["*"], operator: [alice, "group:sre"], approver: [bob]}
    session: 8h
`)
	c, err := config.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Access{
		Loopback:  "nobody",
		UsersFile: filepath.Join(filepath.Dir(file), "users"),
		OIDC: config.OIDC{Issuer: "https://login.example.org", ClientID: "driftd", ClientSecretFile: "/run/secret",
			Scopes: []string{"openid"}, NameClaim: "preferred_username", GroupsClaim: "realm_access.roles"},
		Proxy:   config.Proxy{Trusted: []string{"192.0.2.7"}, UserHeader: "Remote-User", GroupsHeader: "X-Forwarded-Groups", GroupsSeparator: ","},
		Roles:   config.Roles{Viewer: []string{"*"}, Operator: []string{"alice", "group:sre"}, Approver: []string{"bob"}},
		Session: 8 * time.Hour,
	}
	if diff := cmp.Diff(want, c.Server.Access); diff != "" {
		t.Errorf("access (-want +got):\n%s", diff)
	}
}

func TestAccessProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, access string
		want           []string
	}{
		"loopback": {
			reason: "roles are a closed list",
			access: "loopback: view",
			want:   []string{`2: loopback role "view": did you mean "viewer"?`},
		},
		"session": {
			reason: "a login ends, and not before it begins",
			access: "session: 0s",
			want:   []string{`2: session: want a duration above zero and of at most 90d, such as 12h`},
		},
		"long session": {
			reason: "a login for ever is a password in a browser",
			access: "session: 91d",
			want:   []string{`2: session: want a duration above zero and of at most 90d, such as 12h`},
		},
		"secret": {
			reason: "a secret goes into a file of its own",
			access: "oidc: {client_secret: hunter2}",
			want:   []string{`2: unknown key "client_secret": secrets do not belong in this file, write it to a file of its own and name that in "client_secret_file"`},
		},
		"oidc without an issuer": {
			reason: "whose client?",
			access: "oidc: {client_id: driftd}",
			want:   []string{`2: oidc without an issuer: name the provider's address, as in issuer: https://login.example.org`},
		},
		"oidc": {
			reason: "what a login needs is asked for at once",
			access: `oidc: {issuer: "http://login.example.org", scopes: [profile], name_claim: ""}`,
			want: []string{
				`2: issuer: want the provider's https address as its discovery document names it, such as https://login.example.org`,
				`2: name_claim: name the claim`,
				`2: oidc without client_id: register driftd with the provider, and name the client`,
				`2: oidc without notify.url: set it, the provider redirects users to that address`,
				`2: scopes without openid: add it, the provider needs it to return the user's name`,
			},
		},
		"proxy": {
			reason: "whom to believe is an address, and never everybody's",
			access: `proxy: {trusted: [proxy.example.org, 0.0.0.0/0, "::/0"], user_header: "X User"}`,
			want: []string{
				`2: address "0.0.0.0/0": any client could claim any name; use the proxy's address`,
				`2: address "::/0": any client could claim any name; use the proxy's address`,
				`2: address "proxy.example.org": want one such as 127.0.0.1 or 10.0.0.0/24`,
				`2: user_header: want the name of a header, such as X-Forwarded-User`,
			},
		},
		"one header": {
			reason: "a name is no list of groups",
			access: `proxy: {trusted: [127.0.0.1], groups_header: x-forwarded-user}`,
			want:   []string{`2: groups_header and user_header are the same header: name another`},
		},
		"proxy without an address": {
			reason: "headers of nowhere count for nothing",
			access: `proxy: {user_header: Remote-User}`,
			want:   []string{`2: proxy without trusted: name the addresses of the proxy, as in trusted: [127.0.0.1]`},
		},
		"roles": {
			reason: "a role is somebody's",
			access: `users_file: users, roles: {viewer: [""], operator: ["group:", alice, alice], approver: ["group:*"]}`,
			want: []string{
				`2: approver: "group:*" is not a group: write "*" for every authenticated user`,
				`2: operator "alice" twice: name it once`,
				`2: operator: want a name, "group:NAME" or "*"`,
				`2: viewer: want a name, "group:NAME" or "*"`,
			},
		},
		"roles with blanks": {
			reason: "they match no name",
			access: `users_file: users, roles: {viewer: ["group:sre"], operator: ["group: sre"], approver: [" zoe"]}`,
			want:   []string{`2: approver " zoe" has a blank that no name has: remove it`, `2: operator "group: sre" has a blank that no name has: remove it`},
		},
		"separator": {
			reason: "an empty text separates nothing",
			access: `proxy: {trusted: [127.0.0.1], groups_separator: ""}`,
			want:   []string{`2: groups_separator: want what separates groups, such as "," or "|"`},
		},
		"roles of nobody": {
			reason: "who has a role must be somebody",
			access: `roles: {operator: [alice]}`,
			want:   []string{`2: roles without authentication: set users_file, oidc or proxy, or server.web_config_file`},
		},
		"unknown role": {
			reason: "there are three",
			access: `users_file: users, roles: {admin: [alice]}`,
			want:   []string{`2: unknown key "admin": want one of approver, operator, viewer`},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, minimal+"server: {access: {"+tt.access+"}}\n")
			_, err := config.Load(file, nil)
			if err == nil {
				t.Fatalf("%s: Load() gives no error", tt.reason)
			}
			checkProblems(t, tt.reason, file, err, tt.want)
		})
	}
}
