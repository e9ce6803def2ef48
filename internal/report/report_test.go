package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	for format, tc := range map[string]struct{ reason, want string }{
		"jsn":      {"a letter is missing", `did you mean "json"?`},
		"JSON":     {"formats are lower case", `did you mean "json"?`},
		"md":       {"an abbreviation", `did you mean "markdown"?`},
		"tabel":    {"two letters are swapped", `did you mean "table"?`},
		"TX":       {"nothing is near", "want one of table, json, markdown, html, sarif, junit"},
		"yaml":     {"html is another word", `unknown format "yaml": want one of table, json`},
		"htm":      {"an old name", `unknown format "htm": did you mean "html"?`},
		"":         {"nothing is some format, too", "want one of table, json, markdown, html, sarif, junit"},
		"\x1b[2Jx": {"what is shown is quoted", `"\x1b[2Jx"`},
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			err := Write(&b, format, rich(), Options{})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q in it", tc.reason, err, tc.want)
			}
			if b.Len() > 0 {
				t.Errorf("%s: %d bytes were written", tc.reason, b.Len())
			}
		})
	}
}

func TestVerbsRefuseOtherFormats(t *testing.T) {
	t.Parallel()
	for name, verb := range verbs() {
		err := verb(io.Discard, "html", Options{})
		if want := "want one of table"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", name, err, want)
		}
	}
}

var errFull = errors.New("no space left on device")

// A full writer takes so many bytes and no more.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.left {
		return 0, errFull
	}
	f.left -= len(b)
	return len(b), nil
}

func TestWriteReportsThatItCannot(t *testing.T) {
	t.Parallel()
	many := rich()
	for range 20 {
		many.Findings = append(many.Findings, rich().Findings...)
	}
	for _, format := range Formats() {
		limits := []int{0, 1 << 16}
		if format == "github" || format == "comment" { // these are shorter than the second limit
			limits = limits[:1]
		}
		for _, left := range limits {
			if err := Write(&full{left: left}, format, many, Options{}); !errors.Is(err, errFull) {
				t.Errorf("%s after %d bytes: got %v, want %v", format, left, err, errFull)
			}
		}
	}
	for name, verb := range verbs() {
		for _, format := range []string{"table", "json"} {
			if err := verb(&full{}, format, Options{}); !errors.Is(err, errFull) {
				t.Errorf("%s %s: got %v, want %v", name, format, err, errFull)
			}
		}
	}
}

func TestHeadline(t *testing.T) {
	t.Parallel()
	drifted := []model.Finding{missing(), conflict()}
	ignored := missing()
	ignored.Hidden = "noise"
	for name, tc := range map[string]struct {
		reason string
		report model.Report
		want   string
		calm   bool
	}{
		"in sync": {reason: "all was looked at, nothing differs", report: calm(),
			want: "Nothing drifted, 412 in sync", calm: true},
		"incomplete": {reason: "what was not read may have drifted",
			report: model.Report{Summary: model.Summary{InSync: 2}}, want: "Nothing drifted, 2 in sync"},
		"unchecked": {reason: "unchecked is not in sync",
			report: model.Report{Scan: model.Scan{Complete: true}, Findings: unread(),
				Summary: model.Summary{InSync: 2, Unchecked: 42}},
			want: "Nothing drifted, 42 unchecked, 2 in sync"},
		"drifted": {reason: "the worst comes first",
			report: model.Report{Findings: drifted, Summary: model.Summary{InSync: 1, Findings: 2}}, want: "2 drifted, 1 in sync"},
		"filtered": {reason: "a filter does not make drift go away",
			report: model.Report{Scan: model.Scan{Complete: true}, Summary: model.Summary{InSync: 1, Findings: 2}},
			want:   "No drift matches the filters, 1 in sync, 2 findings not shown"},
		"unchecked filtered": {reason: "nor does it check anything",
			report: model.Report{Scan: model.Scan{Complete: true}, Summary: model.Summary{InSync: 1, Unchecked: 3}},
			want:   "No drift matches the filters, 1 in sync, 3 findings not shown"},
		"ignored": {reason: "what a rule hides is no drift, and does not stand for what a filter does",
			report: model.Report{Findings: []model.Finding{ignored}, Summary: model.Summary{Findings: 1}},
			want:   "No drift matches the filters, 0 in sync, 1 finding not shown"},
		"accepted": {reason: "peace has a price: it is said",
			report: model.Report{Scan: model.Scan{Complete: true}, Summary: model.Summary{InSync: 1, Accepted: 3, Hidden: 1200}},
			want:   "Nothing drifted, 1 in sync, 3 accepted, 1,200 hidden", calm: true},
		"exempt": {
			reason: "fields that are not drift are counted", report: model.Report{Summary: model.Summary{InSync: 1, Exempt: 1200}, Scan: model.Scan{Complete: true}},
			want: "Nothing drifted, 1 in sync, 1,200 fields exempt", calm: true},
		"two claims": {reason: "a resource counts once",
			report: model.Report{Findings: []model.Finding{unread()[0], unread()[0]}, Summary: model.Summary{Unchecked: 1}},
			want:   "Nothing could be checked, 1 unchecked, 0 in sync"},
		"some filtered": {reason: "what is not shown is counted",
			report: model.Report{Findings: drifted, Summary: model.Summary{Findings: 3}},
			want:   "2 drifted, 0 in sync, 1 finding not shown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, calm := newOutline(&tc.report, phrase.Clock{}).headline()
			if got != tc.want || calm != tc.calm {
				t.Errorf("%s: got %q, calm %t, want %q, calm %t", tc.reason, got, calm, tc.want, tc.calm)
			}
		})
	}
}

