package literal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/literal"
)

// tree returns the files of a commit. Pairs alternate name and content.
func tree(pairs ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for i := 0; i+1 < len(pairs); i += 2 {
		files[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return files
}

// shown formats a resource: its presence and value, then its unknown and secret paths.
func shown(r literal.Resource) string {
	var b strings.Builder
	b.WriteString([]string{"absent", "present", "maybe"}[r.Presence])
	if r.Presence == literal.Present {
		b.WriteString(" " + string(r.Value.AppendJSON(nil)))
	}
	paths := func(label string, list [][]string) {
		texts := make([]string, len(list))
		for i := range list {
			texts[i] = "/" + strings.Join(list[i], "/")
		}
		slices.Sort(texts)
		if len(texts) > 0 {
			b.WriteString(" " + label + ":" + strings.Join(texts, ","))
		}
	}
	paths("unknown", r.Unknown)
	paths("secret", r.Secret)
	return b.String()
}

func evaluate(t *testing.T, files fstest.MapFS, address string, o literal.Options) string {
	t.Helper()
	r, err := literal.NewRoot(files, "infra", o, literal.NewParser()).Resource(address)
	if err != nil {
		return "error: " + err.Error()
	}
	return shown(r)
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, body, want string }{
		"Text":          {"a text", `a = "x"`, `present {"a":"x"}`},
		"Number":        {"numbers are normalized", "a = 1.50\nb = -2\nc = 1e3", `present {"a":1.5,"b":-2,"c":1000}`},
		"Bool":          {"a boolean", "a = false", `present {"a":false}`},
		"Null":          {"null attributes are left out", "a = null\nb = [null, 1]\nc = { d = null }", `present {"b":[null,1],"c":{}}`},
		"Heredoc":       {"an indented heredoc", "a = <<-EOT\n    one\n      two\n  EOT\n", `present {"a":"one\n  two\n"}`},
		"Collections":   {"lists and objects of literals, with any form of key", `a = [1, ["x"], { "k k" = true, (upper("m")) = 1 }]`, `present {"a":[1,["x"],{"M":1,"k k":true}]}`},
		"Operators":     {"operators over literals", `a = 1 + 2 * 3` + "\n" + `b = true ? "x" : "y"` + "\n" + `c = "n${1}"`, `present {"a":7,"b":"x","c":"n1"}`},
		"Functions":     {"functions that Terraform takes from the same library", `a = jsonencode({ b = [1] })` + "\n" + `c = merge({ x = 1 }, { y = 2 })` + "\n" + `d = toset(["b", "a", "a"])`, `present {"a":"{\"b\":[1]}","c":{"x":1,"y":2},"d":["a","b"]}`},
		"OtherFunction": {"any other call", `a = file("x")` + "\n" + `b = timestamp()` + "\n" + `c = 1`, `present {"c":1} unknown:/a,/b`},
		"References":    {"values of other resources, data sources and Terraform itself", "a = other.r.id\nb = data.d.x.id\nc = path.module\nd = terraform.workspace\ne = module.m.o\nf = self.x", `present {} unknown:/a,/b,/c,/d,/e,/f`},
		"Part":          {"only the part that is not literal is unknown", `a = { b = other.r.id, c = [1, other.r.id] }`, `present {"a":{"c":[1,null]}} unknown:/a/b,/a/c/1`},
		"Interpolation": {"a text around a reference", `a = "x-${other.r.id}"`, `present {} unknown:/a`},
		"UnknownKey":    {"a key that is not literal", `a = { (other.r.id) = 1 }`, `present {} unknown:/a`},
		"For":           {"a for expression is never evaluated", `a = [for x in [1] : x]` + "\n" + `b = "%{ for x in [1] }${x}%{ endfor }"` + "\n" + `c = [1][*]`, `present {} unknown:/a,/b,/c`},
		"Meta":          {"meta-arguments are not attributes", "provider = lab.x\ndepends_on = [other.r]\nlifecycle {\n prevent_destroy = true\n}\nconnection {\n host = 1\n}\nprovisioner \"x\" {\n y = 1\n}\na = 1", `present {"a":1}`},
		"Blocks":        {"nested blocks become lists, in order", "disk {\n size = 1\n}\ndisk {\n size = 2\n id = other.r.id\n part {\n n = 1\n}\n}", `present {"disk":[{"size":1},{"part":[{"n":1}],"size":2}]} unknown:/disk/1/id`},
		"Dynamic":       {"a dynamic block makes all blocks of its type unknown", "disk {\n size = 1\n}\ndynamic \"disk\" {\n for_each = [1]\n content {\n size = 1\n}\n}\nb = 1", `present {"b":1} unknown:/disk`},
		"LabelledBlock": {"a nested block with a label", "m \"k\" {\n a = 1\n}", `present {} unknown:/m`},
		"NestedMeta":    {"a nested block may use the names of meta-arguments", "x {\n count = 1\n provider = \"p\"\n}", `present {"x":[{"count":1,"provider":"p"}]}`},
		"Variable":      {"variables and locals with literal values", "a = var.size\nb = local.name\nc = var.unset\nd = var.nothing\ne = local.nothing\nf = local.circle", `present {"a":2,"b":"web-2"} unknown:/c,/d,/e,/f`},
		"Sensitive":     {"a value from a sensitive variable", "a = var.secret\nb = { c = \"x-${var.secret}\" }", `present {"a":"hush","b":{"c":"x-hush"}} secret:/a,/b/c`},
		"Typed":         {"the type of a variable converts its value", "a = var.number\nb = var.object\nc = var.broken\nd = var.nonull", `present {"a":5,"b":{"x":1,"y":"fallback"},"d":"kept"} unknown:/c`},
		"Opaque":        {"only the used attribute of a variable must be known", "a = var.map.b\nb = var.map.c", `present {"a":1} unknown:/b`},
	}
	const shared = `
variable "size" { default = 2 }
variable "unset" {}
variable "secret" {
  default = "hush"
  sensitive = true
}
variable "number" {
  type = number
  default = "5"
}
variable "object" {
  type = object({ x = number, y = optional(string, "fallback") })
  default = { x = 1 }
}
variable "broken" {
  type = number
  default = "five"
}
variable "nonull" {
  default = "kept"
  nullable = false
}
variable "map" { default = { b = 1 } }
locals {
  name   = "web-${var.size}"
  circle = local.circle
}
`
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := tree("infra/main.tf", "resource \"lab\" \"web\" {\n"+tc.body+"\n}\n", "infra/shared.tf", shared, "infra/terraform.tfvars", "nonull = null\n")
			if diff := cmp.Diff(tc.want, evaluate(t, files, "lab.web", literal.Options{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestInstances(t *testing.T) {
	t.Parallel()
	const maybe = "maybe unknown:/"
	cases := map[string]struct{ reason, meta, address, want string }{
		"Single":         {"no count, no key", "", "lab.web", "present {}"},
		"Other":          {"another resource", "", "lab.other", "absent"},
		"FirstOfSingle":  {"the first instance of a count is the single instance", "", "lab.web[0]", "present {}"},
		"SecondOfSingle": {"a single instance has no second", "", "lab.web[1]", "absent"},
		"KeyOfSingle":    {"a single instance has no key", "", `lab.web["a"]`, "absent"},
		"Count":          {"count.index is the key", "count = 2\nn = count.index", "lab.web[1]", `present {"n":1}`},
		"BeyondCount":    {"the count is smaller", "count = 2", "lab.web[2]", "absent"},
		"NoCount":        {"a count of zero", "count = 0", "lab.web", "absent"},
		"TextCount":      {"a count may be a string", `count = "1"`, "lab.web[0]", "present {}"},
		"CountNoKey":     {"the single instance is the first of a count", "count = 1", "lab.web", "present {}"},
		"CountKey":       {"a count has no string keys", "count = 1", `lab.web["a"]`, "absent"},
		"UnknownCount":   {"an unknown count", "count = data.x.y.n", "lab.web[0]", maybe},
		"Each":           {"each.key and each.value", `for_each = { a = 1, "b.c" = 2 }` + "\nk = each.key\nv = each.value", `lab.web["b.c"]`, `present {"k":"b.c","v":2}`},
		"EachSet":        {"a set of names", `for_each = toset(["a"])` + "\nk = each.value", `lab.web["a"]`, `present {"k":"a"}`},
		"NotEach":        {"no such key", `for_each = { a = 1 }`, `lab.web["b"]`, "absent"},
		"EachIndex":      {"for_each has no number keys", `for_each = { a = 1 }`, `lab.web[0]`, "absent"},
		"UnknownEach":    {"an unknown for_each", `for_each = data.x.y.m`, `lab.web["b"]`, maybe},
		"UnknownValue":   {"a known key with an unknown value", `for_each = { a = data.x.y.m }` + "\nv = each.value", `lab.web["a"]`, `present {} unknown:/v`},
		"EachList":       {"a list is not valid for for_each", `for_each = ["a"]`, `lab.web["a"]`, maybe},
		"Enabled":        {"an instance that is switched off", "lifecycle {\n enabled = false\n}", `lab.web`, "absent"},
		"MaybeEnabled":   {"an instance that may be switched off", "lifecycle {\n enabled = data.x.y.m\n}", `lab.web`, maybe},
		"IsEnabled":      {"an instance that is switched on", "lifecycle {\n enabled = true\n}", `lab.web`, "present {}"},
		"BadAddress":     {"no address", "", `lab`, `error: address "lab" has no resource`},
		"NoAddress":      {"no address", "", `lab..`, `error: address "lab.." cannot be parsed`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := tree("infra/main.tf", "resource \"lab\" \"web\" {\n"+tc.meta+"\n}\n")
			if diff := cmp.Diff(tc.want, evaluate(t, files, tc.address, literal.Options{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	foreign := func(name string) bool { return name == "a" }
	cases := map[string]struct {
		reason string
		files  []string
		o      literal.Options
		want   string
	}{
		"Default":     {"the variable is not set", nil, literal.Options{}, `present {"a":"default"}`},
		"Tfvars":      {"terraform.tfvars sets the variable", []string{"terraform.tfvars", `a = "1"`}, literal.Options{}, `present {"a":"1"}`},
		"JSON":        {"terraform.tfvars.json is read after terraform.tfvars; its strings are not templates", []string{"terraform.tfvars", `a = "1"`, "terraform.tfvars.json", `{"a": "${x}"}`}, literal.Options{}, `present {"a":"${x}"}`},
		"Auto":        {"*.auto.tfvars are read next, sorted by name", []string{"terraform.tfvars.json", `{"a": 1}`, "b.auto.tfvars", `a = "3"`, "a.auto.tfvars.json", `{"a": 2}`}, literal.Options{}, `present {"a":"3"}`},
		"VarFile":     {"var_files are read last, in their order", []string{"z.auto.tfvars", `a = "1"`, "y.tfvars", `a = "2"`, "x.tfvars", `a = "3"`}, literal.Options{VarFiles: []string{"y.tfvars", "x.tfvars"}}, `present {"a":"3"}`},
		"NoVarFile":   {"a missing file of var_files may set any variable", []string{"z.auto.tfvars", `a = "1"`}, literal.Options{VarFiles: []string{"y.tfvars"}}, `present {} unknown:/a`},
		"AfterBroken": {"a later file overrides one that cannot be parsed", []string{"terraform.tfvars", `a = `, "z.auto.tfvars", `a = "1"`}, literal.Options{}, `present {"a":"1"}`},
		"BrokenJSON":  {"a file that cannot be parsed may set any variable", []string{"z.auto.tfvars.json", `{`}, literal.Options{}, `present {} unknown:/a`},
		"Foreign":     {"the environment may set the variable", []string{"terraform.tfvars", `a = "1"`}, literal.Options{Foreign: foreign}, `present {} unknown:/a`},
		"OtherName":   {"other files set nothing", []string{"prod.tfvars", `a = "1"`}, literal.Options{}, `present {"a":"default"}`},
		"Expression":  {"references in a file of values are unknown", []string{"terraform.tfvars", `a = var.b`}, literal.Options{}, `present {} unknown:/a`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := tree("infra/main.tf", `variable "a" { default = "default" }`+"\n"+`resource "lab" "web" { a = var.a }`)
			for i := 0; i+1 < len(tc.files); i += 2 {
				files["infra/"+tc.files[i]] = tree("x", tc.files[i+1])["x"]
			}
			if diff := cmp.Diff(tc.want, evaluate(t, files, "lab.web", tc.o)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestModules(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, address, want string }{
		"Child":         {"the arguments of the call set variables", "module.net.lab.web", `present {"a":"given","b":"fallback","c":"x"}`},
		"Repeated":      {"each of the call", `module.each["k.l"].lab.web`, `present {"a":"k.l","b":"fallback","c":"x"}`},
		"NotRepeated":   {"an instance that the call does not have", `module.each["m"].lab.web`, `absent`},
		"Deep":          {"a module of a module", "module.net.module.deep.lab.leaf", `present {"n":1}`},
		"Remote":        {"a module that is fetched", "module.remote.lab.web", "maybe unknown:/"},
		"Outside":       {"a module outside of the repository", "module.outside.lab.web", "maybe unknown:/"},
		"NoSource":      {"a source that is not literal", "module.nosource.lab.web", "maybe unknown:/"},
		"MaybeCall":     {"a call with an unknown count", "module.counted[0].lab.web", "maybe unknown:/"},
		"NoCall":        {"no such call", "module.gone.lab.web", "absent"},
		"NotInChild":    {"no such resource", "module.net.lab.other", "absent"},
		"Broken":        {"a module that cannot be parsed", "module.broken.lab.web", "error: parse modules/broken/main.tf:1: Unclosed configuration block"},
		"Missing":       {"a module whose folder does not exist", "module.missing.lab.web", "absent"},
		"Override":      {"a module with override files", "module.override.lab.web", "maybe unknown:/"},
		"BelowOverride": {"a module in one with override files", "module.override.module.x.lab.web", "maybe unknown:/"},
		"Unknown":       {"an unknown argument", "module.unknown.lab.web", `present {"b":"fallback","c":"x"} unknown:/a`},
		"Same":          {"a .tf and a .tofu file of the same name", "module.two.lab.web", "maybe unknown:/"},
		"Syntaxes":      {"files of the same name in native and JSON syntax", "module.syntaxes.lab.web", `present {"a":1}`},
		"Tofu":          {"a file that only OpenTofu reads", "module.tofu.lab.web", `present {"a":1}`},
	}
	files := tree(
		"infra/main.tf", `
module "net" {
  source = "../modules/net"
  a      = local.given
}
module "each" {
  source   = "../modules/net"
  for_each = toset(["k.l"])
  a        = each.key
}
module "remote" { source = "lab/net/lab" }
module "outside" { source = "../../net" }
module "nosource" { source = "../modules/${local.given}" }
module "counted" {
  source = "../modules/net"
  count  = data.x.y.n
}
module "broken" { source = "../modules/broken" }
module "missing" { source = "./missing" }
module "override" { source = "../modules/override" }
module "unknown" {
  source = "../modules/net"
  a      = data.x.y.n
}
module "two" { source = "../modules/two" }
module "syntaxes" { source = "../modules/syntaxes" }
module "tofu" { source = "../modules/tofu" }
locals { given = "given" }
`,
		"modules/net/main.tf", `
variable "a" {}
variable "b" { default = "fallback" }
locals { c = "x" }
resource "lab" "web" {
  a = var.a
  b = var.b
  c = local.c
}
module "deep" { source = "./deep" }
`,
		"modules/net/terraform.tfvars", `b = "not read"`,
		"modules/net/deep/main.tf", `resource "lab" "leaf" { n = 1 }`,
		"modules/broken/main.tf", `resource "lab" "web" {`,
		"modules/override/main.tf", `resource "lab" "web" { a = 1 }`,
		"modules/override/x_override.tf", `resource "lab" "web" { a = 2 }`,
		"modules/two/main.tf", `resource "lab" "web" { a = 1 }`,
		"modules/two/main.tofu", `resource "lab" "web" { a = 2 }`,
		"modules/syntaxes/main.tf", `resource "lab" "web" { a = 1 }`,
		"modules/syntaxes/main.tf.json", `{"resource": {"lab": {"other": {"a": 2}}}}`,
		"modules/tofu/main.tofu", `resource "lab" "web" { a = 1 }`,
		"modules/tofu/main.tf~", `resource "lab" "web" {`,
		"modules/tofu/.main.tf", `resource "lab" "web" {`,
	)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, evaluate(t, files, tc.address, literal.Options{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ reason, text, want string }{
		"Attributes": {"literals, and templates in texts", `{"resource": {"lab": {"web": {"//": "note", "a": "x", "b": [1, true, null], "c": "${var.size}", "d": "${other.r.id}"}}}}`,
			`present {"a":"x","b":[1,true,null],"c":2} unknown:/d`},
		"Blocks":  {"nested blocks are attributes", `{"resource": {"lab": {"web": {"disk": [{"size": 1}], "lifecycle": {}, "count": 1}}}}`, `present {"disk":[{"size":1}]}`},
		"Dynamic": {"dynamic blocks", `{"resource": {"lab": {"web": {"dynamic": {"disk": {"for_each": [1], "content": {}}}}}}}`, `present {} unknown:/disk`},
		"For":     {"a for expression is an error", `{"resource": {"lab": {"web": {"a": "${[for x in [1] : x]}"}}}}`, "error: parse infra/main.tf.json: for expressions are not supported"},
		"Deep":    {"a deep tree is an error", `{"a": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "error: parse infra/main.tf.json: nested too deeply"},
		"Chain":   {"a deep template is an error", `{"a": "${` + strings.Repeat("!", 500) + `x}"}`, "error: parse infra/main.tf.json: nested too deeply"},
		"Broken":  {"no JSON", `{`, "error: parse infra/main.tf.json: not JSON"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := tree("infra/main.tf.json", tc.text, "infra/v.tf", `variable "size" { default = 2 }`)
			if diff := cmp.Diff(tc.want, evaluate(t, files, "lab.web", literal.Options{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	var laughs strings.Builder
	laughs.WriteString("locals {\n l0 = [\"x\", \"x\"]\n s0 = \"0123456789\"\n")
	for i := 1; i < 60; i++ {
		from, to := "l"+string(rune('0'+(i-1)/10))+string(rune('0'+(i-1)%10)), "l"+string(rune('0'+i/10))+string(rune('0'+i%10))
		if i == 1 {
			from = "l0"
		}
		text := strings.Replace(from, "l", "s", 1)
		laughs.WriteString(" " + to + " = [local." + from + ", local." + from + "]\n " + strings.Replace(to, "l", "s", 1) + " = \"${local." + text + "}${local." + text + "}\"\n")
	}
	laughs.WriteString("}\nresource \"lab\" \"web\" {\n a = local.l59\n b = local.s59\n c = local.l02\n}\n")
	var powers strings.Builder
	powers.WriteString("locals {\n p0 = 1e300\n")
	for i := range 40 {
		fmt.Fprintf(&powers, " p%d = local.p%d * local.p%d\n", i+1, i, i)
	}
	powers.WriteString("}\nresource \"lab\" \"web\" {\n a = \"${local.p40}\"\n}\n")
	many := "resource \"lab\" \"web\" {\n a = {\n" + strings.Repeat("  k = \"v\"\n", 50_000) + "}\n}\n"
	cases := map[string]struct{ reason, text, want string }{
		"Laughs":    {"locals that grow exponentially", laughs.String(), `present {"a":[null,null],"c":[[["x","x"],["x","x"]],[["x","x"],["x","x"]]]} unknown:/a/0,/a/1,/b`},
		"Brackets":  {"deep brackets", "locals {\n a = " + strings.Repeat("[", 101) + strings.Repeat("]", 101) + "\n}\n", "error: parse infra/main.tf: nested too deeply"},
		"Unary":     {"many operators in a row", "locals {\n a = " + strings.Repeat("!", 1000) + "true\n}\n", "error: parse infra/main.tf: nested too deeply"},
		"Sum":       {"a long sum", "locals {\n a = 1" + strings.Repeat(" + 1", 1000) + "\n}\n", "error: parse infra/main.tf: nested too deeply"},
		"Condition": {"many conditions, over lines", "locals {\n a = (" + strings.Repeat("true ?\n1 : ", 500) + "1)\n}\n", "error: parse infra/main.tf: nested too deeply"},
		"Huge":      {"a file beyond the bound", "#" + strings.Repeat("x", 5<<20), "error: read infra/main.tf: too large to be evaluated"},
		"Large":     {"a large file within the bound", many, `present {"a":{"k":"v"}}`},
		"Template":  {"a long template is not deep", "resource \"lab\" \"web\" {\n a = <<EOT\n" + strings.Repeat("${1 + 1}", 150) + "\nEOT\n}\n", `present {"a":"` + strings.Repeat("2", 150) + `\n"}`},
		"Number":    {"a number of many digits", "locals {\n a = \"${1e999999999}\"\n}\n", "error: parse infra/main.tf: nested too deeply"},
		"Powers":    {"numbers that grow exponentially", powers.String(), `present {} unknown:/a`},
		"Binary":    {"no text", "\x00\xff{", "error: parse infra/main.tf:1: Invalid character"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, evaluate(t, tree("infra/main.tf", tc.text), "lab.web", literal.Options{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFormer(t *testing.T) {
	t.Parallel()
	files := tree("infra/main.tf", `
moved {
  from = lab.old
  to   = lab.web
}
moved {
  from = lab.single
  to   = lab.many["a.b"]
}
moved {
  from = module.before
  to   = module.net
}
moved {
  from = lab.list[1]
  to   = lab.second
}
moved {
  from = "lab.text"
  to   = 5
}
module "net" { source = "./net" }
`, "infra/net/main.tf", `
moved {
  from = lab.inner
  to   = lab.web
}
`)
	cases := map[string]struct{ reason, address, want string }{
		"Renamed":  {"a renamed resource", "lab.web", "lab.old"},
		"Index":    {"an instance of a renamed resource", `lab.web["x"]`, `lab.old["x"]`},
		"Keyed":    {"an instance that got a key", `lab.many["a.b"]`, "lab.single"},
		"OtherKey": {"another key", `lab.many["a"]`, ""},
		"Key":      {"an instance that had a key", "lab.second", "lab.list[1]"},
		"Module":   {"a renamed module, and a resource renamed in a module", "module.net.lab.web", "module.before.lab.web module.net.lab.inner"},
		"Prefix":   {"a name with the same prefix", "lab.website", ""},
		"Nothing":  {"no address", "lab..", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := literal.NewRoot(files, "infra", literal.Options{}, literal.NewParser())
			if diff := cmp.Diff(tc.want, strings.Join(r.Former(tc.address), " ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func FuzzResource(f *testing.F) {
	f.Add(`module.net["a.b"].lab_server.web[0]`, `resource "lab" "web" { a = merge({}, var.x) }`, `a = 1`)
	f.Add("lab.web", `variable "x" { default = [1] }`+"\n"+`resource "lab" "web" { count = var.x }`, `x = null`)
	f.Add("lab.web", `resource "lab" "web" { for_each = toset([null, 1]) }`, `x = null`)
	f.Fuzz(func(_ *testing.T, address, config, values string) {
		files := tree("main.tf", config, "json.tf.json", config, "terraform.tfvars", values, "x.auto.tfvars.json", values)
		for _, name := range []string{"main.tf", "json.tf.json"} {
			one := tree(name, config, "terraform.tfvars", values, "x.auto.tfvars.json", values)
			r := literal.NewRoot(one, ".", literal.Options{}, literal.NewParser())
			_, _ = r.Resource(address)
			_ = r.Former(address)
		}
		_, _ = literal.NewRoot(files, ".", literal.Options{}, literal.NewParser()).Resource("lab.web")
	})
}
