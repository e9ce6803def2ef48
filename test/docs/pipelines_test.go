package docs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A job is a job of GitHub Actions or GitLab CI/CD, as far as it decides whether the apply runs.
type job struct {
	Needs  any
	Steps  []step
	Script []string
	// AllowFailure and ContinueOnError let a pipeline go on after a failure.
	AllowFailure struct {
		ExitCodes []int `yaml:"exit_codes"`
	} `yaml:"allow_failure"`
	ContinueOnError bool `yaml:"continue-on-error"`
}

// A step is a step of GitHub Actions.
type step struct {
	Run             string
	If              string
	Env             map[string]string
	ContinueOnError bool `yaml:"continue-on-error"`
}

// scripts returns the scripts of a job, in order, without those that always run.
func (j job) scripts() []string {
	list := slices.Clone(j.Script)
	for _, s := range j.Steps {
		if s.Run != "" && s.If == "" {
			list = append(list, s.Run)
		}
	}
	return list
}

// needs returns the names of the jobs that a job waits for.
func (j job) needs() []string {
	switch needs := j.Needs.(type) {
	case string:
		return []string{needs}
	case []any:
		names := make([]string, len(needs))
		for i := range needs {
			names[i] = fmt.Sprint(needs[i])
		}
		return names
	}
	return nil
}

// pipelines returns the pipelines of docs/preview.md, by the line where they begin.
func pipelines(t *testing.T) map[int]map[string]job {
	t.Helper()
	found := map[int]map[string]job{}
	for _, page := range readAll(t) {
		for _, b := range page.Blocks {
			if page.Name != "docs/preview.md" || b.Lang != "yaml" {
				continue
			}
			var top map[string]yaml.Node
			if err := yaml.Unmarshal([]byte(b.Text), &top); err != nil {
				t.Fatalf("%s:%d: %v", page.Name, b.Line, err)
			}
			jobs := map[string]job{}
			if github, ok := top["jobs"]; ok {
				if err := github.Decode(&jobs); err != nil {
					t.Fatalf("%s:%d: %v", page.Name, b.Line, err)
				}
			} else {
				for name, node := range top {
					var j job
					if node.Kind != yaml.MappingNode {
						continue
					}
					if err := node.Decode(&j); err != nil {
						t.Fatalf("%s:%d: %s: %v", page.Name, b.Line, name, err)
					}
					jobs[name] = j
				}
			}
			found[b.Line] = jobs
		}
	}
	return found
}

// TestPipelines runs the scripts of the pipelines with programs in the place of terraform and driftd,
// for each exit code of a preview: an apply only runs after 0, or after a 2 that a person sees before
// a second preview.
func TestPipelines(t *testing.T) {
	t.Parallel()
	applies := 0
	for line, jobs := range pipelines(t) {
		apply := ""
		for name, j := range jobs {
			text := strings.Join(j.scripts(), "\n")
			for _, command := range regexp.MustCompile(`driftd (preview[^|>&\n]*)`).FindAllStringSubmatch(text, -1) {
				if err := checkUsage(strings.Fields(command[1])); err != nil {
					t.Errorf("docs/preview.md:%d: %s: %v", line, name, err)
				}
			}
			if j.ContinueOnError || slices.ContainsFunc(j.Steps, func(s step) bool { return s.ContinueOnError }) {
				t.Errorf("docs/preview.md:%d: %s hides every failure", line, name)
			}
			if strings.Contains(text, "terraform apply") {
				apply = name
			}
		}
		if apply == "" {
			continue
		}
		applies++
		approved := len(jobs[apply].needs()) > 0
		for _, tc := range []struct {
			first, second int
			want          bool
		}{{0, 0, true}, {1, 0, false}, {2, 0, approved}, {3, 0, false}, {2, 2, false}, {0, 3, !approved}} {
			if got := runPipeline(t, jobs, apply, tc.first, tc.second); got != tc.want {
				t.Errorf("docs/preview.md:%d: the previews exit with %d and %d, and the apply runs: %t", line, tc.first, tc.second, got)
			}
		}
	}
	if applies < 3 {
		t.Errorf("%d pipelines with an apply were found", applies)
	}
}

// runPipeline runs a job and those that it needs, and reports whether terraform apply ran. The
// previews exit with the codes, in order.
func runPipeline(t *testing.T, jobs map[string]job, name string, codes ...int) (applied bool) {
	t.Helper()
	dir := t.TempDir()
	driftd := "#!/bin/sh\nread code rest <codes\necho $rest >codes\nexit $code\n"
	for program, text := range map[string]string{"driftd": driftd, "terraform": "#!/bin/sh\necho \"$1\" >>ran\n"} {
		if err := os.WriteFile(filepath.Join(dir, program), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var list []string
	for _, code := range codes {
		list = append(list, strconv.Itoa(code))
	}
	if err := os.WriteFile(filepath.Join(dir, "codes"), []byte(strings.Join(list, " ")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, needed := range jobs[name].needs() {
		j := jobs[needed]
		if code := runScripts(t, dir, j.scripts()); code != 0 && !slices.Contains(j.AllowFailure.ExitCodes, code) {
			return false
		}
	}
	j := jobs[name]
	runScripts(t, dir, j.scripts())
	ran, err := os.ReadFile(filepath.Join(dir, "ran"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return slices.Contains(strings.Fields(string(ran)), "apply")
}

// runScripts runs scripts until one fails, as runners do, and returns its exit code.
func runScripts(t *testing.T, dir string, scripts []string) int {
	t.Helper()
	for _, script := range scripts {
		cmd := exec.Command("sh", "-e", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "RUNNER_TEMP="+dir, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"))
		err := cmd.Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return 0
}
