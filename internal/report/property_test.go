package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// text that tries to be more than text.
var nasty = []string{
	"", " ", "web", "a\nCRITICAL  missing  Service x", "\x1b[2J", "\u202e", "\u009b31m", "<script>alert(1)</script>", "]]>", "`", "```",
	"|", "@everyone", "<!channel>", "{0}", "[a](b)", "\xff\xfe", "\x00", "\u2028", "日本", "🚀", "&lt;", "\r", "\t", "(absent)", "→",
	"0123456789abcdefghijklmnopqrstuvwxyz", "one\ntwo\nthree\n", `\x1b`, `"`, "--\x00>", "\ufeff", "\U000e0041",
}

func anyText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return rapid.OneOf(rapid.SampledFrom(nasty), rapid.String()).Draw(t, "text") +
			rapid.SampledFrom(nasty).Draw(t, "more")
	})
}

func anyValue(depth int) *rapid.Generator[model.Value] {
	return rapid.Custom(func(t *rapid.T) model.Value {
		most := 6
		if depth == 0 {
			most = 4
		}
		switch rapid.IntRange(0, most).Draw(t, "kind") {
		case 0:
			return model.Value{}
		case 1:
			return model.BoolOf(rapid.Bool().Draw(t, "bool"))
		case 2:
			return model.IntOf(rapid.Int64().Draw(t, "number"))
		case 3:
			return model.DigestOf(fmt.Sprint(digest, rapid.IntRange(0, 9).Draw(t, "digest")))
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

func anyTime() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		zone := time.FixedZone("", rapid.IntRange(-12, 12).Draw(t, "zone")*3600)
		return time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "second"), 5).In(zone)
	})
}

func anyActor() *rapid.Generator[model.Actor] {
	return rapid.Custom(func(t *rapid.T) model.Actor {
		return model.Actor{
			Name: anyText().Draw(t, "name"), At: anyTime().Draw(t, "at"), Via: anyText().Draw(t, "via"),
			Evidence: anyText().Draw(t, "evidence"), Reason: anyText().Draw(t, "reason"), Message: anyText().Draw(t, "message"),
			Request:    rapid.SampledFrom([]string{"", "", "r1", "\x1b[2J"}).Draw(t, "request"),
			Confidence: rapid.SampledFrom([]model.Confidence{"", model.Exact, model.Likely, model.Unknown}).Draw(t, "confidence"),
		}
	})
}