func TestWorstFirst(t *testing.T) {
	t.Parallel()
	over := finding("over", model.Conflict, model.Critical, "Service/shop/a")
	over.Resolved = now
	exposed, older := finding("high exposed", model.Changed, model.High, "Service/shop/z"), finding("high older", model.Missing, model.High, "Service/shop/z")
	exposed.Exposure = model.ExposesReach
	older.FirstSeen = older.FirstSeen.Add(-time.Hour)
	want := []string{"critical missing", "high exposed", "high older", "high changed a", "high changed b", "high missing", "low conflict", "over"}
	sorted := WorstFirst([]model.Finding{
		over,
		finding("low conflict", model.Conflict, model.Low, "Service/shop/a"),
		finding("high changed b", model.Changed, model.High, "Service/shop/b"),
		finding("high changed a", model.Changed, model.High, "Service/shop/a"),
		finding("high missing", model.Missing, model.High, "Service/shop/z"), older, exposed,
		finding("critical missing", model.Missing, model.Critical, "Service/shop/z"),
	})
	got := make([]string, len(sorted))
	for i, f := range sorted {
		got[i] = f.ID
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestManyFieldsAreCounted(t *testing.T) {
	t.Parallel()
	f := conflict()
	f.Changes = nil
	for i := range 500 {
		f.Changes = append(f.Changes, model.Change{Path: fmt.Sprintf("spec.field%03d", i), Live: number(1)})
	}
	r := model.Report{Findings: []model.Finding{f}}
	for _, format := range []string{"table", "markdown", "html", "sarif", "junit"} {
		if got := write(t, format, r, Options{}); !strings.Contains(got, "and 480 more fields") {
			t.Errorf("%s does not say that 480 fields are left out", format)
		}
	}
	for format, want := range map[string]int{"json": 500, "table": 20} {
		if got := strings.Count(write(t, format, r, Options{}), "spec.field"); got != want {
			t.Errorf("%s shows %d fields, want %d", format, got, want)
		}
	}
}

func TestJUnitCounts(t *testing.T) {
	t.Parallel()
	type cases struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Cases    []struct {
			Failure *struct{} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	}
	var got struct {
		Tests    int     `xml:"tests,attr"`
		Failures int     `xml:"failures,attr"`
		Suites   []cases `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(write(t, "junit", rich(), Options{})), &got); err != nil {
		t.Fatal(err)
	}
	var names []string
	tests, failures := 0, 0
	for _, s := range got.Suites {
		failed, skipped := 0, 0
		for _, c := range s.Cases {
			if c.Failure != nil {
				failed++
			}
			if c.Skipped != nil {
				skipped++
			}
		}
		if s.Tests != len(s.Cases) || s.Failures != failed || s.Skipped != skipped {
			t.Errorf("suite %s says %d tests, %d failures, %d skipped and has %d, %d, %d",
				s.Name, s.Tests, s.Failures, s.Skipped, len(s.Cases), failed, skipped)
		}
		names = append(names, s.Name)
		tests, failures = tests+len(s.Cases), failures+failed
	}
	if got.Tests != tests || got.Failures != failures || failures != 11 {
		t.Errorf("the whole says %d tests, %d failures and has %d, %d, want 11 failures", got.Tests, got.Failures, tests, failures)
	}
	if diff := cmp.Diff([]string{"driftd", "edge", "prod", "pve"}, names); diff != "" {
		t.Errorf("suites (-want +got):\n%s", diff)
	}
}

func TestSARIFFile(t *testing.T) {
	t.Parallel()
	for address, tc := range map[string]struct {
		reason, uri string
		line        int
	}{
		"deploy/web.yaml:12":           {"file and line", "deploy/web.yaml", 12},
		"deploy/kustomization.yaml":    {"a rendered folder has no line", "deploy/kustomization.yaml", 0},
		"my deploy/a#b?.yaml:3":        {"a name that is no URI yet", "my%20deploy/a%23b%3F.yaml", 3},
		"a:b/web.yaml:3":               {"a colon that looks like a scheme", "./a:b/web.yaml", 3},
		"/etc/deploy/web.yaml:3":       {"an absolute path has no relative form", "file:///etc/deploy/web.yaml", 3},
		"module.db.proxmox_vm_qemu.db": {"a Terraform address is no file", "", 0},
		"proxmox_vm_qemu.db[0]":        {"a Terraform address is no file", "", 0},
		"web.yaml:0":                   {"lines begin at 1", "", 0},
		"":                             {"declared nowhere", "", 0},
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			got := sarifFile(Options{}.file(&model.Finding{Address: address}))
			switch {
			case got == nil:
				if tc.uri != "" {
					t.Errorf("%s: got no file, want %s", tc.reason, tc.uri)
				}
			case got.Artifact.URI != tc.uri, got.Region == nil != (tc.line == 0), got.Region != nil && got.Region.StartLine != tc.line:
				t.Errorf("%s: got %+v, line %+v, want %s, line %d", tc.reason, got.Artifact, got.Region, tc.uri, tc.line)
			}
		})
	}
}

func TestPageHasNoForeignElement(t *testing.T) {
	t.Parallel()
	linked := map[string]bool{}
	for _, l := range conflict().Links {
		linked[l.URL] = true
	}
	page, err := html.Parse(strings.NewReader(write(t, "html", rich(), Options{})))
	if err != nil {
		t.Fatal(err)
	}
	for n := range page.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "img", "b", "iframe", "link", "form", "object":
			t.Errorf("the page has a %s", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" && !(n.Data == "a" && linked[a.Val]) || a.Key == "style" {
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			}
		}
	}
}

func TestMarkdownCode(t *testing.T) {
	t.Parallel()
	for in, tc := range map[string]struct{ reason, want string }{
		"shop/web":   {"plain text stands between backticks", "`shop/web`"},
		"@team #12":  {"nothing is a mention in code", "`@team #12`"},
		"":           {"empty code is no code", "`(none)`"},
		"a`b":        {"a backtick would end it", "<code>a&#96;b</code>"},
		"a|b":        {"a bar would end the cell", "<code>a&#124;b</code>"},
		"<b>&amp;":   {"tags and references are text", "<code>&#60;b&#62;&#38;amp&#59;</code>"},
		`a\|b @t`:    {"a backslash would escape the escape", "<code>a&#92;&#124;b &#64;t</code>"},
		" a":         {"a space at the edge would be lost", "<code> a</code>"},
		"*x*_y_[z]|": {"nothing is emphasis in character references", "<code>&#42;x&#42;&#95;y&#95;&#91;z&#93;&#124;</code>"},
	} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			if got := code(in); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// large has so many findings of three fields each.
func large(n int) model.Report {
	r := model.Report{Scan: model.Scan{ID: "large", Started: now, Finished: now, Complete: true}, Summary: model.Summary{Findings: n}}
	for i := range n {
		f := finding(fmt.Sprintf("%08x", i), model.Changed, model.Severities()[i%5], fmt.Sprintf("Deployment.apps/shop/web-%d", i))
		f.Changes = []model.Change{
			{Path: "spec.replicas", Declared: number(3), Recorded: number(3), Live: number(5)},
			{Path: image, Declared: text("web:1.4"), Recorded: text("web:1.4"), Live: text("web:1.5-hotfix")},
			{Path: `data["nginx.conf"]`, Declared: text(nginx), Live: text(strings.Replace(nginx, "80", "8080", 1))},
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

func BenchmarkWrite(b *testing.B) {
	r := large(10_000)
	for _, format := range Formats() {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := Write(io.Discard, format, r, Options{Width: 100, Now: now, RelativeTime: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
