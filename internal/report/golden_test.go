package report

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; read the difference, then run with -update (-want +got):\n%s", path, diff)
	}
}

var terminal = Options{Color: true, Width: 100, Now: now, RelativeTime: true}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		format string
		report model.Report
		o      Options
	}{
		"rich.table.txt":     {reason: "a pipe: long values cut, absolute times", format: "table", report: rich(), o: Options{Now: now}},
		"rich.terminal.txt":  {reason: "a terminal: color, cut values, relative times", format: "table", report: rich(), o: terminal},
		"rich.json":          {reason: "a program reads it", format: "json", report: rich()},
		"rich.md":            {reason: "an issue or a merge request", format: "markdown", report: rich()},
		"rich.html":          {reason: "a page", format: "html", report: rich()},
		"rich.sarif":         {reason: "a code scanner's page", format: "sarif", report: rich()},
		"rich.github.txt":    {reason: "annotations", format: "github", report: rich(), o: inRepository},
		"rich.gitlab.json":   {reason: "code quality", format: "gitlab", report: rich(), o: inRepository},
		"rich.comment.md":    {reason: "the body of a comment", format: "comment", report: rich()},
		"rich.junit.xml":     {reason: "a CI system's page", format: "junit", report: rich()},
		"three.table.txt":    {reason: "three sides, and one cause", format: "table", report: threeWays(), o: Options{Now: now}},
		"three.terminal.txt": {reason: "the same on a terminal", format: "table", report: threeWays(), o: terminal},
		"three.json":         {reason: "every finding of a cause", format: "json", report: threeWays()},
		"three.md":           {reason: "a dispute as a table", format: "markdown", report: threeWays()},
		"three.html":         {reason: "the same on a page", format: "html", report: threeWays()},
		"three.sarif":        {reason: "a result for each finding", format: "sarif", report: threeWays()},
		"three.junit.xml":    {reason: "a case for each finding", format: "junit", report: threeWays()},
		"calm.table.txt":     {reason: "nothing drifted: one line", format: "table", report: calm(), o: Options{Now: now}},
		"calm.json":          {reason: "no list is null", format: "json", report: calm()},
		"calm.md":            {reason: "nothing drifted", format: "markdown", report: calm()},
		"calm.html":          {reason: "nothing drifted", format: "html", report: calm()},
		"calm.sarif":         {reason: "nothing drifted", format: "sarif", report: calm()},
		"calm.github.txt":    {reason: "annotations", format: "github", report: calm(), o: inRepository},
		"calm.gitlab.json":   {reason: "code quality", format: "gitlab", report: calm(), o: inRepository},
		"calm.comment.md":    {reason: "the body of a comment", format: "comment", report: calm()},
		"calm.junit.xml":     {reason: "nothing drifted", format: "junit", report: calm()},
		"calm.terminal.txt":  {reason: "nothing drifted, in green", format: "table", report: calm(), o: terminal},
		"empty.terminal.txt": {reason: "a report of nothing", format: "table", o: terminal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, write(t, tc.format, tc.report, tc.o))
		})
	}
}

func history() []HistoryEntry {
	whole := tree("web", *sealed("9"))
	return []HistoryEntry{
		{At: earlier(72 * time.Hour), Actor: model.Actor{Name: "driftd-test", Confidence: model.Exact}, Value: whole},
		{At: earlier(time.Hour), Gone: true, Actor: model.UnknownActor("the source keeps no record of deletions")},
		{At: earlier(26 * time.Hour), Actor: model.Actor{Name: "kubectl-edit", Confidence: model.Likely}, Value: whole,
			Changes: []model.Change{
				{Path: "data.password", Recorded: sealed("1"), Live: sealed("2")},
				{Path: "data.script", Recorded: text("a\nb\n"), Live: text("a\nc\n")},
				{Path: "spec.replicas", Recorded: number(1), Live: number(2)},
			}},
	}
}

func differences() []ResourceDiff {
	actor := model.Actor{Name: "kubectl-edit", At: earlier(time.Hour), Confidence: model.Likely}
	key := func(id string) model.Key {
		return model.Key{Source: "prod", Kind: "kubernetes/ConfigMap", ID: id}
	}
	return []ResourceDiff{
		{Key: key("shop/new"), Kind: Added, At: earlier(time.Hour), Actor: actor},
		{Key: key("shop/gone"), Kind: Removed, At: earlier(2 * time.Hour), Actor: model.UnknownActor("no record")},
		{Key: key("shop/\x1b[1mmine"), Kind: Changed, At: earlier(time.Hour), Actor: actor,
			Changes: history()[2].Changes},
	}
}

