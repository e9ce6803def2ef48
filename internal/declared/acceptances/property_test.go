package acceptances

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

const digest = "d1ce57a0d1ce57a0"

// anyText generates texts that YAML may parse as other types.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{
		"web", "1", "01", "0x1", "1_000", "1e3", "1:30", ".5", "-", "- a", "yes", "y", "Off", "null", "~", "", " ", " a", "a ", "a: b", "a #b",
		"*a", "&a", "!!int 1", "{a}", "[a", "<<", "2026-12-24", "forever", "a\nb\n", "\na", " a\nb", "a\n b\n\n", "a\r\nb", "\t", "a\tb\nc",
		"\x00", "\x7f", "\u0085", "\u2028", "\ufeff", "\u202eevil", "🚀", "日本\n語\n", "---", "...\n---\nx", "%x", `"`, `'`, `\`, "(secret)", "@", "`",
	}), rapid.StringMatching(`[ -~\n]{0,12}`), rapid.String())
}

func anyNumber() *rapid.Generator[model.Value] {
	return rapid.Custom(func(t *rapid.T) model.Value {
		literal := rapid.OneOf(rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,25})?(e-?[1-9][0-9]?)?`), rapid.Just("18446744073709551615")).Draw(t, "number")
		v, ok := model.NumberOf(literal)
		if !ok {
			t.Fatalf("%q is no number", literal)
		}
		return v
	})
}

func anyValue(depth int) *rapid.Generator[model.Value] {
	return rapid.Custom(func(t *rapid.T) model.Value {
		most := 7
		if depth == 0 {
			most = 4
		}
		switch rapid.IntRange(0, most).Draw(t, "kind") {
		case 0:
			return model.Value{}
		case 1:
			return model.BoolOf(rapid.Bool().Draw(t, "bool"))
		case 2:
			return anyNumber().Draw(t, "number")
		case 3:
			return model.DigestOf(digest + rapid.StringMatching(`[0-9]{2}`).Draw(t, "digest"))
		case 5:
			return model.ListOf(rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "items")...)
		case 6:
			fields := make([]model.Field, rapid.IntRange(0, 3).Draw(t, "fields"))
			for i := range fields {
				fields[i] = model.Field{Name: anyText().Draw(t, "name"), Value: anyValue(depth-1).Draw(t, "field")}
			}
			return model.MapOf(fields...)
		}
		return model.StringOf(anyText().Draw(t, "string"))
	})
}

func anySide(t *rapid.T, name string) *model.Value {
	if rapid.IntRange(0, 4).Draw(t, name) == 0 {
		return nil
	}
	v := anyValue(2).Draw(t, name)
	return &v
}

// written generates a non-empty text, normalized as by the database.
func written(t *rapid.T, name string) string {
	text := strings.ToValidUTF8(anyText().Draw(t, name), "?")
	if strings.TrimSpace(text) == "" {
		return name
	}
	return text
}

func anyAccepted() *rapid.Generator[model.Finding] {
	return rapid.Custom(func(t *rapid.T) model.Finding {
		f := model.Finding{ID: "f00d", Verdict: rapid.SampledFrom(model.Verdicts()).Draw(t, "verdict"), Basis: rapid.StringMatching(`[0-9a-f]{32}`).Draw(t, "basis"),
			Key:         model.Key{Source: strings.ToValidUTF8(anyText().Draw(t, "source"), "?"), Kind: written(t, "kind"), ID: written(t, "resource")},
			Declaration: strings.ToValidUTF8(anyText().Draw(t, "declaration"), "?")}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			c := model.Change{Path: written(t, "path"), Declared: anySide(t, "declared"), Recorded: anySide(t, "recorded"), Live: anySide(t, "live"),
				Secret: rapid.IntRange(0, 5).Draw(t, "secret") == 0}
			if !slices.ContainsFunc(f.Changes, func(d model.Change) bool { return d.Path == c.Path }) {
				f.Changes = append(f.Changes, c)
			}
		}
		until := time.Time{}
		if rapid.Bool().Draw(t, "ends") {
			until = time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "until"), rapid.Int64Range(0, 999999999).Draw(t, "nanoseconds")).UTC()
		}
		f.Decision = &model.Decision{Kind: model.Accept, Reason: strings.TrimSpace(written(t, "reason")), Owner: strings.TrimSpace(written(t, "owner")),
			By: strings.ToValidUTF8(anyText().Draw(t, "by"), "?"), Until: until}
		return f
	})
}

func TestWhatIsWrittenHoldsWhenItIsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		findings := rapid.SliceOfN(anyAccepted(), 0, 4).Draw(t, "findings")
		var out, again, people bytes.Buffer
		if err := Write(&out, findings); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), digest) {
			t.Fatalf("a digest of a secret is written:\n%s", out.String())
		}
		read, err := parse(out.Bytes())
		if err != nil || len(read.wrong) > 0 {
			t.Fatalf("parse: %v, %v\n%s", err, read.wrong, out.String())
		}
		for i := range findings {
			checkHeld(t, &findings[i], read, out.String())
		}
		reversed, shown := slices.Clone(findings), slices.Clone(findings)
		slices.Reverse(reversed)
		for i := range shown {
			shown[i] = shown[i].Public()
		}
		if err := Write(&again, reversed); err != nil {
			t.Fatal(err)
		}
		if err := Write(&people, shown); err != nil {
			t.Fatal(err)
		}
		if again.String() != out.String() || people.String() != out.String() {
			t.Fatalf("what is written depends on the order, or on what was hidden:\n%s\n%s\n%s", out.String(), again.String(), people.String())
		}
	})
}

// checkHeld checks that a parsed acceptance applies to a finding, and not to one that differs
// from it.
func checkHeld(t *rapid.T, f *model.Finding, read file, text string) {
	held := func(f *model.Finding) bool {
		return slices.ContainsFunc(read.entries, func(e entry) bool {
			return e.decision.Holds(f, time.Time{}) && e.decision.Reason == f.Decision.Reason && e.decision.Owner == f.Decision.Owner &&
				e.decision.By == f.Decision.By && e.decision.Until.Equal(f.Decision.Until)
		})
	}
	if !held(f) {
		t.Fatalf("nothing holds for %+v:\n%s", f, text)
	}
	if len(f.Changes) == 0 {
		return
	}
	other := *f
	other.Basis = "another"
	other.Changes = slices.Clone(f.Changes)
	live := model.ListOf(model.StringOf("something else"))
	other.Changes[0].Live = &live
	if held(&other) {
		t.Fatalf("it still holds when the live value changes:\n%s", text)
	}
	if other.Changes[0].Live, other.Changes[0].Declared = f.Changes[0].Live, &live; held(&other) && f.Verdict != model.Undeclared {
		t.Fatalf("it still holds when the declared value changes:\n%s", text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("version: 1\nacceptances:\n- {source: prod, kind: a/B, resource: x, reason: r, owner: o, until: forever}\n"))
	f.Add([]byte("version: 1\nacceptances:\n- source: prod\n  changes: [{path: a, live: ~}]\n  until: 2026-12-24\n"))
	f.Add([]byte(`{"version": 1, "acceptances": [{"source": 1}, null, []]}`))
	f.Add([]byte("version: 1\nacceptances: &a\n- *a\n"))
	f.Add([]byte("a: &a [b]\nversion: 1\nacceptances: *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := parse(data)
		if err != nil {
			return
		}
		decisions, seen := read.decisions("acc", "acceptances.yaml", time.Time{}), map[string]bool{}
		for _, d := range decisions {
			if d.Reason == "" || d.Owner == "" || d.By == "" || d.Subject.Kind == "" || d.Subject.ID == "" || seen[d.ID] {
				t.Errorf("an acceptance lacks something: %+v", d)
			}
			seen[d.ID] = true
		}
		again, err := parse(data)
		first, _ := json.Marshal(decisions)
		second, _ := json.Marshal(again.decisions("acc", "acceptances.yaml", time.Time{}))
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("two readings differ: %v\n%s\n%s", err, first, second)
		}
	})
}
