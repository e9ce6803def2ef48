package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lay writes files below dir. A text that begins with "-> " is a link.
func lay(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, isLink := strings.CutPrefix(text, "-> "); isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// rootOf returns a root in the folder infra of a repository that was copied to dir/copy.
func rootOf(dir string) Root {
	return Root{Dir: filepath.Join(dir, "copy", "infra"), Top: filepath.Join(dir, "copy"), Shown: "infra", Data: filepath.Join(dir, "data")}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		policy Policy
		want   string
	}{
		"Nothing":   {"everything is allowed", Policy{}, ""},
		"All":       {"each sort of pattern", Policy{Providers: []string{"aws", "hashicorp/*", "registry.example.org/acme/*", "*/acme/cloud"}, Modules: []string{"acme/*", "acme/net/aws", "registry.example.org/*", "git::https://git.example.org/*", "github.com/acme/*", "git@github.com:acme/*", "s3::https://s3.example.org/modules/*", "https://example.org/x.zip"}, Refuse: []string{"external", "data.*", "provider.aws.endpoints", "*.external"}}, ""},
		"Provider":  {"an address has three parts at most", Policy{Providers: []string{"a/b/c/d"}}, `allow.providers: "a/b/c/d" is not an address of a provider`},
		"Empty":     {"an empty part", Policy{Providers: []string{"a//b"}}, `allow.providers: "a//b" is not an address`},
		"URL":       {"a URL is not an address", Policy{Providers: []string{"https://x"}}, "allow.providers:"},
		"Local":     {"local modules are always allowed", Policy{Modules: []string{"./..."}}, `allow.modules: "./...": modules in the repository need no pattern`},
		"Module":    {"not a source", Policy{Modules: []string{"example.org/x.zip"}}, "allow.modules: \"example.org/x.zip\": the form of the source is not supported"},
		"Dots":      {"a pattern that leads up", Policy{Modules: []string{"git::https://git.example.org/a/../*"}}, "is not supported"},
		"Danger":    {"an unknown danger", Policy{Refuse: []string{"externals"}}, `refuse: "externals": want external, exec, http, files,`},
		"BlockKind": {"an unknown kind of block", Policy{Refuse: []string{"datas.external"}}, `refuse: "datas.external": want`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.policy.Check()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestProviders(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, pattern, address string
		want                     bool
	}{
		"Short":      {"without a host: Terraform's registry", "hashicorp/aws", "registry.terraform.io/hashicorp/aws", true},
		"OpenTofu":   {"without a host: OpenTofu's registry", "hashicorp/aws", "registry.opentofu.org/hashicorp/aws", true},
		"Implied":    {"a local name alone", "aws", "hashicorp/aws", true},
		"Any":        {"a pattern", "hashicorp/*", "registry.terraform.io/hashicorp/aws", true},
		"Namespace":  {"another namespace", "hashicorp/*", "registry.terraform.io/evil/aws", false},
		"Prefix":     {"a namespace with the same prefix", "hashicorp/*", "registry.terraform.io/hashicorpx/aws", false},
		"Host":       {"the same name at another host", "hashicorp/*", "registry.evil.org/hashicorp/aws", false},
		"WithHost":   {"a host", "registry.example.org/acme/*", "registry.example.org/acme/cloud", true},
		"Without":    {"a pattern with a host does not match the default registry", "registry.example.org/acme/*", "acme/cloud", false},
		"Default":    {"before init the default registry may be either", "registry.terraform.io/hashicorp/*", "hashicorp/aws", true},
		"NotDefault": {"installed from the other one", "registry.terraform.io/hashicorp/*", "registry.opentofu.org/hashicorp/aws", false},
		"Case":       {"addresses are case-insensitive", "HashiCorp/AWS", "registry.terraform.io/hashicorp/aws", true},
		"Slash":      {"a star does not match a slash", "*/aws", "registry.evil.org/hashicorp/aws", false},
		"Builtin":    {"a built-in provider", "acme/none", "terraform.io/builtin/terraform", true},
		"Parts":      {"parts of names", "acme/cloud-*", "acme/cloud-eu", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := parseAddress(tc.address)
			if err != nil {
				t.Fatal(err)
			}
			if got := (Policy{Providers: []string{tc.pattern}}).allowsProvider(a); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
			if !(Policy{}).allowsProvider(a) || a.host != "terraform.io" && (Policy{Providers: []string{}}).allowsProvider(a) {
				t.Error("want all allowed without a list, and none with an empty one")
			}
		})
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, pattern, source string
		want                    bool
	}{
		"Registry":        {"the default registry", "acme/*", "acme/net/aws", true},
		"RegistryHost":    {"the same with its host", "acme/*", "registry.terraform.io/acme/net/aws", true},
		"OtherRegistry":   {"another registry", "acme/*", "registry.evil.org/acme/net/aws", false},
		"Folder":          {"a folder in the package", "acme/net/aws", "acme/net/aws//modules/sub", true},
		"OneFolder":       {"a pattern of one folder", "git::https://git.example.org/infra//net/*", "git::https://git.example.org/infra.git//net/sub?ref=v1", true},
		"AnotherFolder":   {"another folder", "git::https://git.example.org/infra//net/*", "git::https://git.example.org/infra.git//other", false},
		"NoFolder":        {"the whole package", "git::https://git.example.org/infra//net/*", "git::https://git.example.org/infra.git", false},
		"AllOfRegistry":   {"a whole registry", "registry.example.org/*", "registry.example.org/acme/net/aws", true},
		"Git":             {"git", "git::https://git.example.org/*", "git::https://git.example.org/a/b.git?ref=v1", true},
		"GitHost":         {"another host", "git::https://git.example.org/*", "git::https://evil.org/git.example.org/a", false},
		"GitUser":         {"a user that looks like the host", "git::https://git.example.org/*", "git::https://git.example.org@evil.org/a", false},
		"GitSuffix":       {"a host with the same prefix", "git::https://git.example.org/*", "git::https://git.example.org.evil.org/a", false},
		"GitPassword":     {"a password does not matter", "git::https://git.example.org/*", "git::https://user:secret@git.example.org/a", true},
		"GitUp":           {"a path that leads up", "git::https://git.example.org/acme/*", "git::https://git.example.org/acme/../evil/a", false},
		"GitEscapedUp":    {"an escaped path that leads up", "git::https://git.example.org/acme/*", "git::https://git.example.org/acme/%2e%2e/evil/a", false},
		"Fragment":        {"a fragment that looks like the host", "git::https://*.example.org/*", "git::https://evil.org#.example.org/a", false},
		"Query":           {"a query that looks like the host", "git::https://*.example.org/*", "git::https://evil.org?x.example.org/a", false},
		"Slash":           {"a path that looks like the host", "git::https://*.example.org/*", "git::https://evil.org/x.example.org/a", false},
		"SomeHost":        {"a star in the host", "git::https://*.example.org/*", "git::https://git.example.org/a", true},
		"Getter":          {"the same address by another getter", "git::https://git.example.org/*", "https://git.example.org/a.zip", false},
		"GitHub":          {"GitHub's short form", "github.com/acme/*", "github.com/acme/infra//modules/net?ref=v1", true},
		"GitHubFull":      {"the same in full", "github.com/acme/*", "git::https://github.com/acme/infra.git", true},
		"GitHubFolder":    {"a folder without two slashes", "github.com/acme/infra", "github.com/acme/infra/modules/net", true},
		"GitHubOther":     {"another owner", "github.com/acme/*", "github.com/evil/infra", false},
		"SSH":             {"the short form of ssh", "git::ssh://github.com/acme/*", "git@github.com:acme/infra.git", true},
		"SSHForced":       {"the same with the getter", "git@github.com:acme/*", "git::ssh://git@github.com/acme/infra.git?ref=v1", true},
		"Archive":         {"an archive", "https://example.org/*", "https://example.org/a.zip?checksum=md5:1", true},
		"S3":              {"a bucket", "s3::https://s3.example.org/modules/*", "s3::https://s3.example.org/modules/net.zip", true},
		"Mercurial":       {"another getter", "hg::https://hg.example.org/*", "hg::https://hg.example.org/a", true},
		"File":            {"a folder of the machine", "acme/*", "/etc/driftd", false},
		"FileURL":         {"the same as a URL", "acme/*", "file:///etc/driftd", false},
		"FileAllowed":     {"a folder that is listed", "/srv/modules/*", "/srv/modules/net", true},
		"GitOfFile":       {"a clone of driftd itself", "git::https://git.example.org/*", "git::file:///var/lib/driftd/clone", false},
		"Bucket":          {"a short form that is not read", "s3::https://s3.amazonaws.com/*", "bucket.s3.amazonaws.com/net.zip", false},
		"Space":           {"a space", "git::https://git.example.org/*", "git::https://git.example.org/a b", false},
		"Nested":          {"two getters", "git::https://git.example.org/*", "git::git::https://git.example.org/a", false},
		"Backslash":       {"a backslash", "git::https://git.example.org/*", `git::https://git.example.org\@evil.org/a`, false},
		"Empty":           {"no source", "*", "", false},
		"Pattern in name": {"a star in a source is literal", "git::https://git.example.org/one", "git::https://git.example.org/*", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Policy{Modules: []string{tc.pattern}}
			s, err := parseSource(tc.source)
			if got := err == nil && p.allowsModule(s); got != tc.want {
				t.Errorf("%s: got %t (%v, %v)", tc.reason, got, s, err)
			}
			if strings.Contains(s.String(), "secret") {
				t.Errorf("%s shows a password", s)
			}
		})
	}
}