func anyChange() *rapid.Generator[model.Change] {
	return rapid.Custom(func(t *rapid.T) model.Change {
		side := rapid.Ptr(anyValue(2), true)
		c := model.Change{
			Path: anyText().Draw(t, "path"), LivePath: anyText().Draw(t, "live path"), Secret: rapid.Bool().Draw(t, "secret"),
			Declared: side.Draw(t, "declared"), Recorded: side.Draw(t, "recorded"), Live: side.Draw(t, "live"),
			Actor: rapid.Ptr(anyActor(), true).Draw(t, "actor"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "claims") {
			c.Claims = append(c.Claims, model.ClaimedValue{Declaration: anyText().Draw(t, "declaration"),
				Address: anyText().Draw(t, "address"), Position: anyText().Draw(t, "position"), Path: anyText().Draw(t, "word"), Value: anyValue(2).Draw(t, "claim"),
				Actor: rapid.Ptr(anyActor(), true).Draw(t, "writer")})
			c.LiveActor = rapid.Ptr(anyActor(), true).Draw(t, "live writer")
		}
		return c
	})
}

func anyFinding(id int) *rapid.Generator[model.Finding] {
	return rapid.Custom(func(t *rapid.T) model.Finding {
		key := model.Key{Source: anyText().Draw(t, "source"), Kind: anyText().Draw(t, "kind"), ID: anyText().Draw(t, "id")}
		f := model.Finding{
			ID: fmt.Sprintf("id-%d", id), Key: key, Name: anyText().Draw(t, "name"), Place: anyText().Draw(t, "place"),
			Verdict:     rapid.SampledFrom(model.Verdicts()).Draw(t, "verdict"),
			Severity:    rapid.SampledFrom(model.Severities()).Draw(t, "severity"),
			Declaration: anyText().Draw(t, "declaration"), Address: anyText().Draw(t, "address"), Position: anyText().Draw(t, "position"),
			Changes: rapid.SliceOfN(anyChange(), 0, 3).Draw(t, "changes"), Actor: anyActor().Draw(t, "actor"),
			Reason: anyText().Draw(t, "reason"), FirstSeen: anyTime().Draw(t, "first"), LastSeen: anyTime().Draw(t, "last"),
		}
		stand(t, &f)
		if rapid.IntRange(0, 4).Draw(t, "over") == 0 {
			f.Resolved = anyTime().Draw(t, "resolved")
		}
		return f
	})
}

// stand gives a finding, now and then, an owner and all that may be decided
// about it.
func stand(t *rapid.T, f *model.Finding) {
	f.Owner, f.Hidden = anyText().Draw(t, "owner"), rapid.SampledFrom(nasty).Draw(t, "hidden")
	f.Flapping = rapid.Bool().Draw(t, "flapping")
	f.Flips = []model.Flip{{At: anyTime().Draw(t, "flip")}}
	if rapid.Bool().Draw(t, "reclassified") {
		f.Was = &model.Former{Verdict: rapid.SampledFrom(model.Verdicts()).Draw(t, "was"), At: anyTime().Draw(t, "reclassified at")}
		f.Merged, f.MergedInto = []string{anyText().Draw(t, "merged")}, anyText().Draw(t, "merged into")
	}
	if rapid.Bool().Draw(t, "labels") {
		f.Labels = map[string]string{strings.ToValidUTF8(anyText().Draw(t, "label"), "?"): anyText().Draw(t, "text")}
	}
	for range rapid.IntRange(0, 2).Draw(t, "ignored") {
		f.Ignored = append(f.Ignored, model.IgnoredChange{Reason: anyText().Draw(t, "rule"), Change: anyChange().Draw(t, "ignored")})
	}
	if rapid.Bool().Draw(t, "decided") {
		f.Decision = &model.Decision{ID: "d", Kind: rapid.SampledFrom(model.DecisionKinds()).Draw(t, "kind"), Finding: f.ID, Basis: f.Basis,
			Subject: model.Target{Key: f.Key}, Reason: anyText().Draw(t, "why"), By: anyText().Draw(t, "by"), Via: anyText().Draw(t, "via"),
			At: anyTime().Draw(t, "decided at"), Until: anyTime().Draw(t, "until")}
	}
}

// anyCrowd are findings that differ in what they are called at most.
func anyCrowd(t *rapid.T) []model.Finding {
	first := anyFinding(100).Draw(t, "of one cause")
	all := make([]model.Finding, rapid.IntRange(0, 7).Draw(t, "crowd"))
	for i := range all {
		all[i] = first
		all[i].ID, all[i].Key.ID, all[i].Name = fmt.Sprintf("crowd-%d", i), anyText().Draw(t, "one"), anyText().Draw(t, "called")
	}
	return all
}

func anyReport(t *rapid.T) model.Report {
	r := model.Report{
		Version: model.ReportVersion,
		Scan:    model.Scan{ID: anyText().Draw(t, "scan"), Started: anyTime().Draw(t, "started"), Complete: rapid.Bool().Draw(t, "complete")},
		Summary: model.Summary{InSync: 3, Findings: rapid.IntRange(0, 9).Draw(t, "findings"), Accepted: rapid.IntRange(0, 2).Draw(t, "accepted"),
			Hidden: rapid.IntRange(0, 2).Draw(t, "hidden")},
	}
	for range rapid.IntRange(0, 2).Draw(t, "commits") {
		r.Scan.Declarations = append(r.Scan.Declarations, model.Revision{Name: anyText().Draw(t, "name"), Revision: anyText().Draw(t, "revision")})
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "number") {
		r.Findings = append(r.Findings, anyFinding(i).Draw(t, "finding"))
	}
	r.Findings = append(r.Findings, anyCrowd(t)...)
	for range rapid.IntRange(0, 3).Draw(t, "scopes") {
		r.Coverage = append(r.Coverage, model.Coverage{Source: anyText().Draw(t, "source"), Kind: anyText().Draw(t, "kind"),
			Place: anyText().Draw(t, "place"), Complete: rapid.Bool().Draw(t, "read"), Reason: anyText().Draw(t, "reason")})
	}
	return r
}

func TestOrderOfFindingsNeverMatters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := anyReport(t)
		shuffled := r
		shuffled.Findings = rapid.Permutation(r.Findings).Draw(t, "findings")
		shuffled.Coverage = rapid.Permutation(r.Coverage).Draw(t, "coverage")
		shuffled.Scan.Declarations = rapid.Permutation(r.Scan.Declarations).Draw(t, "declarations")
		for _, format := range Formats() {
			var a, b strings.Builder
			if err := errors.Join(Write(&a, format, r, terminal), Write(&b, format, shuffled, terminal)); err != nil {
				t.Fatal(err)
			}
			if a.String() != b.String() {
				t.Fatalf("%s depends on the order:\n%s\n%s", format, a.String(), b.String())
			}
		}
	})
}

func TestRichReportInAnyOrder(t *testing.T) {
	t.Parallel()
	r := rich()
	random := rand.New(rand.NewPCG(1, 2))
	for _, format := range Formats() {
		want := write(t, format, r, terminal)
		for range 5 {
			shuffled := r
			shuffled.Findings, shuffled.Coverage = slices.Clone(r.Findings), slices.Clone(r.Coverage)
			random.Shuffle(len(shuffled.Findings), func(i, j int) {
				shuffled.Findings[i], shuffled.Findings[j] = shuffled.Findings[j], shuffled.Findings[i]
			})
			slices.Reverse(shuffled.Coverage)
			if write(t, format, shuffled, terminal) != want {
				t.Errorf("%s depends on the order of findings", format)
			}
		}
	}
}

