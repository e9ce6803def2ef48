package gitrepo

import (
	"errors"
	"strings"
	"testing"

	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	broken := errors.New("403 Forbidden: git:hunter/2x (hunter%2F2x, Z2l0Omh1bnRlci8yeA==)")
	r := &Repository{basic: &githttp.BasicAuth{Username: "git", Password: "hunter/2x"}}
	err := r.explain(broken)
	if !errors.Is(err, broken) || strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), "Z2l0") || !strings.Contains(err.Error(), "403 Forbidden: git:…") {
		t.Errorf("a server that quotes the password: %q", err)
	}
	for reason, r := range map[string]*Repository{"no credentials": {}, "a short password": {basic: &githttp.BasicAuth{Password: "3"}}} {
		if err := r.explain(broken); !strings.Contains(err.Error(), broken.Error()) {
			t.Errorf("%s: %q", reason, err)
		}
	}
}
