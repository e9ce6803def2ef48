package proxmox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// missing returns a finding on a grant that is missing, with what is declared for it.
func missing(t *testing.T, kind, id, declared string) reconcile.Subject {
	t.Helper()
	v, err := decode.JSON([]byte(declared))
	if err != nil {
		t.Fatal(err)
	}
	return reconcile.Subject{Finding: &model.Finding{Verdict: model.Missing, Key: model.Key{Source: "pve", Kind: kind, ID: id}, Declaration: "infra"}, Declared: v, Written: v}
}

// acl returns the entries of the access control list for a holder.
func (b *bench) acl(holder string) (list []string) {
	b.Edit(func(c *pvetest.Cluster) {
		for _, row := range c.Lists["/access/acl"] {
			if row["ugid"] == holder {
				list = append(list, fmt.Sprint(row["path"], " ", row["type"], " ", row["roleid"], " ", row["propagate"]))
			}
		}
	})
	return list
}

// TestGrants adds permissions and members of pools.
func TestGrants(t *testing.T) {
	t.Parallel()
	guestIn := func(id int) func(*bench) string {
		return func(b *bench) string { return b.guest(id).Pool }
	}
	holder := func(name string) func(*bench) string {
		return func(b *bench) string { return strings.Join(b.acl(name), ", ") }
	}
	for _, tc := range []struct {
		reason, kind, id, declared string
		of                         func(*bench) string
		want                       string
	}{
		{"a user", normalize.ACL, "/vms/403?new@pve?PVEVMUser", `{"propagate": true}`, holder("new@pve"), "/vms/403 user PVEVMUser 1"},
		{"a user, without what is below", normalize.ACL, "/vms/403?new@pve?PVEVMUser", `{"propagate": false}`, holder("new@pve"), "/vms/403 user PVEVMUser 0"},
		{"a group", normalize.ACL, "/?ops?Keeper", `{"propagate": true}`, holder("ops"), "/ group Keeper 1"},
		{"a token", normalize.ACL, "/vms?new@pve!ci?Keeper", `{"propagate": true}`, holder("new@pve!ci"), "/vms token Keeper 1"},
		{"a guest", normalize.PoolMember, "shop/vm/403", `{}`, guestIn(403), "shop"},
		{"a guest of a nested pool", normalize.PoolMember, "shop/test/vm/403", `{}`, guestIn(403), "shop/test"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := missing(t, tc.kind, tc.id, tc.declared)
			c, err := b.a.Plan(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if p := c.Plan(); !p.Creates || p.Person == "" {
				t.Errorf("the plan is %+v", p)
			}
			expect(t, b.a, s.Finding.Key, c.Plan(), reconcile.AsBefore)
			stale, err := b.a.Plan(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if receipt, err := c.Write(t.Context()); err != nil || receipt.Status != http.StatusOK {
				t.Fatal(receipt, err)
			}
			expect(t, b.a, s.Finding.Key, c.Plan(), reconcile.AsWanted)
			if got := tc.of(b); got != tc.want {
				t.Errorf("there is %q, want %q", got, tc.want)
			}
			_, err = stale.Write(t.Context())
			if r := (*reconcile.Refusal)(nil); !errors.As(err, &r) || r.Guard != guardStillSo {
				t.Errorf("a plan of before: %v", err)
			}
		})
	}
}

// TestGrantsByHand deletes permissions and members of pools that no declaration declares.
func TestGrantsByHand(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind, id string
		// there reports whether the grant is there.
		there func(*bench) bool
	}{
		{normalize.ACL, "/vms/401?dana@pve?PVEVMUser", func(b *bench) bool { return len(b.acl("dana@pve")) > 0 }},
		{normalize.PoolMember, "shop/vm/401", func(b *bench) bool { return b.guest(401).Pool == "shop" }},
	} {
		b := newBench(t)
		b.Edit(func(c *pvetest.Cluster) {
			for i := range c.Guests {
				if c.Guests[i].ID == 401 {
					c.Guests[i].Pool = "shop"
				}
			}
		})
		s := missing(t, tc.kind, tc.id, `{}`)
		s.Finding.Verdict, s.Finding.Declaration, s.Declared, s.Written = model.Unmanaged, "", model.Value{}, model.Value{}
		var again error
		s.Again = func(context.Context, []reconcile.Covered) error { return again }
		c, err := b.a.Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if p := c.Plan(); !p.Deletes || p.Creates || p.Person == "" || !b.a.Deletes(tc.kind) {
			t.Errorf("%s: the plan is %+v", tc.kind, p)
		}
		expect(t, b.a, s.Finding.Key, c.Plan(), reconcile.AsBefore)
		again = &reconcile.Refusal{Guard: guardStillSo, Why: "it is declared"}
		if _, err := c.Write(t.Context()); !errors.Is(err, again) || !tc.there(b) {
			t.Errorf("%s: one that is declared meanwhile: %v", tc.kind, err)
		}
		again = nil
		if _, err := c.Write(t.Context()); err != nil || tc.there(b) {
			t.Errorf("%s: %v, and it is there: %t", tc.kind, err, tc.there(b))
		}
		expect(t, b.a, s.Finding.Key, c.Plan(), reconcile.AsWanted)
	}
}

