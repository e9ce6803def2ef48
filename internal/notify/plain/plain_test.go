package plain_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify/plain"
	"github.com/driftd/driftd/internal/phrase"
)

func at(hour int) time.Time { return time.Date(2026, 11, 20, hour, 30, 0, 0, time.UTC) }

func value(s string) *model.Value {
	v := model.StringOf(s)
	return &v
}

func TestText(t *testing.T) {
	t.Parallel()
	secret := model.DigestOf("d1ge57")
	tests := map[string]struct {
		reason  string
		finding model.Finding
		words   plain.Text
		want    []string
	}{
		"all": {
			reason: "everything that there is to say",
			finding: model.Finding{ID: "abc", Verdict: model.Changed, Key: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/web"},
				Name: "web", Declaration: "shop", Address: "web.yaml:12", FirstSeen: at(1), Reason: "a reason",
				Actor:   model.Actor{Name: "jane", At: at(0), Via: "managedFields", Confidence: model.Likely},
				Changes: []model.Change{{Path: "a", Declared: value("1"), Recorded: value("1"), Live: value("2")}}},
			words: plain.Text{URL: "https://driftd.example.org/"},
			want: []string{"changed: Deployment shop/web", "In prod, declared by shop at web.yaml:12",
				"Changed by jane 2026-11-20T00:30:00Z via managedFields (likely)", "", "First seen 2026-11-20T01:30:00Z", "a reason",
				"https://driftd.example.org/findings/abc", "a: 1 → 2"},
		},
		"several": {
			reason: "a field that somebody else changed says so",
			finding: model.Finding{ID: "abc", Verdict: model.Changed, Key: model.Key{Source: "s", Kind: "k", ID: "i"}, Actor: model.Actor{Name: "dave", Confidence: model.Exact},
				Changes: []model.Change{{Path: "a", Live: value("2"), Actor: &model.Actor{Name: "carol", Confidence: model.Exact}}, {Path: "b", Live: value("2")},
					{Path: "c", Secret: true, Actor: &model.Actor{Name: "unknown", Confidence: model.Unknown}}}},
			want: []string{"changed: k i", "In s, not declared", "Changed by dave", "", "", "", "driftd findings show abc",
				"a: (absent) → 2, by carol", "b: (absent) → 2", "c: (secret) changed, actor unknown"},
		},
		"little": {
			reason:  "what is not known is left out",
			finding: model.Finding{ID: "abc", Verdict: model.Unmanaged, Key: model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "100"}, Name: "web"},
			want:    []string{"unmanaged: qemu 100 (web)", "In pve, not declared", "", "", "", "", "driftd findings show abc"},
		},
		"nobody": {
			reason: "an unknown actor, and a time that is over",
			finding: model.Finding{ID: "abc", Verdict: model.Missing, Key: model.Key{Source: "s", Kind: "k", ID: "i"}, Address: "x:1",
				Actor: model.UnknownActor("no log"), FirstSeen: at(1), Resolved: at(2)},
			want: []string{"missing: k i", "In s, declared at x:1", "Actor unknown (no log)", "",
				"First seen 2026-11-20T01:30:00Z, resolved 2026-11-20T02:30:00Z", "", "driftd findings show abc"},
		},
		"at the latest": {
			reason: "the time of an unknown actor says what it is the time of",
			finding: model.Finding{ID: "abc", Verdict: model.Changed, Key: model.Key{Source: "s", Kind: "k", ID: "i"}, Address: "x:1",
				Actor: model.Actor{Name: "unknown", At: at(1), Via: "its last change of any kind, so then or before", Confidence: model.Unknown, Reason: "no log"}},
			want: []string{"changed: k i", "In s, declared at x:1",
				"Last changed 2026-11-20T01:30:00Z; actor unknown (no log)", "", "", "", "driftd findings show abc"},
		},
		"no source": {
			reason:  "what is empty leaves no gap",
			finding: model.Finding{ID: "abc", Verdict: model.Disputed, Key: model.Key{Kind: "k", ID: "i"}, Declaration: "agreed"},
			want:    []string{"disputed: k i", "Declared by agreed", "", "", "", "", "driftd findings show abc"},
		},
		"a part": {
			reason: "what could not be read is no resource",
			finding: model.Finding{ID: "abc", Verdict: model.Unchecked, Key: model.Key{Source: "prod", Kind: phrase.PartKind, ID: "shop/web.yaml"},
				Name: "web.yaml", Declaration: "shop", Address: "web.yaml:12", Reason: "no YAML", Actor: model.UnknownActor("not checked")},
			want: []string{"part of shop could not be read: web.yaml:12", "", "", "", "", "no YAML", "driftd findings show abc"},
		},
		"a whole declaration": {
			reason: "its address is its name, which is written once",
			finding: model.Finding{ID: "abc", Verdict: model.Unchecked, Key: model.Key{Source: "prod", Kind: phrase.PartKind, ID: "shop"},
				Name: "shop", Declaration: "shop", Address: "shop", Reason: "no answer", Actor: model.UnknownActor("not checked")},
			want: []string{"declaration shop could not be read", "", "", "", "", "no answer", "driftd findings show abc"},
		},
		"unchecked": {
			reason: "nobody did anything that anybody saw; who is known is named all the same",
			finding: model.Finding{ID: "abc", Verdict: model.Unchecked, Key: model.Key{Source: "s", Kind: "k", ID: "i"},
				Actor: model.Actor{Name: "jane", Confidence: model.Exact}},
			want: []string{"unchecked: k i", "In s, not declared", "By jane", "", "", "", "driftd findings show abc"},
		},
		"snoozed": {
			reason: "who decided, and until when; an owner who decided is named once",
			finding: model.Finding{ID: "abc", Verdict: model.Changed, Key: model.Key{Source: "s", Kind: "k", ID: "i"},
				Decision: &model.Decision{Kind: model.Snooze, By: "bob", Owner: "bob", Until: at(3)}},
			want: []string{"changed: k i", "In s, not declared", "", "Snoozed by bob, until 2026-11-20T03:30:00Z", "", "", "driftd findings show abc"},
		},
		"hidden": {
			reason:  "a rule counts before a decision",
			finding: model.Finding{ID: "abc", Verdict: model.Changed, Key: model.Key{Source: "s", Kind: "k", ID: "i"}, Hidden: "backups", Decision: &model.Decision{}},
			want:    []string{"changed: k i", "In s, not declared", "", "Hidden by a rule: backups", "", "", "driftd findings show abc"},
		},
		"fields": {
			reason: "each side named, secrets never",
			finding: model.Finding{ID: "abc", Key: model.Key{Kind: "k", ID: "i"}, Changes: []model.Change{
				{Path: "worst", Severity: model.Critical, Declared: &secret, Live: &secret, Secret: true},
				{Path: "bad", Severity: model.High, Declared: value("a"), Recorded: value("b"), Live: value("c"), Running: value("d")},
				{Path: "claimed", Severity: model.High, Live: value("c"), Claims: []model.ClaimedValue{{Declaration: "one", Value: model.IntOf(1)}, {Declaration: "two", Value: secret}}},
				{Path: "usual", Recorded: value("old"), Live: value("")},
				{Path: "added", Live: value("new")},
				{Path: "gone", Declared: value("x")},
				{Path: "last", Severity: model.Low},
			}},
			want: []string{": k i", "Declared by one and two", "", "", "", "", "driftd findings show abc",
				"worst: (secret) changed", "bad: a → c (recorded b) (running d)",
				"claimed: one (secret), two (secret), live (secret)", `usual: old (recorded) → ""`, "added: (absent) → new",
				"gone: x → (absent)", "and 2 more fields"},
		},
		"lacking": {
			reason: "a declaration that lacks something does not declare it",
			finding: model.Finding{ID: "abc", Verdict: model.Unmanaged, Key: model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "100"}, Declaration: "intent",
				Reason: "live, and in infra (vm.web), but not in intent"},
			want: []string{"unmanaged: qemu 100", "In pve, not in intent", "", "", "", "live, and in infra (vm.web), but not in intent", "driftd findings show abc"},
		},
		"silent": {
			reason:  "nor is it declared by nobody, where a reason says who declares it",
			finding: model.Finding{ID: "abc", Verdict: model.Unmanaged, Key: model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "100"}, Reason: "not in a or b"},
			want:    []string{"unmanaged: qemu 100", "In pve, not declared", "", "", "", "not in a or b", "driftd findings show abc"},
		},
		"disputed": {
			reason: "the word of each, who changed it last, and why; a message ends where it ends",
			finding: model.Finding{ID: "abc", Verdict: model.Disputed, Key: model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "100"}, Declaration: "infra", Address: "vm.web",
				Actor: model.Actor{Name: "mara", At: at(0), Via: "NetBox changelog", Evidence: "object-change 5695", Confidence: model.Likely, Message: "grow \"now\"\n" + strings.Repeat("x", 10_000)},
				Changes: []model.Change{
					{Path: "memory[0].dedicated", Live: value("4096"), LiveActor: &model.Actor{Name: "root@pam"}, Claims: []model.ClaimedValue{{Declaration: "infra", Value: model.IntOf(4096), Actor: &model.Actor{Name: "alice"}}, {Declaration: "intent", Path: "memory", Value: model.IntOf(16384)}}},
					{Path: "password", Live: value("x"), Secret: true, Claims: []model.ClaimedValue{{Declaration: "infra", Value: model.StringOf("a")}, {Declaration: "intent", Value: model.StringOf("b")}}},
				}},
			want: []string{"disputed: qemu 100", "In pve, declared by infra and intent",
				`Last changed by mara 2026-11-20T00:30:00Z via NetBox changelog, object-change 5695 (likely): "grow \"now\"\n` + strings.Repeat("x", 145) + `…"`, "", "", "", "driftd findings show abc",
				"memory[0].dedicated: infra 4096 (by alice), intent 16384 (memory), live in pve \"4096\" (by root@pam)", "password: infra (secret), intent (secret), live in pve (secret)"},
		},
		"quoted": {
			reason: "each piece of foreign data is quoted, and driftd's own words are not",
			finding: model.Finding{ID: "i", Verdict: "v", Key: model.Key{Source: "s", Kind: "k", ID: "r"}, Name: "n", Declaration: "d",
				Address: "a", Reason: "w", Actor: model.Actor{Name: "j", Via: "x"},
				Decision: &model.Decision{Kind: model.Accept, By: "b", Owner: "o", Reason: "y"}, Changes: []model.Change{{Path: "p", Live: value("l")}}},
			words: plain.Text{Quote: func(s string) string { return "<" + s + ">" }},
			want: []string{"<v>: <k> <r> (<n>)", "In <s>, declared by <d> at <a>", "Changed by <j> via <x>", "Accepted by <b>, owner <o>, forever: <y>", "", "<w>",
				"driftd findings show <i>", "<p>: <(absent)> → <l>"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, w := &test.finding, test.words
			got := append([]string{w.Subject(f), w.Where(f), w.Actor(f), w.Muted(f), w.Seen(f), w.Reason(f), w.Next(f)},
				w.Fields(f, len(f.Changes)+len(f.Changes)/7, 6)...)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func FuzzUnmark(f *testing.F) {
	f.Add("a\r\n\u202e\xff", 3)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = 1 + max(limit, -limit)%1000
		if limit <= 0 {
			return
		}
		for _, r := range plain.Unmark(phrase.Line(s, limit)) {
			if unicode.IsControl(r) {
				t.Errorf("%q holds %U when it is quoted", s, r)
			}
		}
	})
}

func TestUnmark(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"@everyone":  "@\u2060everyone",
		"<!channel>": "<\u2060\\!channel\\>",
		"[a](b)":     `\[a\]\(b\)`,
		"*_`":        "\\*\\_\\`",
		"web-1.2/x":  "web-1.2/x",
	} {
		if got := plain.Unmark(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := plain.Unmention("a <@U1> <!here> @all *b*"); got != "a <\u2060@\u2060U1> <\u2060!here> @\u2060all *b*" {
		t.Errorf("%q still mentions", got)
	}
}
