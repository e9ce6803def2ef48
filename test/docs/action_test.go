package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// inputOf matches an input in action.yml, and inGitLab one in templates/scan.yml.
var (
	inputOf  = regexp.MustCompile(`^\$\{\{ inputs\.([a-z-]+) \}\}$`)
	inGitLab = regexp.MustCompile(`\$\[\[ inputs\.([a-z_]+) \]\]`)
)

// An input is an input of the Action or of the component; one without a default is required.
type input struct{ Default *string }

// A checkout is a repository with a manifest, on a machine of a pipeline with driftd on PATH.
type checkout struct {
	*testing.T

	dir string
	env []string
}

// hostile is a live value with commands of both syntaxes of the runner.
const hostile = "x\\n::error::forged\\n##[error]forged ##[add-path]/tmp"

// planned is a plan that updates a resource of a local module.
const planned = `{"format_version": "1.2", "terraform_version": "1.11.4", "planned_values": {"root_module": {}}, "resource_changes": [{
"address": "module.net.terraform_data.this", "module_address": "module.net", "mode": "managed", "type": "terraform_data", "name": "this",
"provider_name": "terraform.io/builtin/terraform", "change": {"actions": ["update"], "before": {"id": "1", "input": 1},
"after": {"id": "1", "input": 2}, "after_unknown": {}, "before_sensitive": {}, "after_sensitive": {}}}], "prior_state": {"values": {"root_module": {
"child_modules": [{"address": "module.net", "resources": [{"address": "module.net.terraform_data.this", "mode": "managed", "type": "terraform_data",
"name": "this", "provider_name": "terraform.io/builtin/terraform", "schema_version": 0, "values": {"id": "1", "input": 1}, "sensitive_values": {}}]}]}}},
"configuration": {"root_module": {}}, "timestamp": "2026-01-02T03:04:05Z", "applyable": true, "complete": true, "errored": false}`

// providerSchemas are those of the provider in planned.
const providerSchemas = `{"format_version": "1.0", "provider_schemas": {"terraform.io/builtin/terraform": {"resource_schemas": {"terraform_data": {"version": 0, "block": {"attributes": {
"id": {"type": "string", "computed": true}, "input": {"type": "dynamic", "optional": true}}}}}}}}`

// newCheckout returns a repository whose manifest differs from a dump in live.yaml. The other dumps are same.yaml, and part.yaml,
// which lacks the object.
func newCheckout(t *testing.T) *checkout {
	t.Helper()
	c := &checkout{T: t, dir: t.TempDir()}
	bin := filepath.Join(c.dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "driftd"))
	}
	if err != nil {
		t.Fatal(err)
	}
	object := func(value string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\ndata: {a: \"" + value + "\"}\n"
	}
	c.write("work/.git/HEAD", "ref: refs/heads/main\n")
	c.write("work/deploy it/web.yaml", object("1"))
	for name, value := range map[string]string{"live": hostile, "same": "1"} {
		c.write(name+".yaml", object(value))
	}
	c.write("part.yaml", "apiVersion: v1\nkind: List\nitems: []\n")
	c.write("work/infra/main.tf", "# A module.\nmodule \"net\" {\n  source = \"../modules/a b\"\n}\n")
	c.write("work/modules/a b/net,1.tf", "variable \"x\" { default = 1 }\n\nresource \"terraform_data\" \"this\" {\n  input = 2\n}\n")
	c.write("plan.json", planned)
	c.write("bin/terraform", "#!/bin/sh\ncase \"$1\" in\nversion) echo '{\"terraform_version\": \"1.11.4\"}' ;;\nproviders) echo '"+providerSchemas+"' ;;\n"+
		"plan) for arg; do case \"$arg\" in -out=*) cp '"+filepath.Join(c.dir, "plan.json")+"' \"${arg#-out=}\" ;; esac; done ;;\nshow) for arg; do :; done; cat \"$arg\" ;;\nesac\n")
	c.env = append(os.Environ(), realRun+"=1", "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+c.dir, "TMPDIR="+c.dir, "RUNNER_TEMP="+c.dir,
		"GITHUB_REPOSITORY=acme/shop", "GITHUB_OUTPUT="+filepath.Join(c.dir, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(c.dir, "summary"))
	return c
}

func (c *checkout) write(name, text string) {
	c.Helper()
	file := filepath.Join(c.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o700)); err != nil {
		c.Fatal(err)
	}
}

