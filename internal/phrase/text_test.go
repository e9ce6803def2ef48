package phrase

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for in, tc := range map[string]struct{ reason, want string }{
		"plain text":       {"what prints stays", "plain text"},
		"größe 日本 🚀":       {"letters of any script stay", "größe 日本 🚀"},
		"a\nb\tc\rd":       {"line breaks and tabs", `a\nb\tc\rd`},
		"\x1b[31m\x07\x7f": {"control characters", `\x1b[31m\x07\x7f`},
		"\u009b31m":        {"an eight-bit control", `\u009b31m`},
		"\u202eabc\u2066":  {"marks of direction", `\u202eabc\u2066`},
		"a\u200bb\u00a0c":  {"what cannot be seen", `a\u200bb\u00a0c`},
		"\u3164\u2800":     {"letters that are blank", `\u3164\u2800`},
		"\U000e0041":       {"a tag outside the basic plane", `\U000e0041`},
		"\xff\xc3":         {"what is not UTF-8", `\xff\xc3`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			if got := Visible(in); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("0123456789", 10)
	for name, tc := range map[string]struct {
		reason, in  string
		limit, from int
		want        string
	}{
		"fits":      {reason: "what fits stays", in: "0123456789", limit: 10, want: "0123456789"},
		"unlimited": {reason: "0 is unlimited", in: digits, limit: 0, want: digits},
		"start":     {reason: "a difference at the start", in: digits, limit: 40, from: 2, want: "0123456789012345678901234… (75 more)"},
		"middle":    {reason: "begins before the difference", in: digits, limit: 40, from: 50, want: "…234567890123456789012345… (76 more)"},
		"end":       {reason: "the end is worth as much room", in: digits, limit: 40, from: 99, want: "…6789012345678901234567 89"},
		"wide":      {reason: "wide characters take two columns", in: strings.Repeat("日", 30), limit: 30, want: "日日日日日日日… (23 more)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Cut(tc.in, tc.limit, tc.from)
			if name == "end" {
				if !strings.HasPrefix(got, Ellipsis) || !strings.Contains(got, "56789 (") {
					t.Errorf("%s: got %s", tc.reason, got)
				}
				return
			}
			if got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestCutKeepsToItsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Visible(rapid.String().Draw(t, "text")) + strings.Repeat("x", rapid.IntRange(0, 300).Draw(t, "more"))
		limit := rapid.IntRange(30, 200).Draw(t, "limit")
		from := rapid.IntRange(0, len(s)).Draw(t, "from")
		for from < len(s) && !utf8.RuneStart(s[from]) {
			from++
		}
		if got := Cut(s, limit, from); Columns(got) > limit+1 || !utf8.ValidString(got) {
			t.Fatalf("Cut(%q, %d, %d) = %q takes %d columns", s, limit, from, got, Columns(got))
		}
	})
}

// TestCutSides checks that each side is cut by its own text: a third one may be shorter than what
// the first two share.
func TestCutSides(t *testing.T) {
	t.Parallel()
	long, short := strings.Repeat("é", 500), strings.Repeat("x", 300)
	f := &model.Finding{Verdict: model.PendingRestart, Changes: []model.Change{{Path: "args", Declared: text(long), Live: text(long), Running: text(short)}}}
	cut := Clock{}.Fields(f, 1)[0].Cut(40)
	want := []string{"…" + strings.Repeat("é", 24) + " (476 more)", "…" + strings.Repeat("é", 24) + " (476 more)", strings.Repeat("x", 25) + "… (275 more)"}
	for i, s := range cut.Sides {
		if s.Text != want[i] {
			t.Errorf("%s: got %s, want %s", s.Label, s.Text, want[i])
		}
	}
	if one := (&Field{Sides: []Side{{Text: short}}}).CutSide(0, 40); one != want[2] {
		t.Errorf("one side: got %s, want %s", one, want[2])
	}
}

func TestClipMiddle(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, text string
		limit        int
		want         string
	}{
		{"it fits", "shop/web", 8, "shop/web"},
		{"both ends are kept", "prod Deployment shop/web", 11, "prod …p/web"},
		{"an even limit", "abcdefghij", 6, "ab…hij"},
		{"one column", "abc", 1, "…"},
		{"no column", "abc", 0, "…"},
		{"wide letters", "世界世界世界", 7, "世…世界"},
		{"combining marks count as characters", "e\u0301\u0301\u0301\u0301", 3, "e…\u0301"},
	} {
		if got := ClipMiddle(tc.text, tc.limit); got != tc.want {
			t.Errorf("%s: ClipMiddle(%q, %d) = %q, want %q", tc.reason, tc.text, tc.limit, got, tc.want)
		}
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -100: "-100", -1000: "-1,000"} {
		if got := Number(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestValuesThatDifferReadDifferently(t *testing.T) {
	t.Parallel()
	null, yes := model.Value{}, model.BoolOf(true)
	for name, tc := range map[string]struct {
		reason string
		values []*model.Value
		want   []string
	}{
		"bare":     {"strings need no quotes", []*model.Value{text("web:1.4"), text("web:1.5")}, []string{"web:1.4", "web:1.5"}},
		"types":    {"text and number", []*model.Value{text("80"), number(80)}, []string{`"80"`, "80"}},
		"booleans": {"text and boolean", []*model.Value{text("true"), &yes}, []string{`"true"`, "true"}},
		"null":     {"null is not absent", []*model.Value{nil, &null}, []string{"(absent)", "null"}},
		"text null": {"the text null is not null", []*model.Value{text("null"), &null},
			[]string{`"null"`, "null"}},
		"absent":   {"a text cannot pass for absence", []*model.Value{text("(absent)"), nil}, []string{`"(absent)"`, "(absent)"}},
		"empty":    {"nothing to see is quoted", []*model.Value{text(""), nil}, []string{`""`, "(absent)"}},
		"space":    {"space at the edge is quoted", []*model.Value{text("a "), text("a")}, []string{`"a "`, "a"}},
		"escapes":  {"a line break and what stands for it", []*model.Value{text("a\nb"), text(`a\nb`)}, []string{`"a\nb"`, `"a\\nb"`}},
		"arrow":    {"a text cannot pass for two", []*model.Value{text("3 → 5"), nil}, []string{`"3 → 5"`, "(absent)"}},
		"same":     {"equal values may read the same", []*model.Value{text("a"), text("a")}, []string{"a", "a"}},
		"compound": {"maps and lists are JSON", []*model.Value{tree("A", yes), nil}, []string{`{"name":"A","value":true}`, "(absent)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, textsOf(nil, tc.values...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestInline(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		verdict model.Verdict
		change  model.Change
		want    string
	}{
		"changed":  {"declared and recorded agree", model.Changed, model.Change{Declared: number(3), Recorded: number(3), Live: number(5)}, "3 → 5"},
		"conflict": {"three values", model.Conflict, model.Change{Declared: number(3), Recorded: number(4), Live: number(5)}, "3 → 5 (recorded 4)"},
		"pending":  {"the record is the live value", model.Pending, model.Change{Declared: number(3), Recorded: number(4), Live: number(4)}, "3 → 4"},
		"dropped":  {"no longer declared", model.Pending, model.Change{Recorded: number(4), Live: number(4)}, "(absent) → 4"},
		"codified": {"declared and live agree", model.Codified, model.Change{Declared: number(2), Recorded: number(1), Live: number(2)}, "1 (recorded) → 2"},
		"state":    {"only a record is known", model.Changed, model.Change{Recorded: number(1), Live: number(2)}, "1 (recorded) → 2"},
		"removed":  {"gone by hand", model.Changed, model.Change{Declared: number(3)}, "3 → (absent)"},
		"secret":   {"a digest that differs", model.Changed, model.Change{Declared: sealed("1"), Live: sealed("2")}, "(secret) changed"},
		"public":   {"a public finding has no digest", model.Changed, model.Change{Declared: text("(secret)"), Live: text("(secret)"), Secret: true}, "(secret) changed"},
		"inside":   {"a digest that differs inside", model.Changed, model.Change{Declared: tree("a", *sealed("1")), Live: tree("a", *sealed("2"))}, `{"name":"a","value":"(secret)"} (a secret in it changed)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := model.Finding{Changes: []model.Change{tc.change}}.Public()
			f := NewField(&model.Finding{Verdict: tc.verdict}, &tc.change, &shown.Changes[0], Clock{})
			if got := f.Inline(func(s string) string { return s }); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// script writes lines as a person would, to compare them.
func script(all []DiffLine) string {
	var b strings.Builder
	for _, l := range all {
		b.WriteString(l.Sign() + l.Text)
		if l.Op == '~' {
			b.WriteString(Number(l.Gap))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestLines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason        string
		before, after *model.Value
		want          string
	}{
		"one line":  {"the lines around stay", text("a\nb\nc\n"), text("a\nx\nc\n"), " a\n-b\n+x\n c\n"},
		"inserted":  {"nothing else moves", text("a\nc\n"), text("a\nb\nc\n"), " a\n+b\n c\n"},
		"appeared":  {"an absent text has no lines", nil, text("a\nb\n"), "+a\n+b\n"},
		"emptied":   {"an empty text has no lines", text("a\nb\n"), text(""), "-a\n-b\n"},
		"last":      {"a line break at the end is content", text("a\nb\n"), text("a\nb"), " a\n-b\n+b (no newline at the end)\n"},
		"carriage":  {"so is what cannot be seen", text("a\nb\n"), text("a\r\nb\n"), "-a\n+a\\r\n b\n"},
		"far apart": {"common lines are found", text("a\nb\nc\nd\n"), text("b\nc\nx\nd\ne\n"), "-a\n b\n c\n+x\n d\n+e\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, script(Lines(tc.before, tc.after))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLinesAreThoseOfBothTexts(t *testing.T) {
	t.Parallel()
	word := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := strings.Join(word.Draw(t, "a"), "\n"), strings.Join(word.Draw(t, "b"), "\n")
		if a != "" {
			a += "\n"
		}
		if b != "" {
			b += "\n"
		}
		var before, after strings.Builder
		for _, l := range Lines(text(a), text(b)) {
			if l.Op != '+' {
				before.WriteString(l.Text + "\n")
			}
			if l.Op != '-' {
				after.WriteString(l.Text + "\n")
			}
		}
		if before.String() != a || after.String() != b {
			t.Fatalf("got %q and %q, want %q and %q", before.String(), after.String(), a, b)
		}
	})
}

func TestHugeTextsAreReplaced(t *testing.T) {
	t.Parallel()
	before, after := text(strings.Repeat("a\n", 100_000)), text(strings.Repeat("b\n", 100_000))
	got := Shorten(Lines(before, after), 2)
	if want := "-a\n-a\n~99,998\n+b\n+b\n~99,998\n"; script(got) != want {
		t.Errorf("got %s, want %s", script(got), want)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	all := Lines(text("1\n2\n3\n4\n5\n6\n7\n8\n"), text("1\n2\n3\nx\n5\n6\n7\n8\n"))
	if got, want := script(Shorten(all, 10)), "~2\n 3\n-4\n+x\n 5\n~3\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func text(s string) *model.Value {
	v := model.StringOf(s)
	return &v
}

func number(n int64) *model.Value {
	v := model.IntOf(n)
	return &v
}

func sealed(digest string) *model.Value {
	v := model.DigestOf(digest)
	return &v
}

func tree(name string, v model.Value) *model.Value {
	m := model.MapOf(model.Field{Name: "name", Value: model.StringOf(name)}, model.Field{Name: "value", Value: v})
	return &m
}
