package proxmox

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// onList returns a finding on a list, with all in which it differs from a declared value in JSON.
func (b *bench) onList(kind, id, declared string) reconcile.Subject {
	b.t.Helper()
	key := model.Key{Source: "pve", Kind: kind, ID: id}
	l, err := b.a.readList(b.t.Context(), key)
	if err != nil {
		b.t.Fatal(err)
	}
	raw, err := decode.JSON([]byte(declared))
	if err != nil {
		b.t.Fatal(err)
	}
	live, wanted := b.a.listValue(l, l.rows), b.a.normalizer.Object(kind, l.object.With(l.field, raw))
	f := &model.Finding{Verdict: model.Changed, Key: key, Declaration: "infra"}
	for _, c := range diff.Fields(b.a.kinds[kind].Schema, wanted, live) {
		c.Declared, _ = jsonpatch.Find(wanted, c.Path)
		c.Live, _ = jsonpatch.Find(live, c.Path)
		f.Changes = append(f.Changes, c)
	}
	return reconcile.Subject{Finding: f, Declared: wanted, Written: wanted, Live: live}
}

// list returns the rows of a list in one line each, in order.
func (b *bench) list(at string) (lines []string) {
	b.Edit(func(c *pvetest.Cluster) {
		for _, row := range c.Lists[at] {
			delete(row, "pos")
			lines = append(lines, fmt.Sprint(row))
		}
	})
	return lines
}

const (
	rules401  = "/qemu/401/firewall/rules"
	allow443  = `{"type": "in", "action": "ACCEPT", "proto": "tcp", "dport": "443", "enable": 1}`
	allowHTTP = `{"type": "in", "action": "ACCEPT", "macro": "HTTP", "enable": 1, "comment": "by hand"}`
	dropAll   = `{"type": "in", "action": "DROP", "enable": 0}`
	dropSSH   = `{"type": "in", "action": "DROP", "macro": "SSH", "enable": 1}`
)

// TestLists puts rules and entries of IP sets back.
func TestLists(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, kind, id, at, declared string
		want                           []string
		requests                       int
		person                         bool
	}{
		{"a rule by hand is removed", normalize.FirewallRules, "qemu/401", rules401, `[` + allow443 + `]`,
			[]string{"map[action:ACCEPT dport:443 enable:1 proto:tcp type:in]"}, 1, false},
		{"a rule that is missing comes back at its place", normalize.FirewallRules, "qemu/401", rules401, `[` + allow443 + `,` + dropSSH + `,` + dropAll + `]`,
			[]string{"map[action:ACCEPT dport:443 enable:1 proto:tcp type:in]", "map[action:DROP enable:1 macro:SSH type:in]", "map[action:DROP enable:0 type:in]"}, 3, false},
		{"a rule that is disabled needs no second request", normalize.FirewallRules, "qemu/401", rules401, `[{"type": "group", "action": "public", "enable": 0},` + allow443 + `,` + dropAll + `]`,
			[]string{"map[action:public enable:0 type:group]", "map[action:ACCEPT dport:443 enable:1 proto:tcp type:in]", "map[action:DROP enable:0 type:in]"}, 1, false},
		{"one rule that differs is replaced at once", normalize.FirewallRules, "qemu/401", rules401, `[` + allow443 + `,` + allowHTTP + `]`,
			[]string{"map[action:ACCEPT dport:443 enable:1 proto:tcp type:in]", "map[action:ACCEPT comment:by hand enable:1 macro:HTTP type:in]"}, 1, false},
		{"a key that is not declared", normalize.FirewallRules, "qemu/401", rules401, `[{"type": "in", "action": "ACCEPT", "enable": 1},` + dropAll + `]`,
			[]string{"map[action:ACCEPT enable:1 type:in]", "map[action:DROP enable:0 type:in]"}, 1, false},
		{"another order", normalize.FirewallRules, "qemu/401", rules401, `[` + dropAll + `,` + allow443 + `]`,
			[]string{"map[action:DROP enable:0 type:in]", "map[action:ACCEPT dport:443 enable:1 proto:tcp type:in]"}, 2, false},
		{"all rules", normalize.FirewallRules, "qemu/401", rules401, `[]`, nil, 2, false},
		{"the first rules", normalize.FirewallRules, "lxc/410", "/lxc/410/firewall/rules", `[` + allow443 + `,` + dropSSH + `]`,
			[]string{"map[action:ACCEPT dport:443 enable:1 proto:tcp type:in]", "map[action:DROP enable:1 macro:SSH type:in]"}, 5, false},
		{"a security group", normalize.FirewallGroup, "public", "/cluster/firewall/groups/public", `[{"type": "in", "action": "ACCEPT", "proto": "tcp", "dport": "80,443", "enable": 1}]`,
			[]string{"map[action:ACCEPT dport:80,443 enable:1 proto:tcp type:in]"}, 1, true},
		{"an IP set", normalize.FirewallIPSet, "qemu/401/callers", "/qemu/401/firewall/ipset/callers", `[{"cidr": "203.0.113.5"}, {"cidr": "198.51.100.0/24", "comment": "new"}]`,
			[]string{"map[cidr:203.0.113.5]", "map[cidr:198.51.100.0/24 comment:new]"}, 3, false},
		{"an IP set of the cluster", normalize.FirewallIPSet, "cluster/jump", "/cluster/firewall/ipset/jump", `[{"cidr": "198.51.100.7"}]`, []string{"map[cidr:198.51.100.7]"}, 1, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.onList(tc.kind, tc.id, tc.declared)
			c, err := b.a.Plan(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if p := c.Plan(); len(p.Requests) != tc.requests || (p.Person != "") != tc.person {
				t.Errorf("the plan is %+v", p)
			}
			expect(t, b.a, s.Finding.Key, c.Plan(), reconcile.AsBefore)
			if receipt, err := c.Write(t.Context()); err != nil || receipt.Unexpected != nil {
				t.Fatal(receipt, err)
			}
			expect(t, b.a, s.Finding.Key, c.Plan(), reconcile.AsWanted)
			if got := b.list(tc.at); !slices.Equal(got, tc.want) {
				t.Errorf("the list is %q, want %q", got, tc.want)
			}
		})
	}
}