// read returns the content of a file; "" if it does not exist.
func (c *checkout) read(name string) string {
	c.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.Fatal(err)
	}
	return string(text)
}

// run runs a program in the work tree, and returns its output and exit code.
func (c *checkout) run(env []string, program ...string) (out string, code int) {
	c.Helper()
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Dir, cmd.Env = filepath.Join(c.dir, "work"), slices.Concat(c.env, env)
	text, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		c.Fatalf("%s: %v", program[0], err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// step runs the step of action.yml with inputs, as a runner does.
func (c *checkout) step(given map[string]string) (out string, code int) {
	c.Helper()
	var action struct {
		Inputs map[string]input
		Runs   struct {
			Using string
			Steps []struct {
				Shell, Run string
				Env        map[string]string
			}
		}
	}
	c.parse("action.yml", &action)
	top, err := filepath.Abs("../..")
	if err != nil || action.Runs.Using != "composite" || len(action.Runs.Steps) != 1 {
		c.Fatalf("action.yml is no composite action of one step: %v", err)
	}
	step := action.Runs.Steps[0]
	if step.Shell != "bash" || strings.Contains(step.Run, "${{") {
		c.Errorf("the script of action.yml has expressions: %s", step.Run)
	}
	env := []string{"GITHUB_ACTION_PATH=" + top}
	for name, value := range step.Env {
		if m := inputOf.FindStringSubmatch(value); m != nil {
			in, ok := action.Inputs[m[1]]
			if !ok || in.Default == nil {
				c.Errorf("%s is %s, and there is no such input with a default", name, value)
				continue
			}
			if value = *in.Default; given[m[1]] != "" {
				value = given[m[1]]
			}
		} else if value == "${{ github.event.pull_request.number }}" {
			value = "7"
		} else {
			c.Errorf("%s is %s, which the test does not evaluate", name, value)
		}
		env = append(env, name+"="+value)
	}
	for _, file := range []string{"output", "summary"} {
		if err := os.RemoveAll(filepath.Join(c.dir, file)); err != nil {
			c.Fatal(err)
		}
	}
	return c.run(env, "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.Run)
}

func (c *checkout) parse(file string, into any) {
	c.Helper()
	text, err := os.ReadFile(filepath.Join("../..", file))
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		c.Fatalf("%s: %v", file, err)
	}
}

// commandsOf returns the commands that a runner carries out of a log: those at the beginning of a line, and those in the older syntax
// anywhere in a line, but none between stop-commands and its token.
func commandsOf(log string) (found []string) {
	stopped := ""
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		switch token, stops := strings.CutPrefix(line, "::stop-commands::"); {
		case stopped != "":
			if line == "::"+stopped+"::" {
				stopped = ""
			}
		case stops:
			stopped = token
		case strings.HasPrefix(line, "::"), strings.Contains(line, "##["):
			found = append(found, line)
		}
	}
	return found
}

// TestAction runs the step of action.yml. The values of live objects are no commands, and the exit code of the scan decides.
func TestAction(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	for name, tc := range map[string]struct {
		inputs map[string]string
		code   int
		// commands are parts of the commands that the runner carries out, and output is a part of the outputs.
		commands []string
		output   string
	}{
		"drift":                {map[string]string{"live": "../live.yaml"}, 2, []string{"::warning file=deploy it/web.yaml,line=1,"}, "exit-code=2"},
		"Terraform":            {map[string]string{"paths": "infra"}, 2, []string{"::warning file=modules/a b/net%2C1.tf,line=3,"}, "exit-code=2"},
		"less than fails":      {map[string]string{"live": "../live.yaml", "fail-on": "critical"}, 0, []string{"::warning file="}, "exit-code=0"},
		"in sync":              {map[string]string{"live": "../same.yaml"}, 0, nil, "exit-code=0"},
		"incomplete":           {map[string]string{"live": "../part.yaml"}, 1, []string{"::warning title=driftd%3A not everything", "::notice file=", "::error title=driftd::something was not checked"}, "exit-code=3"},
		"incomplete, allowed":  {map[string]string{"live": "../part.yaml", "allow-incomplete": "true"}, 0, []string{"::warning title=driftd%3A not", "::notice file="}, "exit-code=3"},
		"no folder":            {map[string]string{"paths": "\n"}, 1, []string{"::error title=driftd::paths: name a folder"}, ""},
		"a missing folder":     {map[string]string{"live": "../live.yaml", "paths": "nowhere"}, 1, nil, "exit-code=1"},
		"a flag is a folder":   {map[string]string{"live": "../live.yaml", "paths": "--help"}, 1, nil, "exit-code=1"},
		"commands as an input": {map[string]string{"live": "../live.yaml", "paths": "$(touch pwned)`touch pwned`"}, 1, nil, "exit-code=1"},
		"a wrong key":          {map[string]string{"live": "../live.yaml", "comment-key": "a -->"}, 1, []string{"::error title=driftd::comment-key"}, ""},
	} {
		if tc.inputs["paths"] == "" {
			tc.inputs["paths"] = "\ndeploy it\n"
		}
		out, code := c.step(tc.inputs)
		ran := commandsOf(out)
		if code != tc.code || !strings.Contains(c.read("output"), tc.output) || len(ran) != len(tc.commands) {
			t.Errorf("%s: exit code %d, outputs %q, commands %q:\n%s", name, code, c.read("output"), ran, out)
			continue
		}
		for i, want := range tc.commands {
			if !strings.HasPrefix(ran[i], want) {
				t.Errorf("%s: command %q, want %q", name, ran[i], want)
			}
		}
		if name == "drift" && (!strings.HasPrefix(c.read("summary"), "<!-- driftd scan -->\n") || !strings.Contains(out, "ConfigMap shop/web")) {
			t.Errorf("%s: the summary is %q, the log %s", name, c.read("summary"), out)
		}
	}
	if _, err := os.Stat(filepath.Join(c.dir, "work", "pwned")); err == nil {
		t.Error("an input was run")
	}
}

// TestActionComment checks that the comment of the run before is changed. The program in the place of gh stores what it is called with.
func TestActionComment(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	c.write("bin/gh", "#!/bin/sh\nif [ \"$2\" = --paginate ]; then cat \"$HOME/ids\"; fi\necho \"$GH_TOKEN $FIRST $*\" >>\"$HOME/gh\"\n")
	inputs := map[string]string{"live": "../live.yaml", "paths": "deploy it", "comment": "true", "comment-key": "prod", "token": "t0ken"}
	for ids, want := range map[string]string{
		"":         "--method POST repos/acme/shop/issues/7/comments -F body=@",
		"41\n42\n": "--method PATCH repos/acme/shop/issues/comments/41 -F body=@",
	} {
		c.write("ids", ids)
		c.write("gh", "")
		_, code := c.step(inputs)
		calls := strings.Split(strings.TrimSpace(c.read("gh")), "\n")
		if code != 2 || len(calls) != 2 || !strings.Contains(calls[1], want) || !strings.HasPrefix(calls[0], "t0ken <!-- driftd scan prod --> api --paginate repos/acme/shop/issues/7/comments") ||
			!strings.Contains(calls[0], `.user.type == "Bot"`) {
			t.Errorf("exit code %d, calls %q", code, calls)
		}
	}
}

// TestComponent runs the job of templates/scan.yml, with its inputs in their places.
func TestComponent(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	text, err := os.ReadFile("../../templates/scan.yml")
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(text), "\n---\n")
	var spec struct {
		Spec struct{ Inputs map[string]input }
	}
	if err := yaml.Unmarshal([]byte(head), &spec); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		inputs map[string]string
		code   int
		issues int
		at     string
	}{
		"drift":               {map[string]string{"live": "../live.yaml"}, 2, 1, "deploy it/web.yaml:1"},
		"Terraform":           {map[string]string{"paths": "infra"}, 2, 1, "modules/a b/net,1.tf:3"},
		"less than fails":     {map[string]string{"live": "../live.yaml", "fail_on": "critical"}, 0, 1, "deploy it/web.yaml:1"},
		"in sync":             {map[string]string{"live": "../same.yaml"}, 0, 0, ""},
		"incomplete":          {map[string]string{"live": "../part.yaml"}, 3, 1, "deploy it/web.yaml:1"},
		"incomplete, allowed": {map[string]string{"live": "../part.yaml", "allow_incomplete": "true"}, 0, 1, "deploy it/web.yaml:1"},
		"commands":            {map[string]string{"live": "../live.yaml", "paths": "$(touch${IFS}pwned) *"}, 1, -1, ""},
	} {
		var jobs map[string]struct {
			Variables map[string]struct{ Value string }
			Script    []string
			Artifacts struct{ Reports map[string]string }
		}
		if err := yaml.Unmarshal([]byte(body), &jobs); err != nil {
			t.Fatal(err)
		}
		job := jobs["$[[ inputs.job ]]"]
		env := []string{}
		for variable, v := range job.Variables {
			value := inGitLab.ReplaceAllStringFunc(v.Value, func(found string) string {
				key := inGitLab.FindStringSubmatch(found)[1]
				in, ok := spec.Spec.Inputs[key]
				if given := tc.inputs[key]; given != "" {
					return given
				}
				if !ok || in.Default == nil {
					t.Errorf("there is no input %s with a default", key)
					return ""
				}
				return *in.Default
			})
			env = append(env, variable+"="+value)
		}
		c.write("work/gl-code-quality-report.json", "")
		c.write("work/a b", "no manifest")
		out, code := c.run(env, "sh", "-e", "-c", strings.Join(job.Script, "\n"))
		if code != tc.code || inGitLab.MatchString(strings.Join(job.Script, "")) {
			t.Errorf("%s: exit code %d:\n%s", name, code, out)
		}
		if tc.issues < 0 {
			continue
		}
		var issues []struct {
			Description, Fingerprint, Severity string
			CheckName                          string `json:"check_name"`
			Location                           struct {
				Path  string
				Lines struct{ Begin int }
			}
		}
		err := json.Unmarshal([]byte(c.read("work/"+job.Artifacts.Reports["codequality"])), &issues)
		if err != nil || len(issues) != tc.issues || job.Artifacts.Reports["junit"] == "" {
			t.Errorf("%s: %d issues, %v", name, len(issues), err)
		}
		for _, i := range issues {
			if i.Description == "" || i.Fingerprint == "" || i.CheckName == "" || fmt.Sprintf("%s:%d", i.Location.Path, i.Location.Lines.Begin) != tc.at ||
				!slices.Contains([]string{"info", "minor", "major", "critical", "blocker"}, i.Severity) {
				t.Errorf("%s: %+v", name, i)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(c.dir, "work", "pwned")); err == nil {
		t.Error("an input was run")
	}
}

// TestPipelinePage checks that docs/pipelines.md names all inputs, and no others.
func TestPipelinePage(t *testing.T) {
	t.Parallel()
	c := &checkout{T: t}
	var action struct{ Inputs map[string]input }
	c.parse("action.yml", &action)
	var component struct {
		Spec struct{ Inputs map[string]input }
	}
	c.parse("templates/scan.yml", &component)
	for _, page := range readAll(t) {
		if page.Name != "docs/pipelines.md" {
			continue
		}
		text := c.page(page.Name)
		for _, inputs := range []map[string]input{action.Inputs, component.Spec.Inputs} {
			for name := range inputs {
				if !strings.Contains(text, "`"+name+"`") {
					t.Errorf("%s does not name the input %s", page.Name, name)
				}
			}
		}
		for _, b := range page.Blocks {
			if b.Lang != "yaml" {
				continue
			}
			var used struct {
				Jobs map[string]struct {
					Steps []struct {
						Uses string
						With map[string]string
					}
				}
				Include []struct{ Inputs map[string]string }
			}
			if err := yaml.Unmarshal([]byte(b.Text), &used); err != nil {
				t.Fatal(err)
			}
			for _, job := range used.Jobs {
				for _, s := range job.Steps {
					if strings.HasPrefix(s.Uses, "driftd/") {
						checkInputs(t, s.With, action.Inputs)
					}
				}
			}
			for _, i := range used.Include {
				checkInputs(t, i.Inputs, component.Spec.Inputs)
			}
		}
		return
	}
	t.Error("there is no docs/pipelines.md")
}

// checkInputs checks that given inputs exist, and that all that are required are given.
func checkInputs(t *testing.T, given map[string]string, inputs map[string]input) {
	t.Helper()
	for name := range given {
		if _, ok := inputs[name]; !ok {
			t.Errorf("there is no input %s", name)
		}
	}
	for name, in := range inputs {
		if _, ok := given[name]; !ok && in.Default == nil {
			t.Errorf("the input %s is required", name)
		}
	}
}

// page returns the text of a page.
func (c *checkout) page(name string) string {
	c.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		c.Fatal(err)
	}
	return string(text)
}
