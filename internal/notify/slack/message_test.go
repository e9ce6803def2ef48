package slack_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
	driftdslack "github.com/driftd/driftd/internal/notify/slack"
	"github.com/driftd/driftd/internal/phrase"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func at(hour int) time.Time { return time.Date(2026, 11, 20, hour, 30, 0, 0, time.UTC) }

func text(s string) *model.Value {
	v := model.StringOf(s)
	return &v
}

func number(n int64) *model.Value {
	v := model.IntOf(n)
	return &v
}

// changed returns a finding with fields of all kinds.
func changed(id string) model.Finding {
	secret := model.DigestOf("d1ge57")
	return model.Finding{
		ID: id, Verdict: model.Changed, Severity: model.High, Key: model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "pve/" + id},
		Place: "node3", Name: "web-" + id, Declaration: "infra", Address: "module.web.proxmox_vm_qemu.web", FirstSeen: at(8),
		Actor: model.Actor{Name: "root@pam", At: at(7), Via: "task log", Confidence: model.Likely},
		Changes: []model.Change{
			{Path: "cores", Declared: number(4), Recorded: number(4), Live: number(8), Running: number(4)},
			{Path: "cipassword", Declared: &secret, Live: &secret, Secret: true},
			{Path: "description", Recorded: text(""), Live: text("4 → 8")},
			{Path: "net1"}, {Path: "tags"},
		},
	}
}

// message returns the first message of a thread with items.
func message(kind model.MessageKind, items ...model.Item) model.Message {
	m := model.Message{Key: "abc123.1", Receiver: "ops", Thread: "abc123", Sequence: 1, Kind: kind, At: at(9), First: true, Severity: model.High,
		Title: "pve: qemu pve/101 changed by root@pam", Subject: "pve: qemu pve/101 changed by root@pam", URL: "https://driftd.example.org/"}
	for i := range items {
		it := &items[i]
		it.Fields = len(it.Finding.Changes)
		switch notice := (model.Notified{News: it.News}); {
		case it.News == model.Over:
			m.ResolvedCount++
		case it.News == model.WasMerged:
			m.MergedCount++
		case notice.Muted():
			m.MutedCount++
		default:
			m.OpenCount++
		}
	}
	m.All = items
	return m
}

func item(news model.News, f model.Finding) model.Item { return model.Item{News: news, Finding: f} }

func with[T any](v T, change func(*T)) T {
	change(&v)
	return v
}

func withDecision(f model.Finding, d model.Decision) model.Finding {
	f.Decision = &d
	return f
}

