package report

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// inRepository are options for a repository that has every relative file below "ops".
var inRepository = Options{Files: func(_, file string) (string, bool) { return path.Join("ops", file), !path.IsAbs(file) }}

// crowd returns a report with n findings of one severity.
func crowd(n int, severity model.Severity) model.Report {
	r := calm()
	for i := range n {
		r.Findings = append(r.Findings, finding(fmt.Sprintf("%08x", i), model.Changed, severity, fmt.Sprintf("Service/shop/web-%04d", i)))
	}
	r.Summary.Findings = n
	return r
}

// awkward is text that tries to end a command, a table or a comment.
const awkward = "a\n::error::x\r##[stop-commands]y %0A::warning::z <script> --> <!-- driftd scan --> @team | ``` 🚀"

func hostileCrowd() model.Report {
	r := crowd(3, model.High)
	f := &r.Findings[0]
	f.Source, f.Key.ID, f.Name, f.Declaration, f.Reason, f.Actor.Name = awkward, awkward, awkward, awkward, awkward, awkward
	f.Address = "deploy/a,b:c%0A.yaml:3"
	f.Changes = []model.Change{{Path: awkward, Declared: text(awkward), Live: text("x")}}
	return r
}

// A command is a workflow command as the runner reads it.
type command struct {
	name, data string
	properties map[string]string
}

// runnerRead reads one line as the runner of GitHub Actions does.
func runnerRead(line string) (c command, ok bool) {
	line, ok = strings.CutPrefix(strings.TrimLeft(line, " \t"), "::")
	info, data, found := strings.Cut(line, "::")
	if !ok || !found {
		return c, false
	}
	name, list, _ := strings.Cut(info, " ")
	c = command{name, strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(data), map[string]string{}}
	for pair := range strings.SplitSeq(list, ",") {
		key, value, _ := strings.Cut(pair, "=")
		c.properties[key] = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(value)
	}
	return c, true
}

func readCommands(fatalf func(string, ...any), out string) map[string][]command {
	byName := map[string][]command{}
	for line := range strings.Lines(out) {
		c, ok := runnerRead(strings.TrimSuffix(line, "\n"))
		if !ok {
			fatalf("%q is no workflow command", line)
		}
		byName[c.name] = append(byName[c.name], c)
	}
	return byName
}

func TestGitHubBoundsAnnotations(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason                    string
		report                    model.Report
		errors, warnings, notices int
		last                      string
	}{
		"none":     {"nothing drifted", calm(), 0, 0, 0, ""},
		"ten":      {"all are shown", crowd(10, model.Critical), 10, 0, 0, ""},
		"many":     {"the rest is counted", crowd(3000, model.High), 10, 0, 1, "2,990 more findings"},
		"warnings": {"a limit for each level", crowd(11, model.Medium), 0, 10, 1, "1 more finding:"},
		"notices":  {"the count has a place among the notices", crowd(10, model.Low), 0, 0, 10, "1 more finding:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := readCommands(t.Fatalf, write(t, "github", tc.report, inRepository))
			if len(got["error"]) != tc.errors || len(got["warning"]) != tc.warnings || len(got["notice"]) != tc.notices {
				t.Errorf("%s: %d errors, %d warnings, %d notices", tc.reason, len(got["error"]), len(got["warning"]), len(got["notice"]))
			}
			if n := got["notice"]; tc.last != "" && !strings.HasPrefix(n[len(n)-1].data, tc.last) {
				t.Errorf("%s: the last notice is %q", tc.reason, n[len(n)-1].data)
			}
		})
	}
}

func TestGitHubAnnotation(t *testing.T) {
	t.Parallel()
	r := crowd(1, model.High)
	c := readCommands(t.Fatalf, write(t, "github", r, inRepository))["error"][0]
	if c.properties["file"] != "ops/deploy/web-0000.yaml" || c.properties["line"] != "12" || c.properties["title"] != "HIGH changed: Service shop/web-0000" {
		t.Errorf("got %v", c.properties)
	}
	r.Findings[0].Address, r.Findings[0].Position = "module.net.lab_net.web[\"x.yaml:3\"]", "infra/main.tf.json:7"
	if c := readCommands(t.Fatalf, write(t, "github", r, inRepository))["error"][0]; c.properties["file"] != "ops/infra/main.tf.json" || c.properties["line"] != "7" {
		t.Errorf("a Terraform address with a position: got %v", c.properties)
	}
	r.Findings[0].Address, r.Findings[0].Position = "/elsewhere/web.yaml:3", ""
	for reason, o := range map[string]Options{"a file outside of the repository": inRepository, "no repository": {}} {
		if c := readCommands(t.Fatalf, write(t, "github", r, o))["error"][0]; c.properties["file"] != "" || c.properties["line"] != "" {
			t.Errorf("%s: got %v", reason, c.properties)
		}
	}
	r.Findings[0].Decision = accepted().Decision
	if got := write(t, "github", r, inRepository); got != "" {
		t.Errorf("an accepted finding is annotated: %s", got)
	}
	r = rich()
	if c := readCommands(t.Fatalf, write(t, "github", r, inRepository))["warning"][0]; !strings.HasPrefix(c.data, "Not checked: 1 source unreachable") {
		t.Errorf("the first warning is %q", c.data)
	}
}