func exemptions() []model.Exemption {
	web := model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/web"}
	hook := model.Key{Source: "prod", Kind: "kubernetes/ValidatingWebhookConfiguration.admissionregistration.k8s.io", ID: "check"}
	return []model.Exemption{
		{Key: web, Declaration: "shop", Path: `metadata.annotations["deployment.kubernetes.io/revision"]`, Live: "7", Writer: "kube-controller-manager",
			Why: "field manager kube-controller-manager in the table"},
		{Key: web, Declaration: "shop", Path: "spec.replicas", Live: "3", Writer: "HorizontalPodAutoscaler web", Why: "decided by another declared object"},
		{Key: hook, Declaration: "shop", Path: "webhooks[name=a.b.c].clientConfig.caBundle", Live: "LS0t\x1b[1m", Why: "no field manager"},
	}
}

func versions() []Version {
	first := conflict()
	first.Verdict, first.Severity, first.Changes = model.Changed, model.High, first.Changes[:1]
	return []Version{{At: earlier(26 * time.Hour), Finding: first}, {At: earlier(time.Hour), Finding: conflict()}}
}

// writers are the other verbs' output, by golden file.
func verbs() map[string]func(w io.Writer, format string, o Options) error {
	show := func(f model.Finding, v []Version) func(io.Writer, string, Options) error {
		return func(w io.Writer, format string, o Options) error { return WriteFinding(w, format, f, v, o) }
	}
	return map[string]func(w io.Writer, format string, o Options) error{
		"show-conflict":  show(conflict(), versions()),
		"show-configmap": show(configMap(), nil),
		"show-secrets":   show(secrets(), nil),
		"show-disputed":  show(disputed(), nil),
		"show-hostile":   show(hostile(), nil),
		"show-argued":    show(argued(), nil),
		"show-lacking":   show(triangle()[0], nil),
		"show-message":   show(triangle()[4], nil),
		"show-missing":   show(missing(), nil),
		"show-accepted":  show(accepted(), nil),
		"hidden": func(w io.Writer, format string, o Options) error {
			return WriteHidden(w, format, rules(), quiet(), o)
		},
		"hidden-empty": func(w io.Writer, format string, o Options) error {
			return WriteHidden(w, format, nil, []model.Finding{conflict()}, o)
		},
		"exemptions": func(w io.Writer, format string, o Options) error {
			return WriteExemptions(w, format, exemptions(), 1002, o)
		},
		"exemptions-empty": func(w io.Writer, format string, o Options) error { return WriteExemptions(w, format, nil, 0, o) },
		"decisions": func(w io.Writer, format string, o Options) error {
			return WriteDecisions(w, format, decisions(), o)
		},
		"decisions-empty": func(w io.Writer, format string, o Options) error { return WriteDecisions(w, format, nil, o) },
		"list": func(w io.Writer, format string, o Options) error {
			return WriteFindings(w, format, rich().Findings, o)
		},
		"list-empty": func(w io.Writer, format string, o Options) error { return WriteFindings(w, format, nil, o) },
		"history": func(w io.Writer, format string, o Options) error {
			return WriteHistory(w, format, conflict().Key, history(), o)
		},
		"diff":       func(w io.Writer, format string, o Options) error { return WriteDiff(w, format, differences(), o) },
		"diff-empty": func(w io.Writer, format string, o Options) error { return WriteDiff(w, format, nil, o) },
	}
}

func TestGoldenVerbs(t *testing.T) {
	t.Parallel()
	for name, verb := range verbs() {
		for file, o := range map[string]Options{
			name + ".table.txt":    {Now: now},
			name + ".terminal.txt": terminal,
			name + ".json":         {},
		} {
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				format := "table"
				if strings.HasSuffix(file, ".json") {
					format = "json"
				}
				var b strings.Builder
				if err := verb(&b, format, o); err != nil {
					t.Fatal(err)
				}
				golden(t, file, b.String())
			})
		}
	}
}
