package phrase

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

func TestPhrase(t *testing.T) {
	t.Parallel()
	quote := func(s string) string { return "<" + s + ">" }
	for name, tc := range map[string]struct {
		reason string
		p      Phrase
		want   string
	}{
		"empty":    {"nothing is nothing", nil, ""},
		"data":     {"data are marked, words are not", Words("by ").Data("x").Words("!"), "by <x>!"},
		"no data":  {"empty data are no phrase", Data(""), ""},
		"visible":  {"data are one line", Data("a\nb"), `<a\nb>`},
		"short":    {"data are clipped", Phrase{}.Short("abcdef", 4), "<abc…>"},
		"then":     {"a comma between two", Words("a").Then(Words("b")), "a, b"},
		"then one": {"no comma beside nothing", Phrase{}.Then(Words("b")).Then(nil), "b"},
		"list":     {"all names", Phrase{}.List([]string{"a", "b"}, 2), "<a>, <b>"},
		"long list": {"the number of the others", Phrase{}.List([]string{"a", "b", "c"}, 2),
			"<a> and 2 more"},
		"sentence":      {"a capital letter", Words("über ").Data("x").Sentence(), "Über <x>"},
		"data first":    {"data stay as they are", Data("x").Words(" is").Sentence(), "<x> is"},
		"no sentence":   {"nothing has no first letter", Phrase(nil).Sentence(), ""},
		"quoted":        {"nothing ends a quotation but its end", Words("").quoted(`a" b`, 20), `<"a\" b">`},
		"bound":         {"data are bounded in total", Data("abcdef").Words(", ").Data("ghi").Bound(7), "<abcdef>, <…>"},
		"bound exactly": {"what fits stays", Data("abc").Words(", ").Data("def").Bound(6), "<abc>, <def>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.p.Render(quote); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestSharedPhrases holds that Sentence and Bound leave the phrase that they are
// called on as it is: several outputs share phrases.
func TestSharedPhrases(t *testing.T) {
	t.Parallel()
	p := Words("by ").Data("somebody")
	_, _ = p.Sentence(), p.Bound(2)
	if got := p.String(); got != "by somebody" {
		t.Errorf("got %q", got)
	}
}

func TestLineIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text") + strings.Repeat("\u0301", rapid.IntRange(0, 100).Draw(t, "marks"))
		limit := rapid.IntRange(1, 50).Draw(t, "limit")
		got := Line(s, limit)
		if Columns(got) > limit || len([]rune(got)) > limit || !isPrintable(got) {
			t.Fatalf("Line(%q, %d) = %q", s, limit, got)
		}
	})
}

func isPrintable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !Prints(r) }) < 0
}

func TestClaims(t *testing.T) {
	t.Parallel()
	f := model.Finding{Key: model.Key{Source: "pve"}, Verdict: model.Disputed, Changes: []model.Change{
		{Path: "memory", Live: number(4), LiveActor: &model.Actor{Name: "root"}, Claims: []model.ClaimedValue{
			{Declaration: "infra", Address: "vm.db", Position: "main.tf:3", Value: *number(4), Actor: &model.Actor{Name: "alice"}}, {Declaration: "intent", Path: "ram", Value: *number(8)}}},
		{Path: "cpu", Live: sealed("1"), Claims: []model.ClaimedValue{{Declaration: "infra", Value: *sealed("2")}}},
	}}
	fields := Clock{}.Fields(&f, 5)
	want := []string{"infra 4 (vm.db in main.tf:3, by alice), intent 8 (ram), live in pve 4 (by root)", "infra (secret), live in pve (secret)"}
	for i := range fields {
		if got := fields[i].Inline(func(s string) string { return s }); got != want[i] {
			t.Errorf("got %q, want %q", got, want[i])
		}
	}
	if got := fields[0].Disagreement(); got != "2 declarations disagree" {
		t.Errorf("got %q", got)
	}
	twice := Field{Claims: []Claim{{Declaration: "shop", Text: "1"}, {Declaration: "shop", Text: "2"}}}
	if got := twice.Disagreement(); got != "declared with 2 values" {
		t.Errorf("one declaration: %q", got)
	}
	if got := len(Clock{}.Fields(&f, 1)); got != 1 {
		t.Errorf("%d fields, want 1", got)
	}
}