func messages() map[string]struct {
	m       model.Message
	later   bool
	buttons bool
} {
	accepted := withDecision(changed("102"), model.Decision{Kind: model.Accept, By: "Alice Doe (U1)", Owner: "net-team", Until: at(20), Reason: "until the move", Via: "command line"})
	forever := withDecision(changed("105"), model.Decision{Kind: model.Accept, By: "Alice", Owner: "Alice", Reason: "it is a lab"})
	snoozed := withDecision(changed("103"), model.Decision{Kind: model.Snooze, By: "Bob", Until: at(20)})
	acknowledged := withDecision(changed("104"), model.Decision{Kind: model.Acknowledge, By: "Bob", Until: at(22)})
	resolvedFinding := with(changed("101"), func(f *model.Finding) { f.Resolved = at(10) })
	unchecked := with(changed("106"), func(f *model.Finding) {
		f.Verdict, f.Changes, f.Reason, f.Actor = model.Unchecked, nil, "node3 does not answer", model.Actor{}
	})
	unknownActor := with(changed("107"), func(f *model.Finding) {
		f.Verdict, f.Changes, f.Severity, f.Actor = model.Missing, nil, model.Critical, model.UnknownActor("Proxmox keeps no log of this")
		f.Actor.At, f.Actor.Via = at(7), "its last change of any kind, so then or before"
	})
	disputed := with(changed("108"), func(f *model.Finding) {
		f.Verdict, f.Severity, f.Actor = model.Disputed, model.Low, model.Actor{Name: "ci", Confidence: model.Exact}
		long := strings.Repeat("same ", 30)
		f.Changes = []model.Change{
			{Path: "memory", Live: number(4096), Claims: []model.ClaimedValue{{Declaration: "infra", Value: *number(2048)}, {Declaration: "git", Value: *number(8192)}}},
			{Path: "userdata", Declared: text(long + "old"), Live: text(long + "new")},
			{Path: "gone", Declared: text("x")},
		}
	})
	linked := with(changed("116"), func(f *model.Finding) {
		f.Position = "web/main.tf:12"
		f.Links = []model.Link{{To: model.LinkLive, URL: "https://pve.example.org:8006/#v1:0:=qemu%2F116"}, {To: model.LinkDeclared, URL: "https://git.example.org/infra/web/main.tf#L12"}}
	})
	unsafe := with(linked, func(f *model.Finding) {
		f.ID = "117"
		f.Links = []model.Link{{To: model.LinkLive, URL: "javascript:alert(1)"}, {To: model.LinkDeclared, URL: "https://git.example.org/a|b>c"}}
	})
	disputedActors := with(changed("113"), func(f *model.Finding) {
		f.Verdict, f.Reason = model.Disputed, "memory[0].dedicated: intent differs, infra and pve agree"
		f.Actor = model.Actor{Name: "mara", At: at(7), Via: "NetBox changelog", Evidence: "object-change 5695", Message: "grow for the sale, @here <!channel>", Confidence: model.Exact}
		f.Changes = []model.Change{{Path: "memory[0].dedicated", LivePath: "memory", Live: number(4096), LiveActor: &model.Actor{Name: "root@pam"}, Claims: []model.ClaimedValue{
			{Declaration: "infra", URL: "https://git.example.org/infra/main.tf#L3", Value: *number(4096), Actor: &model.Actor{Name: "alice <!here>"}},
			{Declaration: "intent :boom: <!here>", URL: "https://netbox.example.org/6", Path: "memory", Value: *number(16384)}}}}
		f.Links = []model.Link{{To: model.LinkDeclared, URL: "https://git.example.org/infra/main.tf#L3"}}
	})
	undeclared := with(changed("114"), func(f *model.Finding) {
		f.Verdict, f.Declaration, f.Address, f.Changes, f.Actor = model.Unmanaged, "intent", "", nil, model.Actor{}
		f.Reason = "live, and in infra (module.web.proxmox_vm_qemu.web), but not in intent"
	})
	severalFields := with(changed("115"), func(f *model.Finding) {
		unknownActor := model.UnknownActor("the log is too short")
		f.Changes = []model.Change{{Path: "cores", Declared: number(4), Live: number(8), Actor: &model.Actor{Name: "carol <@U1>", Confidence: model.Exact}},
			{Path: "memory", Declared: number(4), Live: number(8), Running: number(4), Actor: &unknownActor}, {Path: "vlan", Declared: number(22), Live: number(23),
				Names: map[string]string{"22": "201 storage", "23": "<!channel> *dmz*"}}}
	})
	once := message(model.NewMessage, item(model.Standing, changed("101")))
	once.OpenCount, once.Title = 5000, "pve: 5,000 resources changed by priya in one request"
	once.Notes = []string{"4,999 more by the same request as qemu web-101: web-102, web-103, @here, <!channel>, …"}
	since := once
	since.OpenCount, since.ResolvedCount = 4999, 1
	since.First, since.Subject = false, "pve: 4,999 resources changed by priya in one request"
	flapping := with(changed("109"), func(f *model.Finding) { f.Flapping, f.Changes = true, nil })
	many := message(model.NewMessage)
	for i := range model.MaxItems {
		many.All = append(many.All, model.Item{News: model.Standing, Finding: changed(fmt.Sprint(200 + i)), Fields: 5})
	}
	many.OpenCount, many.Title = 5000, "pve: 5,000 findings changed by root@pam"
	mixed := message(model.NewMessage, item(model.Standing, unknownActor), item(model.WasAcknowledged, acknowledged), item(model.WasSnoozed, snoozed),
		item(model.WasAccepted, accepted), item(model.WasAccepted, forever),
		item(model.WasHidden, with(changed("110"), func(f *model.Finding) { f.Hidden = "backups change tags" })), item(model.Over, resolvedFinding))
	mixed.Title = "pve: 7 findings changed"
	news := message(model.ChangedMessage, item(model.Standing, unknownActor))
	news.First, news.News = false, []model.Item{item(model.Appeared, unknownActor), item(model.Again, disputed), item(model.Altered, changed("101")),
		item(model.StartsToFlap, flapping), item(model.Steady, changed("111")), item(model.Returned, changed("112")),
		item(model.WasAcknowledged, acknowledged), item(model.WasHidden, with(changed("110"), func(f *model.Finding) { f.Hidden = "backups change tags" })), item(model.Over, resolvedFinding)}
	news.NewsCount = 12
	returned := item(model.Returned, changed("112"))
	returned.Why = "it was accepted by <carol>, which has ended"
	back := message(model.NewMessage, item(model.Standing, changed("112")))
	back.First, back.News, back.NewsCount = false, []model.Item{returned, item(model.WasAcknowledged, acknowledged)}, 2
	back.News[0].Fields = 5
	part := with(unchecked, func(f *model.Finding) {
		f.Key, f.Place, f.Name, f.Declaration, f.Address = model.Key{Kind: "declaration/part", ID: "infra/main.tf"}, "", "main.tf", "infra", "main.tf:3"
		f.Reason, f.Actor = "line 3: no expression", model.UnknownActor("not checked")
	})
	whole := with(part, func(f *model.Finding) { f.Key.ID, f.Name, f.Address, f.Reason = "infra", "infra", "infra", "no answer" })
	agreed := with(disputed, func(f *model.Finding) { f.Source, f.Place, f.Declaration, f.Address = "", "", "agreed", "" })
	reminder := message(model.ReminderMessage, item(model.Standing, changed("101")), item(model.Standing, unknownActor), item(model.WasAcknowledged, acknowledged))
	reminder.First = false
	resolved := message(model.ResolvedMessage, item(model.Over, resolvedFinding))
	resolved.First, resolved.News, resolved.NewsCount, resolved.Title = false, resolved.All, 1, "pve: qemu pve/101 resolved"
	digest := message(model.DigestMessage, item(model.Standing, changed("101")))
	digest.Notes = []string{"3 resolved since yesterday.", "The ignore rule <!here> hides nothing: remove it."}
	quiet := message(model.DigestMessage)
	quiet.Title, quiet.Severity, quiet.Notes = "nothing is open", model.Info, digest.Notes[:1]
	tried := message(model.TestMessage)
	tried.Title, tried.Severity = "driftd can send messages here", model.Info
	return map[string]struct {
		m       model.Message
		later   bool
		buttons bool
	}{
		"new":                {message(model.NewMessage, item(model.Standing, changed("101"))), false, true},
		"new-no-link":        {with(message(model.NewMessage, item(model.Standing, disputed)), func(m *model.Message) { m.URL = "" }), false, false},
		"disputed":           {message(model.NewMessage, item(model.Standing, disputedActors), item(model.Standing, undeclared)), false, false},
		"linked":             {message(model.NewMessage, item(model.Standing, linked), item(model.Standing, unsafe)), false, false},
		"several-fields":     {message(model.NewMessage, item(model.Standing, severalFields)), false, false},
		"one-request":        {once, false, true},
		"one-request-edited": {since, false, true},
		"unknown":            {message(model.NewMessage, item(model.Standing, unknownActor)), false, false},
		"flapping":           {message(model.NewMessage, item(model.Standing, flapping)), false, false},
		"unchecked":          {message(model.UncheckedMessage, item(model.Standing, unchecked)), false, true},
		"unchecked-part":     {message(model.UncheckedMessage, item(model.Standing, part), item(model.Standing, whole), item(model.Standing, agreed)), false, true},
		"many":               {many, false, true},
		"mixed":              {mixed, false, true},
		"acknowledged":       {message(model.NewMessage, item(model.WasAcknowledged, acknowledged)), false, true},
		"resolved":           {message(model.NewMessage, item(model.Over, resolvedFinding)), false, true},
		"digest":             {digest, false, true},
		"digest-empty":       {quiet, false, true},
		"test":               {tried, false, true},
		"later-returned":     {back, true, false},
		"later-news":         {news, true, false}, "later-reminder": {reminder, true, false}, "later-resolved": {resolved, true, false},
	}
}

