package links_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/links"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

func TestCommit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ repository, revision, position, want string }{
		"GitHub":               {"https://github.com/acme/shop.git", commit, "deploy/web.yaml:12", "https://github.com/acme/shop/blob/" + commit + "/deploy/web.yaml#L12"},
		"GitLab with groups":   {"https://gitlab.com/acme/infra/shop", commit, "web.yaml:3", "https://gitlab.com/acme/infra/shop/-/blob/" + commit + "/web.yaml#L3"},
		"Codeberg over SSH":    {"ssh://git@codeberg.org/acme/shop.git", commit, "web.yaml:3", "https://codeberg.org/acme/shop/src/commit/" + commit + "/web.yaml#L3"},
		"Bitbucket in scp":     {"git@bitbucket.org:acme/shop.git", commit, "web.yaml:3", "https://bitbucket.org/acme/shop/src/" + commit + "/web.yaml#lines-3"},
		"no line":              {"https://github.com/acme/shop", commit, "web.yaml", ""},
		"another port":         {"https://github.com:8443/acme/shop", commit, "web.yaml:1", ""},
		"special characters":   {"https://github.com/acme/shop", commit, "a b#c?d%2e.yaml:1", "https://github.com/acme/shop/blob/" + commit + "/a%20b%23c%3Fd%252e.yaml#L1"},
		"credentials":          {"https://me:token@github.com/acme/shop", commit, "web.yaml:1", "https://github.com/acme/shop/blob/" + commit + "/web.yaml#L1"},
		"query and fragment":   {"https://github.com/acme/shop?token=x#y", commit, "web.yaml:1", "https://github.com/acme/shop/blob/" + commit + "/web.yaml#L1"},
		"self-hosted":          {"https://git.example.org/acme/shop", commit, "web.yaml:1", ""},
		"a folder":             {"", commit, "web.yaml:1", ""},
		"no commit":            {"https://github.com/acme/shop", "", "web.yaml:1", ""},
		"a branch":             {"https://github.com/acme/shop", "main", "web.yaml:1", ""},
		"another scheme":       {"javascript://github.com/acme/shop", commit, "web.yaml:1", ""},
		"a parent":             {"https://github.com/acme/shop", commit, "../../../evil/x:1", ""},
		"a parent repository":  {"https://github.com/acme/../evil", commit, "web.yaml:1", ""},
		"a line break":         {"https://github.com/acme/shop", commit, "web\n.yaml:1", ""},
		"a host with a suffix": {"https://github.com.evil.example/acme/shop", commit, "web.yaml:1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := links.Commit(tc.repository, tc.revision, tc.position, nil); got != tc.want {
				t.Errorf("Commit(%q, %q, %q) = %q, want %q", tc.repository, tc.revision, tc.position, got, tc.want)
			}
		})
	}
}

func FuzzCommit(f *testing.F) {
	f.Add("https://me:token@github.com/acme/shop", "deploy/web.yaml:12")
	f.Add("git@gitlab.com:acme/shop.git", "a#b/../c:1")
	f.Fuzz(func(t *testing.T, repository, position string) {
		got := links.Commit(repository, commit, position, nil)
		if got == "" {
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || !strings.Contains(u.Path, "/"+commit+"/") {
			t.Errorf("Commit(%q, _, %q) = %q: %v", repository, position, got, err)
		}
		if strings.ContainsAny(got, "\n\r\t <>\"`\\") || strings.Contains(u.Path, "/../") {
			t.Errorf("Commit(%q, _, %q) = %q is not escaped", repository, position, got)
		}
	})
}