// TestListsRefuse plans changes of lists that are not made.
func TestListsRefuse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, kind, id, declared string
		change                     func(*bench, *reconcile.Subject)
		guard, want                string
	}{
		{"a rule that is no rule", normalize.FirewallRules, "qemu/401", `[` + allow443 + `, {"type": "in", "action": "DROP", "enable": 0, "weight": {"a": {"b": 1}}}]`, nil, guardKind, "no notation"},
		{"a comment of the group", normalize.FirewallGroup, "public", `[]`, func(_ *bench, s *reconcile.Subject) {
			s.Finding.Changes = append(s.Finding.Changes, model.Change{Path: "comment"})
		}, guardKind, "the rows of the list"},
		{"another finding", normalize.FirewallIPSet, "qemu/401/callers", `[{"cidr": "203.0.113.5"}, {"cidr": "198.51.100.0/24"}]`, func(_ *bench, s *reconcile.Subject) { s.Finding.Changes = s.Finding.Changes[:1] },
			guardScope, "differs too"},
		{"another finding on the rules", normalize.FirewallRules, "qemu/401", `[]`, func(_ *bench, s *reconcile.Subject) {
			other := *s.Finding
			other.ID, other.Verdict = "0ther", model.Pending
			s.Others = []*model.Finding{&other}
		}, guardScope, "finding 0ther (pending) is about the same list"},
		{"a change since the scan", normalize.FirewallRules, "qemu/401", `[` + allow443 + `]`, func(b *bench, _ *reconcile.Subject) {
			b.Edit(func(c *pvetest.Cluster) { c.Lists[rules401] = nil })
		}, guardStillSo, "changed since the scan"},
		{"a node without quorum", normalize.FirewallRules, "qemu/401", `[]`, func(b *bench, _ *reconcile.Subject) { b.Edit(func(c *pvetest.Cluster) { c.NoQuorum = true }) }, guardQuorum, "quorum"},
		{"no privilege", normalize.FirewallGroup, "public", `[]`, func(b *bench, _ *reconcile.Subject) {
			b.Edit(func(c *pvetest.Cluster) { c.Accounts["driftd@pve!fix"]["/"] = nil })
		}, guardRights, "driftd@pve!fix lacks Sys.Modify on /"},
		{"a guest that is gone", normalize.FirewallRules, "qemu/401", `[]`, func(b *bench, _ *reconcile.Subject) {
			b.Edit(func(c *pvetest.Cluster) { c.Guests = nil })
		}, guardStillSo, "does not exist"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.onList(tc.kind, tc.id, tc.declared)
			if tc.change != nil {
				tc.change(b, &s)
			}
			_, err := b.a.Plan(t.Context(), s)
			if r := (*reconcile.Refusal)(nil); !errors.As(err, &r) || r.Guard != tc.guard || !strings.Contains(r.Why, tc.want) {
				t.Errorf("%v, want a refusal of %s with %q", err, tc.guard, tc.want)
			}
		})
	}
	b := newBench(t)
	for _, id := range []string{"cluster", "node/pve1", "vnet/lab"} {
		_, err := b.a.Plan(t.Context(), reconcile.Subject{Finding: &model.Finding{Verdict: model.Changed, Key: model.Key{Kind: normalize.FirewallRules, ID: id}}})
		if r := (*reconcile.Refusal)(nil); !errors.As(err, &r) || r.Guard != guardKind {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func isNotWritten(err error) bool {
	not := (*reconcile.NotWrittenError)(nil)
	return errors.As(err, &not)
}

// TestNoList checks that an answer that is no list is not taken for an empty one.
func TestNoList(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/nodes/pve1/qemu/401/firewall/rules", "/cluster/resources"} {
		b := newBench(t)
		s := b.onList(normalize.FirewallRules, "qemu/401", `[]`)
		b.Break(path, faults.Status(http.StatusOK, `{"data": null}`))
		if _, err := b.a.Plan(t.Context(), s); err == nil || !strings.Contains(err.Error(), "not a list") {
			t.Errorf("%s: Plan() = %v", path, err)
		}
	}
	b := newBench(t)
	f := b.findingOn(model.Key{Source: "pve", Kind: normalize.BackupJob, ID: "night"}, "", `{"schedule": "02:00"}`)
	b.Break("/cluster/backup", faults.Status(http.StatusOK, `{"data": null}`))
	if _, err := b.plan(f); err == nil || !strings.Contains(err.Error(), "not a list") {
		t.Errorf("a backup job: Plan() = %v", err)
	}
}

// TestListsInterrupted changes the list between the requests, and lets requests fail.
func TestListsInterrupted(t *testing.T) {
	t.Parallel()
	const declared = `[` + allow443 + `,` + dropSSH + `,` + dropAll + `]` // an addition, a move, and that it is enabled
	opened := pvetest.Row{"type": "in", "action": "ACCEPT", "enable": 1}
	t.Run("before the first request", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		s := b.onList(normalize.FirewallRules, "qemu/401", `[`+allow443+`]`)
		c, err := b.a.Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		b.Edit(func(c *pvetest.Cluster) { c.Lists[rules401] = append([]pvetest.Row{opened}, c.Lists[rules401]...) })
		if _, err = c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "look again") {
			t.Errorf("Write() = %v", err)
		}
		if got := b.list(rules401); len(got) != 3 {
			t.Errorf("the list is %q", got)
		}
	})
	t.Run("no quorum any more", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		c, err := b.a.Plan(t.Context(), b.onList(normalize.FirewallRules, "qemu/401", declared))
		if err != nil {
			t.Fatal(err)
		}
		b.Edit(func(c *pvetest.Cluster) { c.NoQuorum = true })
		_, err = c.Write(t.Context())
		if r := (*reconcile.Refusal)(nil); !errors.As(err, &r) || r.Guard != guardQuorum {
			t.Errorf("Write() = %v", err)
		}
	})
	t.Run("a right was taken away", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		c, err := b.a.Plan(t.Context(), b.onList(normalize.FirewallRules, "qemu/401", declared))
		if err != nil {
			t.Fatal(err)
		}
		b.Edit(func(c *pvetest.Cluster) { c.Accounts["driftd@pve!fix"] = nil })
		if _, err = c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "VM.Config.Network") {
			t.Errorf("Write() = %v", err)
		}
	})
	for n, want := range []string{"request 1 of 3", "request 2 of 3", "after request 3 of 3"} {
		t.Run("another's rule after "+want, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c, err := b.a.Plan(t.Context(), b.onList(normalize.FirewallRules, "qemu/401", declared))
			if err != nil {
				t.Fatal(err)
			}
			done := 0
			b.Edit(func(c *pvetest.Cluster) {
				c.AfterFirewall = func(c *pvetest.Cluster, _ string) {
					if done++; done == n+1 {
						c.Lists[rules401] = append([]pvetest.Row{opened}, c.Lists[rules401]...)
					}
				}
			})
			receipt, err := c.Write(t.Context())
			if err != nil || len(receipt.Unexpected) != 1 || !strings.Contains(receipt.Unexpected[0], want) {
				t.Errorf("%v, %v", receipt, err)
			}
			if done != n+1 {
				t.Errorf("%d requests were sent, want %d", done, n+1)
			}
		})
	}
	t.Run("a request that fails", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		s := b.onList(normalize.FirewallRules, "qemu/401", declared)
		c, err := b.a.Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		b.Break("/nodes/pve1/qemu/401/firewall/rules/0", faults.Status(http.StatusInternalServerError, `{"message": "unable to write"}`))
		receipt, err := c.Write(t.Context())
		if err != nil || len(receipt.Unexpected) != 1 || !strings.Contains(receipt.Unexpected[0], "request 2 of 3") {
			t.Errorf("%v, %v", receipt, err)
		}
		expect(t, b.a, s.Finding.Key, c.Plan(), reconcile.AsOther)
		if got := b.list(rules401); len(got) != 3 || !strings.Contains(got[0], "enable:0") {
			t.Errorf("the list is %q", got)
		}
	})
}