// TestMessages compares each kind of message with its golden file.
func TestMessages(t *testing.T) {
	t.Parallel()
	for name, test := range messages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words, blocks := driftdslack.Render(test.m, test.later, test.buttons)
			raw, err := json.Marshal(blocks)
			if err != nil {
				t.Fatal(err)
			}
			checkBlocks(t, words, raw)
			golden(t, name+".golden", "--- notification\n"+words+"\n--- message\n"+render(t, string(raw))+"\n")
		})
	}
}

// TestBlocksJSON compares the JSON of a message with its golden file.
func TestBlocksJSON(t *testing.T) {
	t.Parallel()
	_, blocks := driftdslack.Render(messages()["new"].m, false, true)
	raw, err := json.MarshalIndent(blocks, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "new.json", string(raw)+"\n")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestManyFindings(t *testing.T) {
	t.Parallel()
	words, blocks := driftdslack.Render(messages()["many"].m, false, true)
	raw, err := json.Marshal(blocks)
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Count(render(t, string(raw)), "driftd findings show") + strings.Count(render(t, string(raw)), "driftd suggest")
	if shown < 3 || shown > 10 {
		t.Errorf("%d findings are shown, want 3 to 10", shown)
	}
	if want := fmt.Sprintf("… and %s more", phrase.Number(5000-shown)); !strings.Contains(render(t, string(raw)), want) {
		t.Errorf("no %q in:\n%s", want, render(t, string(raw)))
	}
	if !strings.Contains(words, "5,000 findings") {
		t.Errorf("got notification %q", words)
	}
}

// TestConfirmation checks that a button asks for confirmation if it decides on more findings than
// the message shows.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	const acknowledges, snoozes = "This acknowledges all %d findings of this message.", "This snoozes all %d findings of this message."
	tests := map[string]struct {
		reason                       string
		open, acknowledged, resolved int
		acknowledge, snooze          string
	}{
		"one":          {"the message shows the finding", 1, 0, 0, "(Acknowledge)", "(Snooze v)"},
		"all":          {"the message shows all findings", 10, 0, 0, "(Acknowledge)", "(Snooze v)"},
		"more":         {"the message does not show all findings", 11, 0, 0, "(Acknowledge: " + fmt.Sprintf(acknowledges, 11) + ")", "(Snooze v: " + fmt.Sprintf(snoozes, 11) + ")"},
		"resolved":     {"a button does not decide on resolved findings", 4, 0, 16, "(Acknowledge)", "(Snooze v)"},
		"acknowledged": {"an acknowledged finding can be snoozed", 10, 2, 0, "(Acknowledge)", "(Snooze v: " + fmt.Sprintf(snoozes, 12) + ")"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var items []model.Item
			for i := range test.open + test.acknowledged + test.resolved {
				news := model.Over
				switch {
				case i < test.open:
					news = model.Standing
				case i < test.open+test.acknowledged:
					news = model.WasAcknowledged
				}
				items = append(items, item(news, with(changed("101"), func(f *model.Finding) { f.Changes = nil })))
			}
			_, blocks := driftdslack.Render(message(model.NewMessage, items...), false, true)
			raw, err := json.Marshal(blocks)
			if err != nil {
				t.Fatal(err)
			}
			checkBlocks(t, "x", raw)
			if got := render(t, string(raw)); !strings.Contains(got, test.acknowledge+" "+test.snooze+" (Accept…)") {
				t.Errorf("%s: got message\n%s", test.reason, got)
			}
		})
	}
}

