package deploy_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// A rulesFile is prometheus/rules.yaml.
type rulesFile struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	} `yaml:"groups"`
}

type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        expression        `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// A rulesTest is prometheus/rules_test.yaml.
type rulesTest struct {
	RuleFiles          []string      `yaml:"rule_files"`
	EvaluationInterval time.Duration `yaml:"evaluation_interval"`
	Tests              []struct {
		Name        string        `yaml:"name"`
		Interval    time.Duration `yaml:"interval"`
		InputSeries []struct {
			Series expression `yaml:"series"`
			Values string     `yaml:"values"`
		} `yaml:"input_series"`
		AlertRuleTest []struct {
			EvalTime  string      `yaml:"eval_time"`
			Alertname string      `yaml:"alertname"`
			ExpAlerts []yaml.Node `yaml:"exp_alerts"`
		} `yaml:"alert_rule_test"`
	} `yaml:"tests"`
}

func rules(t *testing.T) []rule {
	t.Helper()
	var file rulesFile
	read(t, "prometheus/rules.yaml", &file)
	var list []rule
	for _, g := range file.Groups {
		list = append(list, g.Rules...)
	}
	if len(list) == 0 {
		t.Fatal("there are no rules")
	}
	return list
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("decode %s: %v", path, err)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	known := exported(t)
	template := regexp.MustCompile(`\$labels\.([a-z_]+)`)
	for _, r := range rules(t) {
		var shown []string
		for _, texts := range []map[string]string{r.Labels, r.Annotations} {
			for _, text := range texts {
				shown = append(shown, submatches(template, text)...)
			}
		}
		r.Expr.check(t, known, shown...)
		if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s lacks a severity, a summary or a description", r.Alert)
		}
	}
}

func TestRulesAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/prometheus.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rules(t) {
		names = append(names, r.Alert)
	}
	documented := submatches(regexp.MustCompile(`(?m)^\| (Driftd[A-Za-z]+) \|`), string(text))
	if diff := cmp.Diff(names, documented); diff != "" {
		t.Errorf("the rules and docs/prometheus.md differ (-rules +docs):\n%s", diff)
	}
}

// TestRulesAreTested wants each alert tested both ways, by series that driftd
// has.
func TestRulesAreTested(t *testing.T) {
	t.Parallel()
	var file rulesTest
	read(t, "prometheus/rules_test.yaml", &file)
	known := exported(t)
	foreign := []expression{`up{job="node"}`} // of a Prometheus without driftd
	fires, quiet := map[string]bool{}, map[string]bool{}
	for _, test := range file.Tests {
		for _, s := range test.InputSeries {
			if !slices.Contains(foreign, s.Series) {
				s.Series.check(t, known)
			}
		}
		for _, a := range test.AlertRuleTest {
			if len(a.ExpAlerts) > 0 {
				fires[a.Alertname] = true
			} else {
				quiet[a.Alertname] = true
			}
		}
	}
	for _, r := range rules(t) {
		if !fires[r.Alert] || !quiet[r.Alert] {
			t.Errorf("%s is tested to fire: %t, to be quiet: %t", r.Alert, fires[r.Alert], quiet[r.Alert])
		}
		delete(fires, r.Alert)
	}
	for name := range fires {
		t.Errorf("%s is tested, and no alert", name)
	}
}
