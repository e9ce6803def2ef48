//go:build e2e

package secrets

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/tftest"
)

// An attribute is one with a secret of a resource of the lab's provider.
type attribute struct {
	what, name string
	form       form
	// value returns the attribute's JSON value with a secret.
	value func(secret string) any
}

func text(t string) func(string) any { return func(secret string) any { return filled(t, secret) } }

// planAttributes is the table of secrets in a plan. Only the first two are sensitive in the
// provider's schema.
func planAttributes() []attribute {
	return []attribute{
		{"plan: sensitive attribute", "password", asIs, text("%s")},
		{"plan: sensitive nested attribute", "backup", plain, func(s string) any { return object{"schedule": "daily", "key": s} }},
		{"plan: Lambda environment API_TOKEN unmarked", "labels", plain, func(s string) any { return object{"MODE": "fast", "API_TOKEN": s} }},
		{"plan: map key db_password, odd characters", "labels", asIs, func(s string) any { return object{"db_password": s} }},
		{"plan: URL password", "notes", inURL, text("postgres://u:%s@db/x")},
		{"plan: JSON policy with an apiKey, escaped", "config", inJSON, text(`{"db": {"host": "db", "apiKey": "%s"}}`)},
		{"plan: cloud-init user data", "notes", plain, text("#cloud-config\nuser: shop\npassword: %s\n")},
		{"plan: base64 user data", "notes", inBase64Of("#!/bin/sh\nexport DB_PASSWORD=%s\n"), text("%s")},
		{"plan: container arguments", "steps", plain, func(s string) any { return []any{"serve", "--password", s} }},
		{"plan: set of URLs", "tags", plain, func(s string) any { return []any{"https://a.example.org", "https://u:" + s + "@b.example.org"} }},
		{"plan: PEM", "notes", privateKey, text("%s")},
	}
}

// inBase64Of returns a text with a secret, encoded as a whole.
func inBase64Of(around string) form {
	return func(v *vault, what string) string { return encode64(filled(around, v.secret(what))) }
}

// TestPlan plants the table in a root that the real program plans: the applied, the declared
// and the live values differ.
func TestPlan(t *testing.T) {
	t.Parallel()
	tools, err := tftest.Find()
	if err != nil {
		t.Fatal(err)
	}
	i := install(t)
	clis, err := tools.CLIs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cli := clis[0]
	lab := tftest.NewLab()
	t.Cleanup(lab.Close)
	i.keep("token of a provider", tftest.Token)
	expected := i.plantRoot(cli, lab)
	i.brokenRoots(lab)
	r := i.receive()
	inEnvironment := func(what string) string {
		i.known[what] = []string{"environment of a process"} // of its CLI
		return i.secret(what)
	}
	// The environment of driftd itself; one variable is passed on.
	i.env = []string{"VAULT_TOKEN=" + i.secret("variable VAULT_TOKEN of driftd"), "TF_VAR_passed=" + inEnvironment("variable that pass_env names")}
	settings := fmt.Sprintf(`engine: plan, binary: %q, cli_config_file: %q`, cli.Path, cli.Config)
	i.configure(fmt.Sprintf(`
declarations:
- {name: infra, type: terraform, settings: {dir: root, %[1]s, vars: {given: "%[2]s"}, env: {TF_VAR_set: "%[3]s"}, pass_env: [TF_VAR_passed]}}
- {name: syntax, type: terraform, settings: {dir: syntax, %[1]s}}
- {name: invalid, type: terraform, settings: {dir: invalid, %[1]s, vars: {password: "%[4]s"}}}
- {name: condition, type: terraform, settings: {dir: condition, %[1]s, vars: {password: "%[5]s"}}}
- {name: provider, type: terraform, settings: {dir: provider, %[1]s}}
`, settings, i.secret("vars of a root"), inEnvironment("env of a root"), i.secret("variable whose validation quotes it"), i.secret("variable that a condition quotes")) + r.config())
	d := i.serve()
	report := i.scan()
	for _, want := range expected {
		if !containsFinding(report, want) {
			t.Errorf("%s: nothing says that %s of %s changed", want.what, want.path, want.resource)
		}
	}
	for _, name := range []string{"syntax", "invalid", "condition", "provider"} {
		if i.failed(name) == "" {
			t.Errorf("nothing says that %s failed", name)
		}
	}
	r.notified()
	d.everything(report)
}