func hostileTexts() []string {
	return []string{"<!channel>", "<@U123|x>", "<#C1>", "@here @channel", "*bold* _it_ ~s~ `c` ```x```", ":boom: :a:b:c:", "\u202egnp.exe\u202c",
		"a\u200bb\u2060\ufeff", "<script>alert(1)</script>", strings.Repeat("x", 10000), strings.Repeat("😀", 10000), strings.Repeat("<!here>", 2000),
		"", " ", "\n\n\r\n• fake", "\x00\x1b[31m", "\xff\xfe", "שלום עולם", "→ (absent) (secret)", "driftd findings show x", "https://evil.example", "&lt;!channel&gt;", "\u2028line", "👩‍👩‍👧"}
}

// TestHostileNames checks for any names that messages respect Slack's limits, and contain no
// mentions and no markup.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.SampledFrom(hostileTexts()), rapid.String())
		value := func() *model.Value { return text(name.Draw(t, "value")) }
		finding := func() model.Finding {
			f := model.Finding{
				ID: "abc123", Verdict: rapid.SampledFrom(model.Verdicts()).Draw(t, "verdict"), Severity: rapid.SampledFrom(model.Severities()).Draw(t, "severity"),
				Key: model.Key{Source: name.Draw(t, "source"), Kind: name.Draw(t, "kind"), ID: name.Draw(t, "id")}, Place: name.Draw(t, "place"), Name: name.Draw(t, "name"),
				Declaration: name.Draw(t, "declaration"), Address: name.Draw(t, "address"), Reason: name.Draw(t, "reason"), FirstSeen: at(1), Hidden: name.Draw(t, "hidden"),
				Actor: model.Actor{Name: name.Draw(t, "actor"), Via: name.Draw(t, "via"), Reason: name.Draw(t, "why"), At: at(2),
					Evidence: name.Draw(t, "evidence"), Message: name.Draw(t, "message"),
					Confidence: rapid.SampledFrom([]model.Confidence{model.Exact, model.Likely, model.Unknown}).Draw(t, "confidence")},
			}
			for range rapid.IntRange(0, 5).Draw(t, "changes") {
				c := model.Change{Path: name.Draw(t, "path"), Declared: value(), Live: value(), Running: value()}
				for range rapid.IntRange(0, 5).Draw(t, "claims") {
					c.Claims = append(c.Claims, model.ClaimedValue{Declaration: name.Draw(t, "claimant"), URL: "https://git.example.org/" + name.Draw(t, "page"), Path: name.Draw(t, "word"), Value: *value()})
				}
				f.Changes = append(f.Changes, c)
			}
			f.Links = []model.Link{{To: model.LinkLive, URL: name.Draw(t, "live page")}, {To: model.LinkDeclared, URL: "https://" + name.Draw(t, "declared page")}}
			if rapid.Bool().Draw(t, "decided") {
				f.Decision = &model.Decision{Kind: model.Accept, By: name.Draw(t, "by"), Owner: name.Draw(t, "owner"), Reason: name.Draw(t, "because")}
			}
			return f
		}
		news := rapid.SampledFrom([]model.News{model.Standing, model.Over, model.WasAccepted, model.WasHidden, model.Altered, model.StartsToFlap})
		var items []model.Item
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			it := item(news.Draw(t, "news"), finding())
			it.Why = name.Draw(t, "why")
			items = append(items, it)
		}
		kind := rapid.SampledFrom([]model.MessageKind{model.NewMessage, model.ChangedMessage, model.DigestMessage, model.TestMessage, model.ReminderMessage}).Draw(t, "kind")
		m := message(kind, items...)
		m.Title, m.Receiver, m.Notes = name.Draw(t, "title"), name.Draw(t, "receiver"), rapid.SliceOfN(name, 0, 20).Draw(t, "notes")
		if m.Title == "" {
			m.Title = "x"
		}
		m.First, m.Subject = rapid.Bool().Draw(t, "first"), m.Title
		later := rapid.Bool().Draw(t, "later")
		if later {
			m.News, m.NewsCount = items, len(items)
		}
		words, blocks := driftdslack.Render(m, later, true)
		raw, err := json.Marshal(blocks)
		if err != nil {
			t.Fatal(err)
		}
		checkBlocks(t, words, raw)
	})
}

