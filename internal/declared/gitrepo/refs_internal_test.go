package gitrepo

import (
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// TestResolveAmbiguous proves that a pushed branch or tag does not replace the declared ref.
func TestResolveAmbiguous(t *testing.T) {
	t.Parallel()
	good, evil := plumbing.NewHash("1111111111111111111111111111111111111111"), plumbing.NewHash("2222222222222222222222222222222222222222")
	for name, tc := range map[string]struct {
		ref     string
		named   map[plumbing.ReferenceName]plumbing.Hash
		want    plumbing.Hash
		wantErr bool
	}{
		"branch alone":                   {"prod", map[plumbing.ReferenceName]plumbing.Hash{"refs/heads/prod": good, "refs/heads/x": evil}, good, false},
		"tag alone":                      {"prod", map[plumbing.ReferenceName]plumbing.Hash{"refs/tags/prod": good, "refs/heads/x": evil}, good, false},
		"branch and tag":                 {"prod", map[plumbing.ReferenceName]plumbing.Hash{"refs/tags/prod": good, "refs/heads/prod": evil}, good, true},
		"the same commit":                {"prod", map[plumbing.ReferenceName]plumbing.Hash{"refs/tags/prod": good, "refs/heads/prod": good}, good, false},
		"branch named like a commit":     {good.String(), map[plumbing.ReferenceName]plumbing.Hash{"refs/heads/" + plumbing.ReferenceName(good.String()): evil}, good, false},
		"full name":                      {"refs/tags/prod", map[plumbing.ReferenceName]plumbing.Hash{"refs/tags/prod": good, "refs/heads/prod": evil}, good, false},
		"branch named like a full name":  {"refs/tags/prod", map[plumbing.ReferenceName]plumbing.Hash{"refs/tags/prod": good, "refs/heads/refs/tags/prod": evil}, good, false},
		"branch named like a short name": {"heads/prod", map[plumbing.ReferenceName]plumbing.Hash{"refs/heads/prod": good, "refs/heads/heads/prod": evil}, evil, false},
	} {
		got, err := refs{named: tc.named}.resolve(tc.ref)
		if (err != nil) != tc.wantErr || err == nil && got.hash != tc.want {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}
