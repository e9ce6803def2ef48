package proxmox

import (
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestFirewallsRefused plans changes of firewalls that driftd does not write to, or that do not exist.
func TestFirewallsRefused(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"cluster", "node/pve1", "lxc/999", "lxc/410/none"} {
		b := newBench(t)
		kind := normalize.FirewallOptions
		if strings.Count(id, "/") == 2 {
			kind = normalize.FirewallAlias
		}
		_, err := b.plan(&model.Finding{Verdict: model.Changed, Key: model.Key{Source: "pve", Kind: kind, ID: id}, Changes: []model.Change{{Path: "enable"}}})
		if r := (*reconcile.Refusal)(nil); !errors.As(err, &r) {
			t.Errorf("%s: %v", id, err)
		}
	}
}