func TestWriteChangesNothing(t *testing.T) {
	t.Parallel()
	r := rich()
	before := fmt.Sprintf("%+v", r)
	for _, format := range Formats() {
		write(t, format, r, terminal)
	}
	if fmt.Sprintf("%+v", r) != before {
		t.Error("writing a report changed it")
	}
}

// everything writes a report in every format, and its findings through every
// verb.
func everything(r model.Report, o Options) (map[string]string, error) {
	out := map[string]string{}
	var failed error
	put := func(name string, write func(w io.Writer) error) {
		var b strings.Builder
		failed = errors.Join(failed, write(&b))
		out[name] = b.String()
	}
	for _, format := range Formats() {
		put(format, func(w io.Writer) error { return Write(w, format, r, o) })
	}
	for _, format := range []string{"table", "json"} {
		put("list "+format, func(w io.Writer) error { return WriteFindings(w, format, r.Findings, o) })
		for i, f := range r.Findings {
			versions := []Version{{At: now, Finding: f}}
			entries := []HistoryEntry{{At: now, Actor: f.Actor, Changes: f.Changes}}
			diffs := []ResourceDiff{{Key: f.Key, Kind: Changed, At: now, Actor: f.Actor, Changes: f.Changes}}
			if len(f.Changes) > 0 {
				entries[0].Value = f.Changes[0].Live
			}
			put(fmt.Sprint("show ", format, i), func(w io.Writer) error { return WriteFinding(w, format, f, versions, o) })
			put(fmt.Sprint("history ", format, i), func(w io.Writer) error { return WriteHistory(w, format, f.Key, entries, o) })
			put(fmt.Sprint("diff ", format, i), func(w io.Writer) error { return WriteDiff(w, format, diffs, o) })
		}
	}
	return out, failed
}

func TestNoDigestIsEverWritten(t *testing.T) {
	t.Parallel()
	check := func(fatalf func(string, ...any), r model.Report) {
		out, err := everything(r, terminal)
		if err != nil {
			fatalf("%v", err)
		}
		for name, got := range out {
			if strings.Contains(got, digest) {
				fatalf("%s shows a digest:\n%s", name, got)
			}
		}
	}
	check(t.Fatalf, rich())
	check(t.Fatalf, threeWays())
	rapid.Check(t, func(t *rapid.T) { check(t.Fatalf, anyReport(t)) })
}

// TestNothingIsForged looks at what a terminal, a browser or a parser would
// take for a command.
func TestNothingIsForged(t *testing.T) {
	t.Parallel()
	check := func(fatalf func(string, ...any), r model.Report) {
		out, err := everything(r, Options{Width: 80, Now: now})
		if err != nil {
			fatalf("%v", err)
		}
		for name, got := range out {
			if i := strings.IndexFunc(got, func(c rune) bool { return c != '\n' && !phrase.Prints(c) }); i >= 0 {
				fatalf("%s has a raw control character in %q", name, got[max(0, i-20):i+4])
			}
		}
		if page := out["html"]; strings.Contains(page, "<script") || strings.Contains(page, "<img") {
			fatalf("the page has a foreign element:\n%s", page)
		}
		if err := wellFormed(out["junit"]); err != nil {
			fatalf("%v:\n%s", err, out["junit"])
		}
	}
	check(t.Fatalf, rich())
	check(t.Fatalf, threeWays())
	rapid.Check(t, func(t *rapid.T) { check(t.Fatalf, anyReport(t)) })
}

func wellFormed(document string) error {
	d := xml.NewDecoder(strings.NewReader(document))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestNoLineIsForged counts lines: a report of hostile names has as many as
// one of tame names.
func TestNoLineIsForged(t *testing.T) {
	t.Parallel()
	tame := finding("1", model.Missing, model.High, "Service/shop/web")
	wild := tame
	wild.ID, wild.Name, wild.Source, wild.Declaration, wild.Address, wild.Actor.Name, wild.Actor.Via, wild.Key.ID =
		"1\n2", "a\nb", "a\r\nb", "a\vb", "a\u2028b", "a\u0085b", "a\fb", "\n\n"
	tame.Name = "other"
	for _, format := range []string{"table", "markdown"} {
		want := write(t, format, model.Report{Findings: []model.Finding{tame}}, Options{})
		got := write(t, format, model.Report{Findings: []model.Finding{wild}}, Options{})
		if strings.Count(got, "\n") != strings.Count(want, "\n") {
			t.Errorf("%s: got\n%s\nwant as many lines as\n%s", format, got, want)
		}
	}
}