// TestPropagation changes whether a permission holds for what is below.
func TestPropagation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := missing(t, normalize.ACL, "/vms/401?dana@pve?PVEVMUser", `{"propagate": true}`)
	s.Finding.Verdict, s.Finding.Changes = model.Changed, []model.Change{{Path: "propagate"}}
	c, err := b.a.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, b.a, s.Finding.Key, c.Plan(), reconcile.AsBefore)
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, b.a, s.Finding.Key, c.Plan(), reconcile.AsWanted)
	if got := fmt.Sprint(b.acl("dana@pve")); got != "[/vms/401 user PVEVMUser 1]" {
		t.Errorf("there is %s", got)
	}
}

// TestGrantsRefuse plans grants that are not added.
func TestGrantsRefuse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, kind, id, declared string
		change                     func(*bench, *reconcile.Subject)
		guard, want                string
	}{
		{"the token that writes", normalize.ACL, "/?driftd@pve!fix?Administrator", `{"propagate": true}`, nil, guardKind, "the account that driftd writes with"},
		{"the user of the token that writes", normalize.ACL, "/?driftd@pve?Administrator", `{"propagate": true}`, nil, guardKind, "the account that driftd writes with"},
		{"the token that reads", normalize.ACL, "/?driftd@pve!ro?PVEAuditor", `{}`, func(_ *bench, s *reconcile.Subject) { s.Finding.Verdict = model.Unmanaged }, guardKind, "the account that driftd reads with"},
		{"a declaration without the field", normalize.ACL, "/?new@pve?Keeper", `{}`, nil, guardKind, "whether the permission propagates"},
		{"a key of another form", normalize.ACL, "/", `{"propagate": true}`, nil, guardKind, "does not know"},
		{"a key of another form, of a pool", normalize.PoolMember, "shop/node/1", `{}`, nil, guardKind, "does not know"},
		{"a permission that is there", normalize.ACL, "/vms/401?dana@pve?PVEVMUser", `{"propagate": false}`, nil, guardStillSo, "it is there now"},
		{"a change of the role", normalize.ACL, "/vms/401?dana@pve?PVEVMUser", `{"propagate": false}`, func(_ *bench, s *reconcile.Subject) {
			s.Finding.Verdict, s.Finding.Changes = model.Changed, []model.Change{{Path: "roleid"}}
		}, guardKind, "nothing else of it"},
		{"a node without quorum", normalize.PoolMember, "shop/vm/403", `{}`, func(b *bench, _ *reconcile.Subject) { b.Edit(func(c *pvetest.Cluster) { c.NoQuorum = true }) }, guardQuorum, "quorum"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := missing(t, tc.kind, tc.id, tc.declared)
			if tc.change != nil {
				tc.change(b, &s)
			}
			_, err := b.a.Plan(t.Context(), s)
			if r := (*reconcile.Refusal)(nil); !errors.As(err, &r) || r.Guard != tc.guard || !strings.Contains(r.Why, tc.want) {
				t.Errorf("%v, want a refusal of %s with %q", err, tc.guard, tc.want)
			}
		})
	}
	t.Run("an answer about all pools", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.Break("/pools", faults.Status(http.StatusOK, `{"data": [{"poolid": "a"}, {"poolid": "shop"}]}`))
		if _, err := b.a.Plan(t.Context(), missing(t, normalize.PoolMember, "shop/vm/403", `{}`)); err == nil || !strings.Contains(err.Error(), "another pool") {
			t.Errorf("Plan() = %v", err)
		}
	})
	t.Run("a guest of another pool", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		c, err := b.a.Plan(t.Context(), missing(t, normalize.PoolMember, "shop/vm/403", `{}`))
		if err != nil {
			t.Fatal(err)
		}
		b.Edit(func(c *pvetest.Cluster) { c.Guest(403).Pool = "shop/test" })
		if _, err := c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "belongs already to pool") {
			t.Errorf("Write() = %v", err)
		}
	})
	t.Run("a right that lacks", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		c, err := b.a.Plan(t.Context(), missing(t, normalize.ACL, "/?new@pve?Keeper", `{"propagate": true}`))
		if err != nil {
			t.Fatal(err)
		}
		b.Edit(func(c *pvetest.Cluster) { c.Accounts["driftd@pve!fix"] = nil })
		if _, err := c.Write(t.Context()); !isNotWritten(err) || !strings.Contains(err.Error(), "Permissions.Modify") {
			t.Errorf("Write() = %v", err)
		}
	})
}
