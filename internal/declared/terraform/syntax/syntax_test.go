package syntax_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

func TestSplitName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"main.tf": {"main", ".tf"}, "a.b.tf.json": {"a.b", ".tf.json"}, "main.tofu": {"main", ".tofu"}, "main.tofu.json": {"main", ".tofu.json"},
		"main.json": {"main.json"}, "main.tfvars": {"main.tfvars"}, "terragrunt.hcl": {"terragrunt.hcl"},
		// Terraform ignores them.
		".main.tf": {".main.tf"}, ".tf": {".tf"}, "main.tf~": {"main.tf~"}, "#main.tf#": {"#main.tf#"}, ".#main.tf": {".#main.tf"},
	} {
		if stem, suffix := syntax.SplitName(name); stem != want[0] || suffix != want[1] || syntax.IsConfiguration(name) != (want[1] != "") {
			t.Errorf("%s: got %q, %q", name, stem, suffix)
		}
	}
	for name, want := range map[string]bool{
		"override.tf": true, "a/b_override.tofu.json": true, "overrides.tf": false, "_override/main.tf": false, ".a_override.tf": false,
	} {
		if syntax.IsOverride(name) != want {
			t.Errorf("IsOverride(%s) is not %v", name, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, name, text, want string }{
		"Native":        {"native syntax", "main.tf", `locals { a = "${b}" }`, ""},
		"JSON":          {"JSON syntax", "main.tf.json", `{"locals": {"a": "${b}"}}`, ""},
		"Broken":        {"an error has its line and no value", "main.tf", "\nlocals { secret = \"x }", "parse main.tf:2: "},
		"BrokenJSON":    {"no JSON", "main.tf.json", "{", "parse main.tf.json: not JSON"},
		"Deep":          {"brackets that would overflow the stack", "main.tf", "a = " + strings.Repeat("[", 1<<18), "parse main.tf: nested too deeply"},
		"DeepJSON":      {"brackets in JSON that would overflow the stack", "main.tf.json", strings.Repeat("[", 200) + strings.Repeat("]", 200), "parse main.tf.json: nested too deeply"},
		"DeepTemplate":  {"a template in JSON", "main.tf.json", `{"a": "${` + strings.Repeat("(", 200) + `"}`, "parse main.tf.json: nested too deeply"},
		"DeepKey":       {"a template in a key", "main.tf.json", `{"${` + strings.Repeat("(", 200) + `": 1}`, "parse main.tf.json: nested too deeply"},
		"DeepTwice":     {"a template in the first of two values of a repeated name", "main.tf.json", `{"module": {"a": {"source": "${` + strings.Repeat("(", 200) + `"}}, "module": {}}`, "parse main.tf.json: nested too deeply"},
		"HugeTwice":     {"a number in the first of two values of a repeated name", "main.tf.json", `{"a": 1e999999999, "a": 1}`, "parse main.tf.json: a number is too large"},
		"Huge":          {"a number of many digits", "main.tf.json", `{"a": 1e999999999}`, "parse main.tf.json: a number is too large"},
		"Large":         {"a file of 8 MiB that takes gigabytes to parse", "main.tf", strings.Repeat("b{}\n", 2<<20), "parse main.tf: too large"},
		"LargeJSON":     {"a JSON file that takes gigabytes to parse", "main.tf.json", `{"a":[` + strings.Repeat("{},", 2<<20) + "{}]}", "parse main.tf.json: too large"},
		"LargeTemplate": {"a template in JSON", "main.tf.json", `{"a":"` + strings.Repeat("${b}", 1<<18) + `"}`, "parse main.tf.json: too large"},
		"LongText":      {"a long text is one token of JSON", "main.tf.json", `{"a":"` + strings.Repeat(`\"{},`, 1<<20) + `"}`, ""},
		"NoTemplate":    {"a string that is not a valid template is left to the CLI", "main.tf.json", `{"a": "${"}`, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := syntax.Parse(tc.name, []byte(tc.text))
			switch {
			case tc.want == "" && (err != nil || file == nil):
				t.Errorf("%s: got %v", tc.reason, err)
			case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)):
				t.Errorf("%s: got %v, want %s", tc.reason, err, tc.want)
			}
		})
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	n := 0
	err := syntax.Templates([]byte(`{"a": ["${b}", "c", "%{ if d }e%{ endif }"], "${f}": "${"}`), func(hclsyntax.Expression) error {
		n++
		return nil
	})
	if n != 3 || err != nil {
		t.Errorf("%d templates, %v", n, err)
	}
	if e, err := syntax.ParseTemplate("${" + strings.Repeat("(", 200)); err == nil || e != nil {
		t.Errorf("got %v", err)
	}
}