// TestLongTexts checks that a message with very long texts respects Slack's limits, and shows at
// least one finding.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	for _, long := range []string{strings.Repeat("x", 10_000), strings.Repeat("界", 10_000)} {
		actor := model.Actor{Name: long, At: at(7), Via: long, Evidence: long, Message: long, Confidence: model.Exact}
		claims := make([]model.ClaimedValue, 6)
		for i := range claims {
			claims[i] = model.ClaimedValue{Declaration: fmt.Sprint(i, long), Address: long, URL: "https://git.example.org/" + strings.Repeat("x", 270+i), Path: long + "y", Value: *text(long), Actor: &actor}
		}
		f := model.Finding{ID: "abc123", Verdict: model.Disputed, Severity: model.High, Key: model.Key{Source: long, Kind: long, ID: long}, Place: long, Name: long + "n",
			Declaration: long, Address: long, Reason: long, FirstSeen: at(8), Actor: actor, Flapping: true}
		for range model.MaxFields {
			f.Changes = append(f.Changes, model.Change{Path: long, Live: text(long), Claims: claims})
		}
		it := item(model.Returned, f)
		it.Why = long
		m := message(model.NewMessage, it, it, it, it)
		m.Title, m.News, m.NewsCount = long, m.All, 4
		for _, later := range []bool{false, true} {
			words, blocks := driftdslack.Render(m, later, true)
			raw, err := json.Marshal(blocks)
			if err != nil {
				t.Fatal(err)
			}
			checkBlocks(t, words, raw)
			if !strings.Contains(render(t, string(raw)), " disagree") {
				t.Errorf("no dispute in:\n%s", render(t, string(raw)))
			}
		}
	}
}

