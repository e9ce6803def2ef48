package phrase

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestUnseenComesFirst checks that the facts of an action begin with the one that driftd never saw the declared values
// live.
func TestUnseenComesFirst(t *testing.T) {
	t.Parallel()
	for unseen, want := range map[bool]string{true: Unseen, false: "Restarts 2 pods"} {
		if got := ActionFacts(&model.ActionNotice{Unseen: unseen, Restarts: "2 pods", Rule: "shop"})[0].String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestActionSubject checks what an action is called.
func TestActionSubject(t *testing.T) {
	t.Parallel()
	for want, n := range map[string]model.ActionNotice{
		"put qemu 301 back":                   {},
		"create qemu 301":                     {Creates: true},
		"write qemu 301 into its declaration": {Records: true},
		"delete qemu 301 (web)":               {Deletes: true, Name: "web"},
		"put qemu 301 back ":                  {Name: "301"},
	} {
		n.Resource = model.Key{Kind: "proxmox/qemu", ID: "301"}
		if got := ActionSubject(&n); got != strings.TrimSpace(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAlso checks that a message has the other resources which an action puts back.
func TestAlso(t *testing.T) {
	t.Parallel()
	n := model.ActionNotice{Rule: "shop", Others: 3, Also: []model.Key{{Kind: "proxmox/qemu", ID: "301"}, {Kind: "proxmox/qemu", ID: "302"}}}
	if got := ActionFacts(&n)[0].String(); got != "Also puts back 3 other findings: qemu 301, qemu 302 and 1 more" {
		t.Errorf("got %q", got)
	}
}

// TestRequests checks that a message has the first requests of an action.
func TestRequests(t *testing.T) {
	t.Parallel()
	n := model.ActionNotice{Rule: "shop", Requests: []string{"add, disabled: in DROP", "enable it"}}
	if got := ActionFacts(&n)[0].String(); got != "Requests: 1. add, disabled: in DROP 2. enable it" {
		t.Errorf("got %q", got)
	}
}
