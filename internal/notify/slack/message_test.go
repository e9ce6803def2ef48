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

var update = flag.Bool("update", false, "write the golden files anew")

func at(hour int) time.Time { return time.Date(2026, 11, 20, hour, 30, 0, 0, time.UTC) }

func text(s string) *model.Value {
	v := model.StringOf(s)
	return &v
}

func number(n int64) *model.Value {
	v := model.IntOf(n)
	return &v
}

// changed is a finding with something of everything.
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

// message makes a message about findings as they stand.
func message(kind model.MessageKind, items ...model.Item) model.Message {
	m := model.Message{Key: "abc123.1", Receiver: "ops", Thread: "abc123", Sequence: 1, Kind: kind, At: at(9), First: true, Severity: model.High,
		Title: "pve: qemu pve/101 changed by root@pam", Subject: "pve: qemu pve/101 changed by root@pam", URL: "https://driftd.example.org/"}
	for i := range items {
		it := &items[i]
		it.Fields = len(it.Finding.Changes)
		switch told := (model.Notified{News: it.News}); {
		case it.News == model.Over:
			m.ResolvedCount++
		case it.News == model.WasMerged:
			m.MergedCount++
		case told.Muted():
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

func decided(f model.Finding, d model.Decision) model.Finding {
	f.Decision = &d
	return f
}

func messages() map[string]struct {
	m       model.Message
	later   bool
	buttons bool
} {
	accepted := decided(changed("102"), model.Decision{Kind: model.Accept, By: "Alice Doe (U1)", Owner: "net-team", Until: at(20), Reason: "until the move", Via: "command line"})
	forever := decided(changed("105"), model.Decision{Kind: model.Accept, By: "Alice", Owner: "Alice", Reason: "it is a lab"})
	snoozed := decided(changed("103"), model.Decision{Kind: model.Snooze, By: "Bob", Until: at(20)})
	seen := decided(changed("104"), model.Decision{Kind: model.Acknowledge, By: "Bob", Until: at(22)})
	over := with(changed("101"), func(f *model.Finding) { f.Resolved = at(10) })
	unchecked := with(changed("106"), func(f *model.Finding) {
		f.Verdict, f.Changes, f.Reason, f.Actor = model.Unchecked, nil, "node3 does not answer", model.Actor{}
	})
	nobody := with(changed("107"), func(f *model.Finding) {
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
	argued := with(changed("113"), func(f *model.Finding) {
		f.Verdict, f.Reason = model.Disputed, "memory[0].dedicated: intent differs, infra and pve agree"
		f.Actor = model.Actor{Name: "mara", At: at(7), Via: "NetBox changelog", Evidence: "object-change 5695", Message: "grow for the sale, @here <!channel>", Confidence: model.Exact}
		f.Changes = []model.Change{{Path: "memory[0].dedicated", LivePath: "memory", Live: number(4096), LiveActor: &model.Actor{Name: "root@pam"}, Claims: []model.ClaimedValue{
			{Declaration: "infra", Value: *number(4096), Actor: &model.Actor{Name: "alice <!here>"}}, {Declaration: "intent", Path: "memory", Value: *number(16384)}}}}
	})
	lacking := with(changed("114"), func(f *model.Finding) {
		f.Verdict, f.Declaration, f.Address, f.Changes, f.Actor = model.Unmanaged, "intent", "", nil, model.Actor{}
		f.Reason = "live, and in infra (module.web.proxmox_vm_qemu.web), but not in intent"
	})
	several := with(changed("115"), func(f *model.Finding) {
		nobody := model.UnknownActor("the log is too short")
		f.Changes = []model.Change{{Path: "cores", Declared: number(4), Live: number(8), Actor: &model.Actor{Name: "carol <@U1>", Confidence: model.Exact}},
			{Path: "memory", Declared: number(4), Live: number(8), Running: number(4), Actor: &nobody}, {Path: "name", Declared: text("a"), Live: text("b")}}
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
	mixed := message(model.NewMessage, item(model.Standing, nobody), item(model.WasAcknowledged, seen), item(model.WasSnoozed, snoozed),
		item(model.WasAccepted, accepted), item(model.WasAccepted, forever),
		item(model.WasHidden, with(changed("110"), func(f *model.Finding) { f.Hidden = "backups change tags" })), item(model.Over, over))
	mixed.Title = "pve: 7 findings changed"
	news := message(model.ChangedMessage, item(model.Standing, nobody))
	news.First, news.News = false, []model.Item{item(model.Appeared, nobody), item(model.Again, disputed), item(model.Altered, changed("101")),
		item(model.StartsToFlap, flapping), item(model.Steady, changed("111")), item(model.Returned, changed("112")),
		item(model.WasAcknowledged, seen), item(model.WasHidden, with(changed("110"), func(f *model.Finding) { f.Hidden = "backups change tags" })), item(model.Over, over)}
	news.NewsCount = 12
	returned := item(model.Returned, changed("112"))
	returned.Why = "it was accepted by <carol>, which has ended"
	back := message(model.NewMessage, item(model.Standing, changed("112")))
	back.First, back.News, back.NewsCount = false, []model.Item{returned, item(model.WasAcknowledged, seen)}, 2
	back.News[0].Fields = 5
	part := with(unchecked, func(f *model.Finding) {
		f.Key, f.Place, f.Name, f.Declaration, f.Address = model.Key{Kind: "declaration/part", ID: "infra/main.tf"}, "", "main.tf", "infra", "main.tf:3"
		f.Reason, f.Actor = "line 3: no expression", model.UnknownActor("not checked")
	})
	whole := with(part, func(f *model.Finding) { f.Key.ID, f.Name, f.Address, f.Reason = "infra", "infra", "infra", "no answer" })
	agreed := with(disputed, func(f *model.Finding) { f.Source, f.Place, f.Declaration, f.Address = "", "", "agreed", "" })
	reminder := message(model.ReminderMessage, item(model.Standing, changed("101")), item(model.Standing, nobody), item(model.WasAcknowledged, seen))
	reminder.First = false
	resolved := message(model.ResolvedMessage, item(model.Over, over))
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
		"new":          {message(model.NewMessage, item(model.Standing, changed("101"))), false, true},
		"new-no-link":  {with(message(model.NewMessage, item(model.Standing, disputed)), func(m *model.Message) { m.URL = "" }), false, false},
		"argued":       {message(model.NewMessage, item(model.Standing, argued), item(model.Standing, lacking)), false, false},
		"several":      {message(model.NewMessage, item(model.Standing, several)), false, false},
		"once":         {once, false, true},
		"once-edited":  {since, false, true},
		"unknown":      {message(model.NewMessage, item(model.Standing, nobody)), false, false},
		"flapping":     {message(model.NewMessage, item(model.Standing, flapping)), false, false},
		"unchecked":    {message(model.UncheckedMessage, item(model.Standing, unchecked)), false, true},
		"part":         {message(model.UncheckedMessage, item(model.Standing, part), item(model.Standing, whole), item(model.Standing, agreed)), false, true},
		"many":         {many, false, true},
		"mixed":        {mixed, false, true},
		"acknowledged": {message(model.NewMessage, item(model.WasAcknowledged, seen)), false, true},
		"over":         {message(model.NewMessage, item(model.Over, over)), false, true},
		"digest":       {digest, false, true},
		"digest-quiet": {quiet, false, true},
		"test":         {tried, false, true},
		"later-back":   {back, true, false},
		"later-news":   {news, true, false}, "later-reminder": {reminder, true, false}, "later-resolved": {resolved, true, false},
	}
}

// TestMessages shows each sort of message as people see it.
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
			golden(t, name+".golden", "--- notification\n"+words+"\n--- message\n"+read(t, string(raw))+"\n")
		})
	}
}

// TestWire shows one message as it is sent.
func TestWire(t *testing.T) {
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

func TestMuchIsLeftOut(t *testing.T) {
	t.Parallel()
	words, blocks := driftdslack.Render(messages()["many"].m, false, true)
	raw, err := json.Marshal(blocks)
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Count(read(t, string(raw)), "driftd findings show")
	if shown < 3 || shown > 10 {
		t.Errorf("%d findings are shown", shown)
	}
	if want := fmt.Sprintf("… and %s more", phrase.Number(5000-shown)); !strings.Contains(read(t, string(raw)), want) {
		t.Errorf("no %q in:\n%s", want, read(t, string(raw)))
	}
	if !strings.Contains(words, "5,000 findings") {
		t.Errorf("the notification says %q", words)
	}
}

// TestAsksBack: who decides about more than there is to see is asked first.
func TestAsksBack(t *testing.T) {
	t.Parallel()
	const acknowledges, snoozes = "This acknowledges all %d findings of this message.", "This snoozes all %d findings of this message."
	tests := map[string]struct {
		reason               string
		open, seen, resolved int
		acknowledge, snooze  string
	}{
		"one":      {"there is nothing to ask", 1, 0, 0, "(Acknowledge)", "(Snooze v)"},
		"all":      {"all of it is shown", 10, 0, 0, "(Acknowledge)", "(Snooze v)"},
		"more":     {"some of it is not shown", 11, 0, 0, "(Acknowledge: " + fmt.Sprintf(acknowledges, 11) + ")", "(Snooze v: " + fmt.Sprintf(snoozes, 11) + ")"},
		"resolved": {"what is over is not decided about", 4, 0, 16, "(Acknowledge)", "(Snooze v)"},
		"seen":     {"what is acknowledged can be snoozed", 10, 2, 0, "(Acknowledge)", "(Snooze v: " + fmt.Sprintf(snoozes, 12) + ")"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var items []model.Item
			for i := range test.open + test.seen + test.resolved {
				news := model.Over
				switch {
				case i < test.open:
					news = model.Standing
				case i < test.open+test.seen:
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
			if got := read(t, string(raw)); !strings.Contains(got, test.acknowledge+" "+test.snooze+" (Accept…)") {
				t.Errorf("%s: the message reads\n%s", test.reason, got)
			}
		})
	}
}

func hostile() []string {
	return []string{"<!channel>", "<@U123|x>", "<#C1>", "@here @channel", "*bold* _it_ ~s~ `c` ```x```", ":boom: :a:b:c:", "\u202egnp.exe\u202c",
		"a\u200bb\u2060\ufeff", "<script>alert(1)</script>", strings.Repeat("x", 10000), strings.Repeat("😀", 10000), strings.Repeat("<!here>", 2000),
		"", " ", "\n\n\r\n• fake", "\x00\x1b[31m", "\xff\xfe", "שלום עולם", "→ (absent) (secret)", "driftd findings show x", "https://evil.example", "&lt;!channel&gt;", "\u2028line", "👩‍👩‍👧"}
}

// TestHostileNames: whatever things are called, the limits hold, and no name
// pages anybody or looks like a mark of driftd's.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.SampledFrom(hostile()), rapid.String())
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
					c.Claims = append(c.Claims, model.ClaimedValue{Declaration: name.Draw(t, "claimant"), Path: name.Draw(t, "word"), Value: *value()})
				}
				f.Changes = append(f.Changes, c)
			}
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

// TestLongest: where everything is as long as it can be, a message keeps Slack's
// limits, and shows one finding at least.
func TestLongest(t *testing.T) {
	t.Parallel()
	for _, long := range []string{strings.Repeat("x", 10_000), strings.Repeat("界", 10_000)} {
		actor := model.Actor{Name: long, At: at(7), Via: long, Evidence: long, Message: long, Confidence: model.Exact}
		claims := make([]model.ClaimedValue, 6)
		for i := range claims {
			claims[i] = model.ClaimedValue{Declaration: long, Address: long, Path: long + "y", Value: *text(long), Actor: &actor}
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
			if !strings.Contains(read(t, string(raw)), " disagree") {
				t.Errorf("no dispute is shown:\n%s", read(t, string(raw)))
			}
		}
	}
}

// FuzzTitle: the same of any title.
func FuzzTitle(f *testing.F) {
	for _, name := range hostile() {
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

// TestLookalikes: what is made harmless still reads like what it was.
func TestLookalikes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ reason, name, want, notification string }{
		"mention":   {"nobody is paged", "<!channel>", "‹!channel›", "‹!channel›"},
		"here":      {"nobody is paged", "@here", "@here", "＠here"},
		"emoji":     {"a code stays a code, also where two share a colon", ":a:b: c", "∶a∶b: c", "∶a∶b: c"},
		"mac":       {"what is no code stays", "net: aa", "net: aa", "net: aa"},
		"marks":     {"marks mean nothing in blocks, and look alike elsewhere", "*b* ~s~ `c`", "*b* ~s~ `c`", "∗b∗ ∼s∼ ˋcˋ"},
		"ampersand": {"only the notification knows entities", "a & b", "a & b", "a &amp; b"},
		"bidi":      {"a mark that turns the text is shown", "a\u202eb", `a\u202eb`, `a\u202eb`},
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
			if got := read(t, string(raw)); !strings.Contains(got, "*"+test.want+"*") {
				t.Errorf("%s: %q, want %q", test.reason, got, test.want)
			}
			if want := "[test] " + test.notification; words != want {
				t.Errorf("%s: notification %q, want %q", test.reason, words, want)
			}
		})
	}
}
