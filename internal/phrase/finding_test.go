package phrase

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/driftd/driftd/internal/model"
)

func TestKindAndName(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		f      model.Finding
		kind   string
		want   string
	}{
		"kubernetes": {"a group is no part of the kind, a namespace is part of the ID", model.Finding{Key: model.Key{Kind: "kubernetes/Deployment.apps", ID: "shop/web"}, Name: "web"}, "Deployment", "shop/web"},
		"netbox":     {"an application is no part of the kind", model.Finding{Key: model.Key{Kind: "netbox/virtualization.virtualmachine", ID: "6"}, Name: "web"}, "virtualmachine", "6 (web)"},
		"proxmox":    {"the name follows a number", model.Finding{Key: model.Key{Kind: "proxmox/qemu", ID: "104"}, Name: "db-01"}, "qemu", "104 (db-01)"},
		"rule":       {"an ID that begins with the name", model.Finding{Key: model.Key{Kind: "openstack/security_group_rule", ID: "web (tcp 22)"}, Name: "web"}, "security_group_rule", "web (tcp 22)"},
		"same":       {"a name that is the ID", model.Finding{Key: model.Key{Kind: "k", ID: "web"}, Name: "web"}, "k", "web"},
		"none":       {"no name", model.Finding{Key: model.Key{Kind: "k", ID: "web"}}, "k", "web"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Kind(tc.f.Kind); got != tc.kind {
				t.Errorf("%s: kind %q, want %q", tc.reason, got, tc.kind)
			}
			if got := Resource(tc.f.Key.ID, tc.f.Name); got != tc.want {
				t.Errorf("%s: resource %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestSubjectAndWhere(t *testing.T) {
	t.Parallel()
	key := model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "104"}
	part := model.Key{Source: "prod", Kind: PartKind, ID: "shop/web.yaml"}
	claims := func(names ...string) (changes []model.Change) {
		for _, name := range names {
			changes = append(changes, model.Change{Claims: []model.ClaimedValue{{Declaration: name}, {Declaration: names[0]}}})
		}
		return changes
	}
	for name, tc := range map[string]struct {
		reason         string
		f              model.Finding
		subject, where string
	}{
		"declared":    {"declaration and address", model.Finding{Key: key, Name: "db-01", Verdict: model.Changed, Declaration: "infra", Address: "vm.db"}, "changed: qemu 104 (db-01)", "in pve, declared by infra at vm.db"},
		"position":    {"the file and the line, too", model.Finding{Key: key, Verdict: model.Changed, Declaration: "infra", Address: "vm.db", Position: "a\nb.tf:3"}, "changed: qemu 104", `in pve, declared by infra at vm.db in a\nb.tf:3`},
		"unproven":    {"a verdict that is not proven", model.Finding{Key: key, Verdict: model.Pending, Unproven: true, Declaration: "infra"}, "pending or bypassed: qemu 104", "in pve, declared by infra"},
		"address":     {"an address alone", model.Finding{Key: key, Verdict: model.Missing, Address: "x:1"}, "missing: qemu 104", "in pve, declared at x:1"},
		"unmanaged":   {"no declaration", model.Finding{Key: key, Verdict: model.Unmanaged}, "unmanaged: qemu 104", "in pve, not declared"},
		"lacking":     {"a declaration that should have it", model.Finding{Key: key, Verdict: model.Unmanaged, Declaration: "intent"}, "unmanaged: qemu 104", "in pve, not in intent"},
		"disputed":    {"each declaration once", model.Finding{Key: key, Verdict: model.Disputed, Declaration: "infra", Changes: claims("infra", "intent")}, "disputed: qemu 104", "in pve, declared by infra and intent"},
		"many":        {"a bounded number of names", model.Finding{Key: key, Verdict: model.Disputed, Changes: claims("a", "b", "c", "d", "e", "f", "g", "h")}, "disputed: qemu 104", "in pve, declared by a, b, c, d, e and 2 more and h"},
		"no source":   {"no gap", model.Finding{Key: model.Key{Kind: "k", ID: "i"}, Verdict: model.Changed, Declaration: "d"}, "changed: k i", "declared by d"},
		"part":        {"no resource", model.Finding{Key: part, Declaration: "shop", Address: "web.yaml:12"}, "part of shop could not be read: web.yaml:12", ""},
		"declaration": {"the address is the name", model.Finding{Key: part, Declaration: "shop", Address: "shop"}, "declaration shop could not be read", ""},
		"hostile":     {"one visible line", model.Finding{Key: model.Key{Source: "a\nb", Kind: "k", ID: "\u202e"}, Verdict: model.Changed, Declaration: "\x1b"}, `changed: k \u202e`, `in a\nb, declared by \x1b`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Subject(&tc.f).String(); got != tc.subject {
				t.Errorf("%s: subject %q, want %q", tc.reason, got, tc.subject)
			}
			if got := Where(&tc.f).String(); got != tc.where {
				t.Errorf("%s: where %q, want %q", tc.reason, got, tc.where)
			}
		})
	}
}

func TestSeenAndMuted(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 11, 20, hour, 0, 0, 0, time.UTC) }
	c := Clock{Now: at(8), Relative: true}
	for name, tc := range map[string]struct {
		reason      string
		f           model.Finding
		seen, muted string
	}{
		"new":          {"nothing is known", model.Finding{}, "", ""},
		"open":         {"the first time", model.Finding{FirstSeen: at(6)}, "first seen 2 hours ago", ""},
		"resolved":     {"the end", model.Finding{FirstSeen: at(6), Resolved: at(7)}, "first seen 2 hours ago, resolved 1 hour ago", ""},
		"merged":       {"the other finding", model.Finding{Resolved: at(7), MergedInto: "f00d"}, "merged into f00d 1 hour ago", ""},
		"hidden":       {"a rule counts before a decision", model.Finding{Hidden: "backups", Decision: &model.Decision{}}, "", "hidden by a rule: backups"},
		"snoozed":      {"an end is a time", model.Finding{Decision: &model.Decision{Kind: model.Snooze, By: "bob", Owner: "bob", Until: at(9)}}, "", "snoozed by bob, until 2026-11-20T09:00:00Z"},
		"accepted":     {"another owner", model.Finding{Decision: &model.Decision{Kind: model.Accept, By: "bob", Owner: "team", Reason: "the sale"}}, "", "accepted by bob, owner team, forever: the sale"},
		"acknowledged": {"a baseline", model.Finding{Decision: &model.Decision{Kind: model.Acknowledge, By: "bob", Covers: 1200}}, "", "acknowledged by bob, in a baseline of 1,200 findings, forever"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.Seen(&tc.f).String(); got != tc.seen {
				t.Errorf("%s: seen %q, want %q", tc.reason, got, tc.seen)
			}
			if got := c.Muted(&tc.f).String(); got != tc.muted {
				t.Errorf("%s: muted %q, want %q", tc.reason, got, tc.muted)
			}
		})
	}
}

