//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMembers runs a daemon with one declaration for all roots of a repository.
func TestMembers(t *testing.T) {
	t.Parallel()
	for _, cli := range terraformCLIs(t) {
		i := acting{&installation{t: t, dir: t.TempDir(), namespace: "none", address: freeAddress(t)}}
		root := func(name, text string) {
			if err := os.MkdirAll(i.path("deploy/roots/"+name), 0o700); err != nil {
				t.Fatal(err)
			}
			i.write("deploy/roots/"+name+"/main.tf", text)
		}
		root("dns", `resource "terraform_data" "zone" {}`)
		root("web", `resource "terraform_data" "site" {}`)
		i.git("init", "-q", "-b", "main", ".")
		i.commit()
		i.write("driftd.yaml", fmt.Sprintf(`
state_dir: state
server: {listen: "%s"}
defaults: {declarations: {terraform: {every: 3s, settings: {binary: "%s", cli_config_file: "%s"}}}}
declarations: [{name: infra, type: terraform, settings: {git: "%s", path: "roots/*"}}]
`, i.address, cli.Path, cli.Config, i.path("deploy")))
		d := i.serve()
		declarations := func(want ...string) {
			t.Helper()
			i.eventually(2*time.Minute, "the declarations", func() error {
				stdout, _, _ := d.driftd("status")
				var got []string
				for line := range strings.SplitSeq(stdout, "\n") {
					if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[0], "infra") {
						got = append(got, fields[0]+" "+strings.Join(fields[4:], " "))
					}
				}
				if !slices.Equal(got, want) {
					return fmt.Errorf("got %q, want %q", got, want)
				}
				return nil
			})
		}
		declarations("infra/dns ok", "infra/web ok")
		root("mail", `resource "terraform_data" "host" {}`)
		i.commit()
		declarations("infra/dns ok", "infra/mail ok", "infra/web ok")
		i.git("rm", "-q", "-r", "roots/dns")
		i.commit()
		declarations("infra/mail ok", "infra/web ok")

		// A repository that does not answer takes no declaration away, also after a start.
		if err := os.Rename(i.path("deploy"), i.path("away")); err != nil {
			t.Fatal(err)
		}
		d.stop()
		d = i.serve()
		unread := "read git repository " + i.path("deploy") + ": repository does not exist; check the setting git, and that the credentials have read access"
		declarations("infra list the folders of roots/*: "+unread, "infra/mail "+unread, "infra/web "+unread)
		d.stop()
	}
}
