package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/config"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	file := write(t, minimal+`audit:
  key_file: audit.key
  public_key: a+1+b
  witness:
  - {file: heads, shared_with: [driftd/other]}
  - {webhook: "https://witness.example.org/heads", token_file: sub/token, ca_file: /ca.pem}
  - {webhook: "http://127.0.0.1:9/heads", token_file: token}
  - webhook_file: slack
  - git: https://git.example.org/ops/audit.git
  - {git: git@git.example.org:ops/audit.git, branch: heads/prod, ssh_key_file: key, known_hosts_file: hosts}
  - {git: /srv/audit.git, username: me, token_file: token}
`)
	// A bare name is a file of the folder of credentials, if there is one.
	dir := filepath.Dir(file)
	if err := os.Mkdir(filepath.Join(dir, "credentials"), 0o700); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "credentials", "audit.key")
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	below := func(name string) string { return filepath.Join(dir, name) }
	want := config.Audit{KeyFile: key, PublicKey: "a+1+b", Witness: []config.Witness{
		{File: below("heads"), SharedWith: []string{"driftd/other"}},
		{Webhook: "https://witness.example.org/heads", TokenFile: below("sub/token"), CAFile: "/ca.pem"},
		{Webhook: "http://127.0.0.1:9/heads", TokenFile: below("token")},
		{WebhookFile: below("slack")},
		{Git: "https://git.example.org/ops/audit.git", Branch: "driftd-audit", Username: "git"},
		{Git: "git@git.example.org:ops/audit.git", Branch: "heads/prod", Username: "git", SSHKeyFile: below("key"), KnownHostsFile: below("hosts")},
		{Git: "/srv/audit.git", Branch: "driftd-audit", Username: "me", TokenFile: below("token")},
	}}
	if diff := cmp.Diff(want, c.Audit); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAuditProblems(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason, witness, want string
	}{
		"unknown key":     {"the nearest key is named", "{fille: a}", `unknown key "fille": did you mean "file"?`},
		"secret":          {"secrets are in files", "{git: /a, token: hunter2}", `unknown key "token": secrets do not belong in this file, write it to a file of its own and name that in "token_file"`},
		"no place":        {"it has nowhere to keep heads", "{ca_file: a}", "a witness without a place: set file, webhook, webhook_file or git"},
		"two places":      {"each place is a witness", "{file: a, git: /b}", "a witness with file and git: keep one, and write each other one as a witness of its own"},
		"two webhooks":    {"the URL is given once", `{webhook: "https://hunter2", webhook_file: b}`, "a witness with webhook and webhook_file: keep one"},
		"branch":          {"a file has none", "{file: a, branch: b}", "branch applies only to git: remove it"},
		"ssh":             {"a webhook has none", `{webhook: "https://a", ssh_key_file: b}`, "ssh_key_file applies only to git: remove it"},
		"token":           {"a file has none", "{file: a, token_file: b}", "token_file applies only to webhook and git: remove it"},
		"shared webhook":  {"heads are not read back", `{webhook: "https://a", shared_with: [b]}`, "shared_with applies only to file and git: remove it"},
		"empty origin":    {"it is no log", `{file: a, shared_with: [""]}`, "an origin is empty"},
		"token and key":   {"only one is used", "{git: /a, token_file: a, ssh_key_file: b}", "token_file and ssh_key_file are both set"},
		"no url":          {"a webhook is a URL", "{webhook: hunter2}", "webhook: the address must begin with https:// or http:// and a host"},
		"userinfo":        {"a password belongs in a file", `{webhook: "https://me:hunter2@a/"}`, "webhook: the address must not contain a user or a password"},
		"clear text":      {"the token would be read on the way", `{webhook: "http://a.example/hunter2", token_file: b}`, "webhook: the address would send the token in clear text: use https"},
		"git password":    {"a password belongs in a file", `{git: "https://me:hunter2@a/b"}`, "git: the address must not contain a user or a password: use username and token_file"},
		"git user":        {"the user of https is a setting", `{git: "https://hunter2@a/b"}`, "git: the address must not contain a user or a password"},
		"ssh password":    {"ssh has keys", `{git: "ssh://git:hunter2@a/b"}`, "git: the address must not contain a user or a password"},
		"git clear text":  {"a proxy could drop heads", `{git: "http://a.example/b"}`, "git: http would send the token in clear text"},
		"git protocol":    {"git:// does not authenticate", `{git: "git://a/b"}`, "git: the address must begin with https://, ssh:// or file://"},
		"relative git":    {"a repository is a URL or an absolute path", "{git: a/b}", "git: a/b is neither a URL nor an absolute path"},
		"malformed git":   {"the URL is not shown", `{git: "https://[hunter2"}`, "git: the address is not a valid URL"},
		"dots":            {"git refuses such a name", "{git: /a, branch: a..b}", `branch "a..b": want the name of a branch, such as driftd-audit`},
		"full name":       {"it is the name of a branch", "{git: /a, branch: refs/heads/a}", `branch "refs/heads/a": want the name of a branch`},
		"space":           {"git refuses such a name", "{git: /a, branch: a b}", `branch "a b": want the name of a branch`},
		"key file":        {"heads would be appended to the key", "{file: audit.key}", "the file of the witness is the one of audit.key_file: name another"},
		"same file":       {"each place is one witness", "{file: ./heads}", "a second witness of the same place: line 5 has it already"},
		"same repository": {"two names of one repository", `{git: "https://a/b.git", branch: driftd-audit}`, "a second witness of the same place: line 6 has it already"},
		"same path":       {"two names of one folder", `{git: /b/c/.}`, "a second witness of the same place: line 7 has it already"},
		"same webhook":    {"heads would be posted twice", `{webhook: "https://a.example/x"}`, "a second witness of the same place: line 8 has it already"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(write(t, minimal+`audit:
  key_file: audit.key
  witness:
  - {file: heads}
  - {git: "https://a/b/"}
  - {git: /b//c}
  - {webhook: "https://a.example/x/"}
  - `+test.witness+"\n"), nil)
			var problems *config.Error
			if !errors.As(err, &problems) || !strings.Contains(err.Error(), "driftd.yaml:9: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v, want %q on line 9", test.reason, err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
	if _, err := config.Load(write(t, minimal+"audit: {witness: [{git: /a}, {git: /a, branch: other}]}\n"), nil); err != nil {
		t.Errorf("two branches: %v", err)
	}
}