// TestGitHubForgesNothing checks that text can neither start a command nor change another one.
func TestGitHubForgesNothing(t *testing.T) {
	t.Parallel()
	got := readCommands(t.Fatalf, write(t, "github", hostileCrowd(), inRepository))
	if len(got) != 1 || len(got["error"]) != 3 {
		t.Fatalf("got %v", got)
	}
	if file := got["error"][0].properties["file"]; file != "ops/deploy/a,b:c%0A.yaml" {
		t.Errorf("file=%q", file)
	}
	rapid.Check(t, func(t *rapid.T) {
		r := anyReport(t)
		for name, list := range readCommands(t.Fatalf, writeAny(t, "github", r)) {
			if len(list) > annotationLimit || !regexp.MustCompile("^(error|warning|notice)$").MatchString(name) {
				t.Fatalf("%d commands %q", len(list), name)
			}
			for _, c := range list {
				for property := range c.properties {
					if property != "file" && property != "line" && property != "title" {
						t.Fatalf("a property is forged: %q", property)
					}
				}
			}
		}
	})
}

func writeAny(t *rapid.T, format string, r model.Report) string {
	var b strings.Builder
	if err := Write(&b, format, r, inRepository); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGitLabIsCodeQuality checks what GitLab documents of a Code Quality report: the required
// members, the severities, unique fingerprints, and paths that are relative and have no "./".
func TestGitLabIsCodeQuality(t *testing.T) {
	t.Parallel()
	check := func(fatalf func(string, ...any), out string, want int) {
		var issues []qualityIssue
		d := json.NewDecoder(strings.NewReader(out))
		d.DisallowUnknownFields()
		if err := d.Decode(&issues); err != nil {
			fatalf("%v:\n%s", err, out)
		}
		if want >= 0 && len(issues) != want {
			fatalf("%d issues, want %d", len(issues), want)
		}
		seen := map[string]bool{}
		for _, i := range issues {
			if i.Description == "" || i.Check == "" || seen[i.Fingerprint] || i.Location.Path == "" || i.Location.Lines.Begin < 1 ||
				!regexp.MustCompile("^(info|minor|major|critical|blocker)$").MatchString(i.Severity) ||
				strings.HasPrefix(i.Location.Path, "/") || strings.HasPrefix(i.Location.Path, "./") {
				fatalf("bad issue %+v", i)
			}
			seen[i.Fingerprint] = true
		}
	}
	check(t.Fatalf, write(t, "gitlab", calm(), inRepository), 0)
	check(t.Fatalf, write(t, "gitlab", crowd(3000, model.Low), inRepository), 3000)
	check(t.Fatalf, write(t, "gitlab", hostileCrowd(), inRepository), 3)
	if write(t, "gitlab", calm(), Options{}) != "[]\n" {
		t.Errorf("an empty report is %q", write(t, "gitlab", calm(), Options{}))
	}
	rapid.Check(t, func(t *rapid.T) { check(t.Fatalf, writeAny(t, "gitlab", anyReport(t)), -1) })
}

func TestGitLabFingerprintIsStable(t *testing.T) {
	t.Parallel()
	before, after := crowd(1, model.Low), crowd(1, model.High)
	after.Findings[0].Address, after.Findings[0].Reason = "deploy/web.yaml:99", "another"
	fingerprint := regexp.MustCompile(`"fingerprint":\s*"[0-9a-f]{32}"`)
	a, b := fingerprint.FindString(write(t, "gitlab", before, inRepository)), fingerprint.FindString(write(t, "gitlab", after, inRepository))
	if a == "" || a != b {
		t.Errorf("the fingerprints are %s and %s", a, b)
	}
}

// TestCommentIsBounded checks that a body is below GitHub's limit of 65,536 characters, counts
// what it leaves out, and has the marker once, as its first line.
func TestCommentIsBounded(t *testing.T) {
	t.Parallel()
	check := func(fatalf func(string, ...any), out string) {
		if len(out) > 65536 || !strings.HasPrefix(out, CommentMarker+"\n") || strings.Count(out, "<!--") != 1 || strings.Contains(out, "<script") {
			fatalf("%d bytes:\n%.2000s", len(out), out)
		}
	}
	big := write(t, "comment", crowd(3000, model.High), Options{})
	check(t.Fatalf, big)
	rows := strings.Count(big, "| high | changed |")
	if want := fmt.Sprintf("\nAnd %s more findings.\n", strings.Replace(fmt.Sprint(3000-rows), "2", "2,", 1)); rows == 0 || !strings.Contains(big, want) {
		t.Errorf("%d rows, and no %q:\n%s", rows, want, big[len(big)-200:])
	}
	wide := crowd(40, model.High)
	for i := range wide.Findings {
		wide.Findings[i].Key.ID = fmt.Sprint(i, strings.Repeat("<", 3000))
	}
	for _, r := range []model.Report{calm(), {}, rich(), threeWays(), hostileCrowd(), wide} {
		check(t.Fatalf, write(t, "comment", r, Options{}))
	}
	rapid.Check(t, func(t *rapid.T) { check(t.Fatalf, writeAny(t, "comment", anyReport(t))) })
}

// TestForeignFile checks that no format names a file of another repository as one of its own.
func TestForeignFile(t *testing.T) {
	t.Parallel()
	elsewhere := Options{Files: func(string, string) (string, bool) { return "", false }}
	f := model.Finding{ID: "a", Verdict: model.Changed, Severity: model.High, Key: model.Key{Source: "s", Kind: "k", ID: "x"}, Address: "lab_server.web", Position: "main.tf:12"}
	if at := elsewhere.file(&f); at != nil {
		t.Errorf("the location is %v, want none", at)
	}
	if at := (Options{}).file(&f); at == nil || *at != (Location{"main.tf", 12}) {
		t.Errorf("without a repository, the location is %v", at)
	}
}