func TestSameRequest(t *testing.T) {
	t.Parallel()
	var others []*model.Finding
	for i := range 4999 {
		kind := "kubernetes/Pod"
		if i > 1 {
			kind = "kubernetes/Service"
		}
		others = append(others, &model.Finding{Key: model.Key{Kind: kind, ID: fmt.Sprintf("app-%d", i)}})
	}
	others[1].Name = strings.Repeat("x", 100)
	for n, want := range map[int]string{
		1:    "1 more by the same request: Pod app-0",
		4:    "4 more by the same request: Pod app-0, " + strings.Repeat("x", 39) + "…, Service app-2, app-3",
		4999: "4,999 more by the same request: Pod app-0, " + strings.Repeat("x", 39) + "…, Service app-2, app-3, …",
	} {
		if got := SameRequest(others[:n]).String(); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestMeaning(t *testing.T) {
	t.Parallel()
	seen := map[string]model.Verdict{}
	for _, v := range append(model.Verdicts(), model.InSync, model.Pending+" or "+model.Bypassed) {
		got := Meaning(string(v))
		if other, ok := seen[got]; ok || strings.HasPrefix(got, "Verdict") || !unicode.IsUpper(rune(got[0])) || strings.HasSuffix(got, ".") {
			t.Errorf("%s, and %s: %q", v, other, got)
		}
		seen[got] = v
	}
	if got, want := Meaning("x\n"), `Verdict "x\n"`; got != want {
		t.Errorf("another verdict: %q, want %q", got, want)
	}
}

func TestVerb(t *testing.T) {
	t.Parallel()
	exact, likely := model.Actor{Name: "a", Confidence: model.Exact}, model.Actor{Name: "a", Confidence: model.Likely}
	for name, tc := range map[string]struct {
		reason string
		f      model.Finding
		want   string
	}{
		"changed":    {"the verdict is the deed", model.Finding{Verdict: model.Changed, Actor: exact}, "changed"},
		"moved":      {"so is this one", model.Finding{Verdict: model.Moved, Actor: exact}, "moved"},
		"unmanaged":  {"somebody created it", model.Finding{Verdict: model.Unmanaged, Actor: likely}, "created"},
		"missing":    {"the log has the removal", model.Finding{Verdict: model.Missing, Actor: exact}, "removed"},
		"never made": {"a likely actor may want it to be there", model.Finding{Verdict: model.Missing, Actor: likely}, ""},
		"pending":    {"the author of the declaration", model.Finding{Verdict: model.Pending, Actor: likely}, "declared"},
		"unproven":   {"the actor is who applied", model.Finding{Verdict: model.Pending, Unproven: true, Actor: likely}, "applied"},
		"bypassed":   {"the actor is who applied", model.Finding{Verdict: model.Bypassed, Actor: likely}, "applied"},
		"disputed":   {"others changed it before", model.Finding{Verdict: model.Disputed, Actor: likely}, "last changed"},
		"unchecked":  {"nothing was done", model.Finding{Verdict: model.Unchecked, Actor: likely}, ""},
		"codified":   {"the live side was changed", model.Finding{Verdict: model.Codified, Actor: likely}, "changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Verb(&tc.f); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestNews(t *testing.T) {
	t.Parallel()
	for news, want := range map[model.News]string{
		model.Standing: "", model.Appeared: "new", model.Again: "recurred", model.Altered: "changed again", model.Reclassified: "now missing",
		model.Steady: "stable again", model.Returned: "reopened", model.WasHidden: "hidden", model.WasAccepted: "accepted", model.Over: "resolved",
	} {
		if got := News(&model.Item{News: news, Finding: model.Finding{Verdict: model.Missing}}); got != want {
			t.Errorf("%s: got %q, want %q", news, got, want)
		}
	}
}