func TestPinned(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	cases := map[string]struct {
		reason, source, version string
		want                    bool
	}{
		"Commit":     {"a commit", "git::https://git.example.org/a?ref=" + commit, "", true},
		"Tag":        {"a tag may be moved", "git::https://git.example.org/a?ref=v1.0.0", "", false},
		"Short":      {"a short hash may be a branch", "git::https://git.example.org/a?ref=0123456", "", false},
		"Head":       {"the default branch", "github.com/acme/a", "", false},
		"Exact":      {"an exact version", "acme/net/aws", "1.2.3", true},
		"Equals":     {"an exact version", "acme/net/aws", "= 1.2.3-beta.1", true},
		"Range":      {"a range", "acme/net/aws", "~> 1.2", false},
		"No version": {"the newest", "acme/net/aws", "", false},
		"Archive":    {"an archive", "https://example.org/a.zip", "", false},
		"Checksum":   {"an archive with its checksum", "https://example.org/a.zip?checksum=sha256:1", "", true},
		"File":       {"a checksum that is fetched as well", "https://example.org/a.zip?checksum=file:https://example.org/sums", "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := parseSource(tc.source)
			if got := s.pinned(tc.version); err != nil || got != tc.want {
				t.Errorf("%s: got %t, %v", tc.reason, got, err)
			}
		})
	}
}