func containsFinding(r model.Report, want expectation) bool {
	for _, f := range r.Findings {
		if want.isMetBy(f) {
			return true
		}
	}
	return false
}

// plantRoot applies a root, changes its declarations, and edits the live side.
func (i *installation) plantRoot(cli tftest.CLI, lab *tftest.Lab) []expectation {
	i.t.Helper()
	type resource struct {
		name string
		attribute
		recorded, declared, live bool
	}
	var list []resource
	for n, a := range planAttributes() {
		for _, s := range []resource{
			{"both", a, true, true, true}, {"declared", a, false, true, false}, {"live", a, false, false, true},
		} {
			s.name = "p" + strconv.Itoa(n) + "-" + s.name
			list = append(list, s)
		}
	}
	root := func(of string, holds func(resource) bool) string {
		var b strings.Builder
		fmt.Fprintf(&b, "terraform {\n  required_providers {\n    lab = { source = \"driftd/lab\" }\n  }\n}\nprovider \"lab\" {\n  endpoint = %q\n  token = %q\n}\n", lab.URL(), tftest.Token)
		b.WriteString("variable \"given\" { default = \"\" }\nvariable \"set\" { default = \"\" }\nvariable \"passed\" { default = \"\" }\n")
		for _, r := range list {
			fmt.Fprintf(&b, "resource \"lab_server\" %q {\n  name = %q\n", r.name, r.name)
			if holds(r) {
				// JSON is an expression of the language, except for its templates.
				value := strings.NewReplacer("${", "$${", "%{", "%%{").Replace(mustJSON(r.value(r.form(i.vault, r.what+" "+of+" ("+r.name+")"))))
				fmt.Fprintf(&b, "  %s = %s\n", r.attribute.name, value)
			}
			b.WriteString("}\n")
		}
		fmt.Fprintf(&b, "output \"db_password\" { value = %q }\noutput \"hidden\" {\n  value = %q\n  sensitive = true\n}\n", i.secret("output "+of), i.secret("sensitive output "+of))
		return b.String()
	}
	i.write("root/main.tf", root("recorded", func(r resource) bool { return r.recorded }))
	if err := cli.Apply(i.t.Context(), i.path("root")); err != nil {
		i.t.Fatal(err)
	}
	i.write("root/main.tf", root("declared", func(r resource) bool { return r.declared }))
	var expected []expectation
	for _, r := range list {
		if r.live {
			if err := lab.Set("server/"+r.name, r.attribute.name, r.value(r.form(i.vault, r.what+" live ("+r.name+")"))); err != nil {
				i.t.Fatal(err)
			}
		}
		expected = append(expected, expectation{r.what, "lab_server." + r.name, r.attribute.name,
			[]model.Verdict{model.Changed, model.Conflict, model.Pending, model.Bypassed, model.Undeclared}})
	}
	return expected
}

// brokenRoots writes roots whose errors quote secrets.
func (i *installation) brokenRoots(lab *tftest.Lab) {
	i.write("syntax/main.tf", "locals {\n  password = \""+i.secret("syntax error of a root")+"\" oops\n}\n")
	i.write("invalid/main.tf", "variable \"password\" {\n  validation {\n    condition = length(var.password) < 3\n    error_message = \"The password ${var.password} is too long.\"\n  }\n}\noutput \"x\" { value = var.password }\n")
	i.write("condition/main.tf", "variable \"password\" {}\nresource \"terraform_data\" \"x\" {\n  input = 1\n  lifecycle {\n    precondition {\n      condition = length(var.password) < 3\n      error_message = \"the password ${var.password} is too long\"\n    }\n  }\n}\n")
	i.write("provider/main.tf", fmt.Sprintf("terraform {\n  required_providers {\n    lab = { source = \"driftd/lab\" }\n  }\n}\nprovider \"lab\" {\n  endpoint = %q\n  token = %q\n}\nresource \"lab_server\" \"a\" { name = \"a\" }\ndata \"lab_lookup\" \"x\" { name = \"x\" }\n",
		lab.URL(), i.secret("token that a provider quotes")))
}

func mustJSON(v any) string { return string(must(json.Marshal(v))) }