// FuzzTitle checks for any title that a message respects Slack's limits, and contains no mentions
// and no markup.
func FuzzTitle(f *testing.F) {
	for _, name := range hostileTexts() {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, title string) {
		m := message(model.NewMessage, item(model.Standing, with(changed("101"), func(f *model.Finding) { f.Name = title })))
		m.Title = "x" + title
		words, blocks := driftdslack.Render(m, false, true)
		raw, err := json.Marshal(blocks)
		if err != nil {
			t.Fatal(err)
		}
		checkBlocks(t, words, raw)
	})
}

// TestQuoting checks the similar characters that replace markup.
func TestQuoting(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ reason, name, want, notification string }{
		"mention":   {"it does not notify", "<!channel>", "‹!channel›", "‹!channel›"},
		"here":      {"it does not notify", "@here", "@here", "＠here"},
		"emoji":     {"the name of an emoji is not replaced by Slack", ":a:b: c", "∶a∶b: c", "∶a∶b: c"},
		"mac":       {"a colon outside of an emoji's name is unchanged", "net: aa", "net: aa", "net: aa"},
		"marks":     {"marks are replaced only in the notification", "*b* ~s~ `c`", "*b* ~s~ `c`", "∗b∗ ∼s∼ ˋcˋ"},
		"ampersand": {"only the notification has entities", "a & b", "a & b", "a &amp; b"},
		"bidi":      {"a hidden character is escaped", "a\u202eb", `a\u202eb`, `a\u202eb`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := message(model.TestMessage)
			m.Title = test.name
			words, blocks := driftdslack.Render(m, false, false)
			raw, err := json.Marshal(blocks)
			if err != nil {
				t.Fatal(err)
			}
			if got := render(t, string(raw)); !strings.Contains(got, "*"+test.want+"*") {
				t.Errorf("%s: %q, want %q", test.reason, got, test.want)
			}
			if want := "[test] " + test.notification; words != want {
				t.Errorf("%s: notification %q, want %q", test.reason, words, want)
			}
		})
	}
}
