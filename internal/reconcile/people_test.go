package reconcile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// refusedBy reports whether err is a refusal by a guard with a text.
func refusedBy(err error, guard, text string) bool {
	refusal := (*reconcile.Refusal)(nil)
	return errors.As(err, &refusal) && refusal.Guard == guard && strings.Contains(refusal.Why, text)
}

// TestApprovalsAreJudgedAgain verifies that an approval no longer counts when the action is armed if its person turns
// out to be the author, or left the configuration, since.
func TestApprovalsAreJudgedAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench, map[string][]string){
		"author of the finding": func(b *bench, _ map[string][]string) {
			b.store.findings[0].Actor = model.Actor{Name: "alice@example.org", Confidence: model.Exact}
		},
		"author of a field": func(b *bench, _ map[string][]string) {
			b.store.findings[0].Changes[0].LiveActor = &model.Actor{Name: "alice", Confidence: model.Exact}
		},
		"left":    func(_ *bench, table map[string][]string) { delete(table, "alice") },
		"expired": func(b *bench, _ map[string][]string) { b.now = b.now.Add(2 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			table := map[string][]string{"alice": {"oidc:alice@example.org"}, "bob": {"login:bob"}}
			b.people(table)
			b.store.findings[0].Actor = model.Actor{}
			a := b.propose(t, "bob")
			b.reads.refresh = func() { change(b, table) }
			after, err := b.approve(t, &a, "alice")
			if !refusedBy(err, "person", "") || after.State != reconcile.Refused || b.live.Writes > 0 {
				t.Errorf("got %s, %v after %d writes", after.State, err, b.live.Writes)
			}
		})
	}
}

// TestAuthorInProxmox verifies that the author of a drift in Proxmox VE does not approve that it is put back, also if the
// author used an API token.
func TestAuthorInProxmox(t *testing.T) {
	t.Parallel()
	for actor, refused := range map[string]bool{"alice@pam": true, "alice@pam!cli": true, "alice@pve": false, "carol@pam!alice@pam": false, "system!alice": false} {
		t.Run(actor, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.people(map[string][]string{"alice": {"login:alice", "proxmox:alice@pam"}, "bob": {"login:bob"}})
			b.store.findings[0].Actor = model.Actor{Name: actor, Confidence: model.Exact, Via: "cluster log"}
			a := b.propose(t, "bob")
			_, err := b.approve(t, &a, "alice")
			if refusedBy(err, "person", "alice made the drift") != refused || b.live.Writes > 0 == refused {
				t.Errorf("got %v after %d writes", err, b.live.Writes)
			}
		})
	}
}

// TestRenamedPerson verifies that a person who gets another name approves no action of their own, and none twice.
func TestRenamedPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(r *reconcile.Rule) { r.Approvals = 2 })
	table := map[string][]string{"alice": {"login:al"}, "bob": {"login:bob"}, "carol": {"login:carol"}}
	b.people(table)
	a := b.propose(t, "alice")
	if _, err := b.approve(t, &a, "bob"); err != nil {
		t.Fatal(err)
	}
	table["alice smith"], table["bob b"] = table["alice"], table["bob"]
	if _, err := b.approve(t, &a, "alice smith"); !refusedBy(err, "person", "alice smith asked for it") {
		t.Errorf("the requester: %v", err)
	}
	if _, err := b.approve(t, &a, "bob b"); !refusedBy(err, "person", "bob b has approved it already") {
		t.Errorf("the first approver: %v", err)
	}
	if after, err := b.approve(t, &a, "carol"); err != nil || after.State != reconcile.Converged {
		t.Errorf("another person: %s, %v", after.State, err)
	}
}

// TestReload verifies that an action is not carried out with a configuration that was replaced meanwhile, and that the new
// one goes on with it.
func TestReload(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*bench){
		"approved": func(b *bench) {
			a := b.propose(t, "bob")
			if _, err := b.approve(t, &a, "alice"); err == nil || !strings.Contains(err.Error(), "the configuration was reloaded") {
				t.Errorf("got %v", err)
			}
		},
		"automatic": func(b *bench) {
			b.Rules[0].Mode = reconcile.Auto
			if _, err := b.Propose(t.Context(), b.finding, reconcile.Request{Via: "rule"}); err == nil || !strings.Contains(err.Error(), "the configuration was reloaded") {
				t.Errorf("got %v", err)
			}
		},
	} {
		for rule, want := range map[string]reconcile.State{"same": reconcile.Converged, "off": reconcile.Refused} {
			t.Run(name+", "+rule, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				o := b.Options
				replaced := false
				o.Current = func() bool { return !replaced }
				b.Reconciler = reconcile.New(o)
				b.reads.refresh = func() { replaced = true }
				edit(b)
				if b.live.Writes > 0 {
					t.Fatal("it was written with the old configuration")
				}
				o.Rules = append([]reconcile.Rule{}, b.Rules...)
				o.Current = nil
				if rule == "off" {
					o.Rules[0].Mode = reconcile.Off
				}
				b.Reconciler = reconcile.New(o)
				err := b.Recover(t.Context())
				if got := b.store.actions[0].State; got != want || (err != nil) != (want == reconcile.Refused) {
					t.Errorf("with the new one it is %s, %v, want %s", got, err, want)
				}
			})
		}
	}
}

// TestStopApproved verifies that an approved action that is not armed yet can be cancelled.
func TestStopApproved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.propose(t, "bob")
	b.reads.refresh = func() {
		if _, err := b.Answer(t.Context(), a.ID, reconcile.CancelAnswer, reconcile.Request{By: "bob", Reason: "stop"}); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.approve(t, &a, "alice"); err == nil || b.store.actions[0].State != reconcile.Cancelled || b.live.Writes > 0 {
		t.Errorf("it is %s, %v after %d writes", b.store.actions[0].State, err, b.live.Writes)
	}
}
