package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

func listed(t *testing.T, format string, findings []model.Finding, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := WriteFindings(&b, format, findings, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestListGolden(t *testing.T) {
	t.Parallel()
	narrow := Options{Width: 80, Now: now, RelativeTime: true}
	chosen := Options{Now: now, Columns: []string{"note", "id", "key", "first-seen"}}
	for name, tc := range map[string]struct {
		reason, format string
		o              Options
	}{
		"list.80.txt":      {"a terminal of 80 columns", "table", narrow},
		"list.wide.txt":    {"more columns", "wide", Options{Now: now}},
		"list.wide.80.txt": {"more columns than fit", "wide", narrow},
		"list.columns.txt": {"chosen columns, in their order", "table", chosen},
		"list.csv":         {"a spreadsheet", "csv", narrow},
		"list.columns.csv": {"chosen columns of a spreadsheet", "csv", chosen},
		"list.yaml":        {"the fields of JSON", "yaml", Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, listed(t, tc.format, rich().Findings, tc.o))
		})
	}
}

func TestListFits(t *testing.T) {
	t.Parallel()
	for _, width := range []int{40, 60, 80, 100, 200} {
		for _, format := range []string{"table", "wide"} {
			text := listed(t, format, rich().Findings, Options{Width: width, Now: now, RelativeTime: true})
			for line := range strings.Lines(text) {
				if n := phrase.Columns(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s: %d of %d columns: %s", format, n, width, line)
				}
			}
		}
	}
}

func TestListRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, format string
		columns        []string
		want           string
	}{
		{"a valid list", "csv", []string{"id"}, ""},
		{"an unknown format", "ymal", nil, `unknown format "ymal": did you mean "yaml"? (one of table, wide, json, yaml, csv)`},
		{"JSON has all fields", "json", []string{"id"}, "columns cannot be chosen for the format json, which has all fields: want table, wide or csv"},
		{"unknown columns", "wide", []string{"id", "wo", "zzz"}, `unknown column "wo" (did you mean "who"?), "zzz": want one of ` + strings.Join(Columns(), ", ")},
	} {
		got := ""
		var b strings.Builder
		if err := WriteFindings(&b, tc.format, nil, Options{Columns: tc.columns}); err != nil {
			got = err.Error()
		}
		if got != tc.want || got != "" && b.Len() > 0 {
			t.Errorf("%s: %q, and the output %q; want %q", tc.reason, got, b.String(), tc.want)
		}
	}
}

func TestCSVCell(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, text, want string }{
		{"a name", "web", "web"},
		{"nothing", "", ""},
		{"a formula", "=1+1", "'=1+1"},
		{"a plus", "+1", "'+1"},
		{"a minus", "-1", "'-1"},
		{"a function of old", "@sum(a1)", "'@sum(a1)"},
		{"a tab", "\t=1", `'\t=1`},
		{"a carriage return", "\r=1", `'\r=1`},
		{"a full-width sign", "＝1", "'＝1"},
		{"a sign inside", "a=1", "a=1"},
		{"another separator", "x;=1+1;y", "x;'=1+1;y"},
		{"a control character", "a\x1b[1m", `a\x1b[1m`},
	} {
		if got := csvCell(tc.text); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestYAMLReadsAsJSON compares the values of both forms.
func TestYAMLReadsAsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		f := conflict()
		f.Name, f.Owner = rapid.String().Draw(r, "name"), rapid.StringOf(rapid.RuneFrom([]rune("a: -#\n\t\x1b\u202e\U000e0001'\"{0"))).Draw(r, "owner")
		f.Labels = map[string]string{f.Owner: f.Name}
		var b strings.Builder
		if err := WriteFindings(&b, "yaml", []model.Finding{f}, Options{}); err != nil {
			r.Fatal(err)
		}
		if i := strings.IndexFunc(b.String(), hides); i >= 0 {
			r.Fatalf("a character that does not print at %d: %q", i, b.String())
		}
		var fromYAML, fromJSON any
		if err := yaml.Unmarshal([]byte(b.String()), &fromYAML); err != nil {
			r.Fatalf("%v: %s", err, b.String())
		}
		back, err := json.Marshal(fromYAML)
		if err != nil {
			r.Fatal(err)
		}
		b.Reset()
		if err := WriteFindings(&b, "json", []model.Finding{f}, Options{}); err != nil {
			r.Fatal(err)
		}
		var again any
		if err := json.Unmarshal(back, &again); err != nil {
			r.Fatal(err)
		}
		if err := json.Unmarshal([]byte(b.String()), &fromJSON); err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(fromJSON, again); diff != "" {
			r.Fatalf("-json +yaml:\n%s", diff)
		}
	})
}

func TestCSVReads(t *testing.T) {
	t.Parallel()
	rows, err := csv.NewReader(strings.NewReader(listed(t, "csv", rich().Findings, Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := len(rich().Findings) + 1; len(rows) != want || strings.Join(rows[0], ",") != csvColumns {
		t.Errorf("%d rows, the first of which is %v; want %d", len(rows), rows[0], want)
	}
}

// TestListOfManyParts verifies that the rows of a list that several goroutines write are those of its findings, in
// their order, and that its first line counts all of them.
func TestListOfManyParts(t *testing.T) {
	t.Parallel()
	var outlines []*model.Outline
	var want []string
	for i := range 3*partSize + 1 {
		o := &model.Outline{ID: fmt.Sprintf("%012x", i), Verdict: model.Changed, Severity: model.Severities()[i%3], Name: strings.Repeat("ä", i%7)}
		if i%5 == 0 {
			o.Verdict = model.Missing
		}
		outlines = append(outlines, o)
	}
	sorted := slices.Clone(outlines)
	model.SortOutlines(sorted)
	for _, o := range sorted {
		want = append(want, o.ID+" "+o.Name)
	}
	var b strings.Builder
	if err := WriteOutlines(&b, "table", outlines, Options{Columns: []string{"id", "name"}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if got, want := lines[0], "3,073 findings: 1,025 critical, 1,024 high, 1,024 medium; 615 missing, 2,458 changed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var got []string
	for _, line := range lines[2:] {
		id, name, _ := strings.Cut(line, "  ")
		got = append(got, id+" "+name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestListKeepsAPartOfALongCell verifies that a cell of any size needs a bounded memory.
func TestListKeepsAPartOfALongCell(t *testing.T) {
	t.Parallel()
	outlines := []*model.Outline{{ID: "a", Name: "begin" + strings.Repeat("x", 1<<20)}}
	p := newGridPart([]column{{name: "name", text: func(l line, _ phrase.Clock) string { return l.Name }}}, []line{{Outline: outlines[0]}}, phrase.Clock{}, []int{0})
	if len(p.text) > mostKept || !strings.HasPrefix(p.text, "begin") {
		t.Errorf("got %d bytes, which begin with %.8q", len(p.text), p.text)
	}
}