func TestNotesAreSorted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		"copy/infra/b.tf": "data \"http\" \"x\" {}\nresource \"null_resource\" \"x\" {\n  provisioner \"local-exec\" {}\n}\n",
		"copy/infra/a.tf": "data \"external\" \"x\" {}\nmodule \"net\" { source = \"acme/net/aws\" }\nmodule \"more\" { source = \"../more\" }\n",
		// Blocks that ordinary roots have are not noted.
		"copy/infra/c.tf": `
data "terraform_remote_state" "net" {}
data "local_file" "x" {}
provider "aws" { shared_config_files = ["~/.aws/config"] }
terraform {
  backend "s3" {}
}
locals {
  a = file("${path.module}/a.txt")
  b = [for f in fileset(path.module, "*.yaml") : file("${path.module}/${f}")]
  c = templatefile("../more/x.tpl", {})
  d = file("~/.ssh/id_rsa.pub")
}
`,
		"copy/more/main.tf":             "resource \"null_resource\" \"x\" {\n  provisioner \"remote-exec\" {}\n}\n",
		"copy/more/x.tpl":               "${a}",
		"data/modules/net/main.tf":      "provider \"kubernetes\" {\n  exec {\n  }\n}\n",
		"data/modules/modules.json":     `{"Modules":[{"Key":"","Dir":"."},{"Key":"net","Dir":"` + filepath.Join(dir, "data/modules/net") + `"},{"Key":"more","Dir":"../more"}]}`,
		"data/providers/x/y/z/1/os/bin": "",
		"copy/infra/broken.tf":          "data {",
	})
	got, err := Policy{}.After(rootOf(dir))
	want := []Note{
		{"infra/a.tf:1", `data "external" "x" runs a program of the repository's choice in every plan`},
		{"infra/b.tf:1", `data "http" "x" sends a request to an address of the repository's choice in every plan`},
		{"infra/b.tf:3", `provisioner "local-exec" does not run in a plan; an apply runs a program on the machine that applies`},
		{"infra/c.tf:12", `file("~/.ssh/id_rsa.pub") may read files of the machine in every plan`},
		{"module net: main.tf:2", `provider "kubernetes": exec may run a program of the repository's choice for credentials in every plan`},
		{"more/main.tf:2", `provisioner "remote-exec" does not run in a plan; an apply runs it on the created machine`},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}
