package proxmox

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestFirewall puts options and aliases of a guest's firewall back.
func TestFirewall(t *testing.T) {
	t.Parallel()
	options := func(c *pvetest.Cluster) pvetest.Row { return c.Objects["/qemu/401/firewall/options"] }
	alias := func(c *pvetest.Cluster) pvetest.Row { return c.Row("/lxc/410/firewall/aliases", "name", "upstream") }
	for _, tc := range []struct {
		reason, kind, id, declared string
		of                         func(*pvetest.Cluster) pvetest.Row
		before, want               pvetest.Row
	}{
		{"an option", normalize.FirewallOptions, "qemu/401", `{"enable": false, "policy_in": "REJECT"}`, options, pvetest.Row{}, pvetest.Row{"enable": "0", "policy_in": "REJECT"}},
		{"an option that is not declared", normalize.FirewallOptions, "qemu/401", `{"dhcp": null}`, options, pvetest.Row{}, pvetest.Row{"dhcp": nil}},
		{"an alias keeps its comment", normalize.FirewallAlias, "lxc/410/upstream", `{"cidr": "203.0.113.54"}`, alias, pvetest.Row{"comment": "of the provider"}, pvetest.Row{"cidr": "203.0.113.54"}},
		{"a comment that is not declared", normalize.FirewallAlias, "lxc/410/upstream", `{"comment": null}`, alias, pvetest.Row{"comment": "by hand"}, pvetest.Row{"comment": nil}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Edit(func(c *pvetest.Cluster) { maps.Copy(tc.of(c), tc.before) })
			row := func() (r pvetest.Row) {
				b.Edit(func(c *pvetest.Cluster) { r = maps.Clone(tc.of(c)) })
				delete(r, "digest")
				return r
			}
			before := row()
			f := b.findingOn(model.Key{Source: "pve", Kind: tc.kind, ID: tc.id}, "", tc.declared)
			c, err := b.plan(f)
			if err != nil {
				t.Fatal(err)
			}
			stale, err := b.plan(f)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, b.a, f.Key, c.Plan(), reconcile.AsBefore)
			if _, err := c.Write(t.Context()); err != nil {
				t.Fatal(err)
			}
			expect(t, b.a, f.Key, c.Plan(), reconcile.AsWanted)
			compareRows(t, tc.kind, row(), before, tc.want)
			_, err = stale.Write(t.Context())
			if not := (*reconcile.NotWrittenError)(nil); !errors.As(err, &not) {
				t.Errorf("with the digest of before: %v", err)
			}
		})
	}
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
