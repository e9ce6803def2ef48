package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseProvider(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		want Provider
		text string
	}{
		`provider["registry.terraform.io/bpg/proxmox"]`:             {Provider{Namespace: "bpg", Type: "proxmox"}, "bpg/proxmox"},
		`provider["registry.opentofu.org/bpg/proxmox"].west`:        {Provider{Namespace: "bpg", Type: "proxmox", Alias: "west"}, "bpg/proxmox"},
		`provider["registry.opentofu.org/bpg/proxmox"].by["a.b"]`:   {Provider{Namespace: "bpg", Type: "proxmox", Alias: "by"}, "bpg/proxmox"},
		`provider["tf.example.org/bpg/proxmox"]`:                    {Provider{Host: "tf.example.org", Namespace: "bpg", Type: "proxmox"}, "tf.example.org/bpg/proxmox"},
		`module.a.module.b.provider["registry.terraform.io/x/y"].z`: {Provider{Namespace: "x", Type: "y", Alias: "z"}, "x/y"},
		`provider["terraform.io/builtin/terraform"]`:                {Provider{Host: "terraform.io", Namespace: "builtin", Type: "terraform"}, "terraform.io/builtin/terraform"},
		`provider["registry.terraform.io/-/aws"]`:                   {Provider{Type: "aws"}, "aws"},
		`provider.aws`:               {Provider{Type: "aws"}, "aws"},
		`module.a.provider.aws.west`: {Provider{Type: "aws", Alias: "west"}, "aws"},
		`module.provider.provider["registry.terraform.io/hashicorp/null"]`: {Provider{Namespace: "hashicorp", Type: "null"}, "hashicorp/null"},
	}
	for address, tc := range cases {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			got, err := parseProvider(address)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.String() != tc.text {
				t.Errorf("got %s, want %s", got, tc.text)
			}
		})
	}
}

func TestParseProviderErrors(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "aws", "provider", "provider.", `provider["`, `provider["a"`, `provider["a/b/c/d"]`, `provider["a//b"]`, "module.a"} {
		if got, err := parseProvider(address); err == nil {
			t.Errorf("%q: got %+v, want an error", address, got)
		}
	}
}
