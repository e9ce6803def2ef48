package gitrepo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// TestOriginOf reads the remote and the branch of a work tree.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	const commit = "-c user.name=a -c user.email=a@example.org commit -q --allow-empty -m x"
	tests := map[string]struct {
		reason   string
		commands []string
		url      string
		branch   string
	}{
		"none":        {reason: "there is no remote", commands: []string{commit}},
		"https":       {reason: "credentials are left out", commands: []string{commit, "remote add origin https://u:s3cr3t@git.example.org/a.git?token=s3cr3t"}, url: "https://git.example.org/a.git"},
		"ssh":         {reason: "the user of ssh is none", commands: []string{"remote add origin git@git.example.org:ops/a.git"}, url: "git@git.example.org:ops/a.git"},
		"ssh URL":     {reason: "a password of ssh is left out", commands: []string{"remote add origin ssh://git:s3cr3t@git.example.org/a.git"}, url: "ssh://git@git.example.org/a.git"},
		"relative":    {reason: "driftd cannot read it", commands: []string{"remote add origin ../a.git"}},
		"other name":  {reason: "the only remote counts", commands: []string{"remote add upstream https://git.example.org/a.git"}, url: "https://git.example.org/a.git"},
		"two":         {reason: "it is unknown which", commands: []string{"remote add a https://git.example.org/a.git", "remote add b https://git.example.org/b.git"}},
		"pushed":      {reason: "the remote has the branch", commands: []string{commit, "remote add origin /srv/a.git", "update-ref refs/remotes/origin/main HEAD"}, url: "/srv/a.git", branch: "main"},
		"not pushed":  {reason: "the remote has another branch only", commands: []string{commit, "remote add origin /srv/a.git", "update-ref refs/remotes/origin/dev HEAD"}, url: "/srv/a.git"},
		"default":     {reason: "the remote's default branch counts first", commands: []string{commit, "remote add origin /srv/a.git", "update-ref refs/remotes/origin/main HEAD", "update-ref refs/remotes/origin/prod HEAD", "symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/prod"}, url: "/srv/a.git", branch: "prod"},
		"no protocol": {reason: "driftd does not read git://", commands: []string{"remote add origin git://git.example.org/a.git"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, command := range append([]string{"init -q -b main ."}, tt.commands...) {
				git := exec.CommandContext(t.Context(), "git", strings.Fields(command)...)
				git.Dir, git.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
				if out, err := git.CombinedOutput(); err != nil {
					t.Fatalf("git %s: %v: %s", command, err, out)
				}
			}
			below := filepath.Join(dir, "infra")
			if err := os.Mkdir(below, 0o700); err != nil {
				t.Fatal(err)
			}
			got, err := gitrepo.OriginOf(below)
			if err != nil || got != (gitrepo.Origin{Top: dir, URL: tt.url, Branch: tt.branch}) {
				t.Errorf("%s: OriginOf() = %+v, %v", tt.reason, got, err)
			}
		})
	}
	if got, err := gitrepo.OriginOf("/"); err != nil || got != (gitrepo.Origin{}) {
		t.Errorf("OriginOf(/) = %+v, %v", got, err)
	}
}

func TestOriginIs(t *testing.T) {
	t.Parallel()
	remote := gitrepo.Origin{Top: "/src/shop", URL: "git@git.example.org:acme/shop.git"}
	for url, want := range map[string]bool{
		"https://git.example.org/acme/shop":           true,
		"https://u:p@GIT.example.org/acme/shop.git/":  true,
		"ssh://git@git.example.org:2222/acme/shop":    true,
		"https://git.example.org/acme/shop?x=y":       true,
		"https://git.example.org/acme/shop2":          false,
		"https://git.example.org/shop":                false,
		"https://git.example.org.evil.test/acme/shop": false,
		"/src/shop":        true,
		"file:///src/shop": true,
		"/src/other":       false,
		"":                 false,
	} {
		if got := remote.Is(url); got != want {
			t.Errorf("%+v is %q: %v", remote, url, got)
		}
	}
	if (gitrepo.Origin{}).Is("") {
		t.Error("no repository is one")
	}
}
