package policy

import (
	"strings"
	"testing"
)

// beforeCase is a root in the folder infra of a repository, and the error of Before.
type beforeCase struct {
	reason string
	policy Policy
	files  map[string]string
	want   string
}

func (tc beforeCase) run(t *testing.T, name string) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		for file, text := range tc.files {
			lay(t, dir, map[string]string{"copy/infra/" + file: text})
		}
		lay(t, dir, map[string]string{"copy/infra/zz.tf": "locals {}"})
		r := rootOf(dir)
		r.BackendFiles = []string{"site.tfbackend", "/etc/site.tfbackend", "missing.tfbackend"}
		err := tc.policy.Before(r)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: got %v", tc.reason, err)
		case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)):
			t.Errorf("%s: got %v, want %s", tc.reason, err, tc.want)
		}
	})
}

func file(text string) map[string]string { return map[string]string{"main.tf": text} }

func jsonFile(text string) map[string]string { return map[string]string{"main.tf.json": text} }

func TestBeforeProviders(t *testing.T) {
	t.Parallel()
	lab := Policy{Providers: []string{"driftd/lab", "hashicorp/random"}}
	for name, tc := range map[string]beforeCase{
		"Listed":      {"a provider that is listed", lab, file("terraform {\n  required_providers {\n    lab = { source = \"driftd/lab\" }\n  }\n}\nresource \"lab_server\" \"x\" {}"), ""},
		"Builtin":     {"a built-in provider", lab, file("resource \"terraform_data\" \"x\" {}\ndata \"terraform_remote_state\" \"y\" {}"), ""},
		"Required":    {"not in the list", lab, file("terraform {\n  required_providers {\n    lab = { source = \"evil/lab\" }\n  }\n}"), "infra/main.tf:3: required_providers.lab uses the provider evil/lab: not in allow.providers"},
		"Implied":     {"a resource implies its provider", lab, file("resource \"aws_vpc\" \"x\" {}"), `infra/main.tf:1: resource "aws_vpc" "x" uses the provider hashicorp/aws: not in allow.providers`},
		"Data":        {"a data source, too", lab, file("data \"aws_vpc\" \"x\" {}"), `infra/main.tf:1: data "aws_vpc" "x" uses the provider hashicorp/aws`},
		"Ephemeral":   {"an ephemeral resource, too", lab, file("ephemeral \"aws_token\" \"x\" {}"), `infra/main.tf:1: ephemeral "aws_token" "x" uses the provider hashicorp/aws`},
		"Block":       {"a provider block", lab, file("provider \"aws\" {}"), `infra/main.tf:1: provider "aws" uses the provider hashicorp/aws`},
		"Meta":        {"the meta-argument", lab, file("resource \"random_id\" \"x\" {\n  provider = aws.west\n}"), `infra/main.tf:1: resource "random_id" "x" uses the provider hashicorp/aws`},
		"MetaText":    {"the meta-argument as Terraform 0.11 wrote it", lab, file("resource \"random_id\" \"x\" {\n  provider = \"aws.west\"\n}"), `infra/main.tf:1: resource "random_id" "x" uses the provider hashicorp/aws`},
		"MetaIndex":   {"one of several, as OpenTofu has it", lab, file("resource \"random_id\" \"x\" {\n  provider = aws.by[each.key]\n}"), `infra/main.tf:1: resource "random_id" "x" uses the provider hashicorp/aws`},
		"MetaIs":      {"the meta-argument overrides the type", lab, file("resource \"aws_vpc\" \"x\" {\n  provider = random\n}"), ""},
		"Passed":      {"a provider that is passed to a module", lab, map[string]string{"main.tf": "module \"m\" {\n  source = \"./m\"\n  providers = { aws = aws.west }\n}", "m/main.tf": ""}, `infra/main.tf:1: module "m" uses the provider hashicorp/aws`},
		"Module":      {"a provider of a local module", lab, map[string]string{"main.tf": `module "m" { source = "./m" }`, "m/main.tf": `module "n" { source = "../n" }`, "n/a.tf": `resource "aws_vpc" "x" {}`}, `infra/n/a.tf:1: resource "aws_vpc" "x" uses the provider hashicorp/aws`},
		"Elsewhere":   {"the source is in another file", lab, map[string]string{"main.tf": `resource "srv_x" "y" {}`, "versions.tf": "terraform {\n  required_providers {\n    srv = { source = \"driftd/lab\" }\n  }\n}"}, ""},
		"Version":     {"the form without a source", lab, file("terraform {\n  required_providers {\n    aws = \"~> 5.0\"\n  }\n}"), "infra/main.tf:3: required_providers.aws uses the provider hashicorp/aws"},
		"Variable":    {"a source that is not a constant", lab, file("terraform {\n  required_providers {\n    lab = { source = var.x }\n  }\n}"), "infra/main.tf:3: required_providers.lab: its source is not a constant"},
		"NoObject":    {"a requirement that is not an object", lab, file("terraform {\n  required_providers {\n    lab = merge({}, {})\n  }\n}"), "infra/main.tf:3: required_providers.lab: its source is not a constant"},
		"Override":    {"an override file", lab, map[string]string{"main.tf": "terraform {\n  required_providers {\n    lab = { source = \"driftd/lab\" }\n  }\n}", "main_override.tf": "terraform {\n  required_providers {\n    lab = { source = \"evil/lab\" }\n  }\n}"}, "infra/main_override.tf:3: required_providers.lab uses the provider evil/lab"},
		"Tofu":        {"a file of OpenTofu", lab, map[string]string{"main.tf": "", "main.tofu": `resource "aws_vpc" "x" {}`}, `infra/main.tofu:1: resource "aws_vpc" "x" uses`},
		"JSON":        {"JSON syntax", lab, jsonFile(`{"resource": {"aws_vpc": {"x": {}}}}`), `infra/main.tf.json:1: resource "aws_vpc" "x" uses the provider hashicorp/aws`},
		"JSONList":    {"JSON syntax with lists", lab, jsonFile(`{"terraform": [{"required_providers": [{"lab": {"source": "evil/lab"}}]}]}`), "infra/main.tf.json:1: required_providers.lab uses the provider evil/lab"},
		"JSONMeta":    {"the meta-argument in JSON", lab, jsonFile(`{"resource": {"random_id": {"x": {"provider": "aws.west"}}}}`), `infra/main.tf.json:1: resource "random_id" "x" uses the provider hashicorp/aws`},
		"Check":       {"a data source in a check block", lab, file("check \"c\" {\n  data \"aws_vpc\" \"x\" {}\n}"), `infra/main.tf:2: data "aws_vpc" "x" uses the provider hashicorp/aws`},
		"StateStore":  {"a state store of a provider", lab, file("terraform {\n  state_store \"aws_s3\" {}\n}"), `infra/main.tf:2: state_store "aws_s3" uses the provider hashicorp/aws`},
		"Plugins":     {"programs in the repository", lab, map[string]string{"terraform.d/plugins/x": ""}, "infra/terraform.d/plugins has programs that init may install as any provider: allow.providers is set"},
		"PluginsLink": {"the same folder as a link", lab, map[string]string{"terraform.d/plugins": "-> ../x"}, "infra/terraform.d/plugins has programs that"},
		"Hidden":      {"files that the CLI ignores", lab, map[string]string{".a.tf": "x {", "b.tf~": "x {", "#c.tf#": "x {", "d.txt": "x {"}, ""},
		"Broken":      {"a file that cannot be parsed", lab, file("x {"), "parse infra/main.tf:1:"},
		"BrokenJSON":  {"a JSON file that cannot be parsed", lab, jsonFile("{"), "parse infra/main.tf.json: not JSON"},
		"Labels":      {"a block with too many labels", lab, file("resource \"aws_vpc\" {}"), "parse infra/main.tf:1:"},
		"Deep":        {"a file that is nested too deeply", lab, file("locals { a = " + strings.Repeat("[", 1000) + " }"), "parse infra/main.tf: nested too deeply"},
		"Large":       {"a file that is too large", lab, file(strings.Repeat("#", maxFile+1)), "read infra/main.tf: more than 8 MiB"},
		"Encoding":    {"a file in another encoding", lab, file("\xff\xfel\x00o\x00c\x00a\x00l\x00s\x00"), "parse infra/main.tf"},
		"Dangling":    {"a file that cannot be read", lab, map[string]string{"main.tf": "-> nowhere"}, "read infra/main.tf:"},
		"Two":         {"several are counted", lab, file("resource \"aws_vpc\" \"x\" {}\nresource \"gcp_vpc\" \"x\" {}\nresource \"az_vpc\" \"x\" {}"), `infra/main.tf:1: resource "aws_vpc" "x" uses the provider hashicorp/aws: not in allow.providers (and 2 more)`},
		"Unset":       {"no list", Policy{}, file("resource \"aws_vpc\" \"x\" {}"), ""},
	} {
		tc.run(t, name)
	}
}

func TestBeforeModules(t *testing.T) {
	t.Parallel()
	git := Policy{Modules: []string{"git::https://git.example.org/*", "acme/*"}}
	for name, tc := range map[string]beforeCase{
		"Listed":    {"sources that are listed", git, file("module \"a\" { source = \"git::https://git.example.org/a.git?ref=v1\" }\nmodule \"b\" { source = \"acme/net/aws\" }"), ""},
		"Other":     {"not in the list", git, file("module \"a\" {\n  source = \"git::https://user:secret@evil.org/a.git//x?ref=v1\"\n}"), `infra/main.tf:1: module "a" has the source git::https://evil.org/a//x: not in allow.modules`},
		"None":      {"an empty list", Policy{Modules: []string{}}, file("module \"a\" { source = \"acme/net/aws\" }"), `infra/main.tf:1: module "a" has the source acme/net/aws: not in allow.modules`},
		"Local":     {"a module in the repository", git, map[string]string{"main.tf": `module "a" { source = "../modules/a" }`, "../modules/a/main.tf": `module "b" { source = "./b" }`, "../modules/a/b/x.tf": ""}, ""},
		"Up":        {"a path that leads out of the repository", git, file(`module "a" { source = "../../other" }`), `infra/main.tf:1: module "a": its source ../../other is not in the repository`},
		"UpDeep":    {"the same from a module", git, map[string]string{"main.tf": `module "a" { source = "./a" }`, "a/main.tf": `module "b" { source = "../../../other" }`}, `infra/a/main.tf:1: module "b": its source ../../../other is not in`},
		"UpRefuse":  {"with refuse alone", Policy{Refuse: []string{"external"}}, file(`module "a" { source = "../../other" }`), `infra/main.tf:1: module "a": its source`},
		"Absolute":  {"a path of the machine", git, file(`module "a" { source = "/etc/driftd" }`), `infra/main.tf:1: module "a" has the source file:///etc/driftd: not in allow.modules`},
		"Variable":  {"a source that is not a constant", git, file(`module "a" { source = var.x }`), `infra/main.tf:1: module "a": its source is not a constant`},
		"Template":  {"a source that is a template", git, file(`module "a" { source = "git::https://git.example.org/${var.x}" }`), `infra/main.tf:1: module "a": its source is not a constant`},
		"Unknown":   {"an unsupported form", git, file(`module "a" { source = "bucket.s3.amazonaws.com/a" }`), `infra/main.tf:1: module "a": the form of the source is not supported`},
		"ForEach":   {"a module of several instances", git, file("module \"a\" {\n  for_each = var.x\n  source = \"evil/net/aws\"\n}"), `infra/main.tf:1: module "a" has the source evil/net/aws`},
		"JSON":      {"JSON syntax", git, jsonFile(`{"module": {"a": {"source": "evil/net/aws"}}}`), `infra/main.tf.json:1: module "a" has the source evil/net/aws`},
		"Circle":    {"modules in a circle", git, map[string]string{"main.tf": `module "a" { source = "./a" }`, "a/main.tf": `module "a" { source = "../a" }`}, ""},
		"Unpinned":  {"a tag may be moved", Policy{Refuse: []string{"unpinned"}}, file(`module "a" { source = "git::https://u:secret@git.example.org/a?ref=v1" }`), `infra/main.tf:1: module "a" from git::https://git.example.org/a is not fetched by commit, exact version or checksum: its code may change without a commit here: refuse has unpinned`},
		"Pinned":    {"a commit", Policy{Refuse: []string{"unpinned"}}, file(`module "a" { source = "git::https://git.example.org/a?ref=0123456789abcdef0123456789abcdef01234567" }`), ""},
		"Version":   {"an exact version", Policy{Refuse: []string{"unpinned"}}, file("module \"a\" {\n  source = \"acme/net/aws\"\n  version = \"1.2.3\"\n}"), ""},
		"No source": {"an override file without a source", git, map[string]string{"a_override.tf": `module "a" { x = 1 }`}, ""},
		"Unset":     {"no list", Policy{Providers: []string{}}, file(`module "a" { source = "evil/net/aws" }`), ""},
	} {
		tc.run(t, name)
	}
}

func TestBeforeBlocks(t *testing.T) {
	t.Parallel()
	refuse := func(entries ...string) Policy { return Policy{Refuse: entries} }
	many := strings.Repeat("data \"a\" \"b\" {}\n", 40_000)
	const external = `data "external" "x" runs a program of the repository's choice in every plan: refuse has external`
	for name, tc := range map[string]beforeCase{
		"External":     {"a program", refuse("external"), file("\n\ndata \"external\" \"x\" {}"), "infra/main.tf:3: " + external},
		"Other":        {"another danger", refuse("http"), file("data \"external\" \"x\" {}"), ""},
		"Provider":     {"a data source with another provider", refuse("external"), file("data \"external\" \"x\" {\n  provider = foo\n}"), "infra/main.tf:1: " + external},
		"Check":        {"in a check block", refuse("external"), file("check \"c\" {\n  data \"external\" \"x\" {}\n}"), "infra/main.tf:2: " + external},
		"JSON":         {"JSON syntax", refuse("external"), jsonFile(`{"data": [{"external": [{"x": {}}]}]}`), "infra/main.tf.json:1: " + external},
		"Module":       {"in a local module", refuse("external"), map[string]string{"main.tf": `module "a" { source = "./a" }`, "a/b.tf": `data "external" "x" {}`}, "infra/a/b.tf:1: " + external},
		"Unused":       {"a folder that is no module", refuse("external"), map[string]string{"main.tf": "", "a/b.tf": `data "external" "x" {}`}, ""},
		"Encryption":   {"a program that makes the state's key", refuse("external"), file("terraform {\n  encryption {\n    key_provider \"external\" \"x\" {}\n  }\n}"), `infra/main.tf:3: key_provider "external" "x" runs a program`},
		"HTTP":         {"a request", refuse("http"), file(`data "http" "x" {}`), `infra/main.tf:1: data "http" "x" sends a request`},
		"LocalExec":    {"a provisioner", refuse("local-exec"), file("resource \"null_resource\" \"x\" {\n  provisioner \"local-exec\" {}\n}"), `infra/main.tf:2: provisioner "local-exec" does not run in a plan; an apply runs a program on the machine that applies: refuse has local-exec`},
		"Removed":      {"in a removed block", refuse("local-exec"), file("removed {\n  from = x.y\n  provisioner \"local-exec\" {}\n}"), `infra/main.tf:3: provisioner "local-exec"`},
		"LocalJSON":    {"a provisioner in JSON", refuse("local-exec"), jsonFile(`{"resource": {"a": {"b": {"provisioner": [{"local-exec": {}}]}}}}`), `infra/main.tf.json:1: provisioner "local-exec"`},
		"RemoteExec":   {"a provisioner", refuse("remote-exec"), file("resource \"null_resource\" \"x\" {\n  provisioner \"file\" {}\n}"), `infra/main.tf:2: provisioner "file"`},
		"RemoteState":  {"another state", refuse("remote-state"), file(`data "terraform_remote_state" "x" {}`), `infra/main.tf:1: data "terraform_remote_state" "x" reads a state`},
		"Plugins":      {"programs in the repository", refuse("plugins"), map[string]string{"terraform.d/plugins/x": ""}, "infra/terraform.d/plugins has programs that init may install as any provider: refuse has plugins"},
		"Exec":         {"a program that signs in", refuse("exec"), file("provider \"kubernetes\" {\n  exec {\n  }\n}"), `infra/main.tf:2: provider "kubernetes": exec may run a program`},
		"ExecDeep":     {"in a block", refuse("exec"), file("provider \"helm\" {\n  kubernetes {\n    exec {}\n  }\n}"), `infra/main.tf:3: provider "helm": exec may run a program`},
		"ExecObject":   {"in an object", refuse("exec"), file("provider \"helm\" {\n  kubernetes = {\n    exec = {}\n  }\n}"), `infra/main.tf:3: provider "helm": exec may run a program`},
		"ExecList":     {"in a list of objects", refuse("exec"), file("provider \"helm\" {\n  kubernetes = [{ \"exec\" = {} }]\n}"), `infra/main.tf:2: provider "helm": exec may run a program`},
		"ExecDynamic":  {"in a dynamic block", refuse("exec"), file("provider \"kubernetes\" {\n  dynamic \"exec\" {\n    for_each = [1]\n    content {}\n  }\n}"), `infra/main.tf:2: provider "kubernetes": exec may run a program`},
		"ExecJSON":     {"in JSON", refuse("exec"), jsonFile(`{"provider": {"helm": [{"kubernetes": {"exec": {}}}]}}`), `infra/main.tf.json:1: provider "helm": exec may run a program`},
		"ExecNested":   {"in JSON, in a list in a list, which the CLI reads by its schema", refuse("exec"), jsonFile(`{"provider": {"kubernetes": [[{"exec": {}}]]}}`), "parse infra/main.tf.json:1: "},
		"ExecTwice":    {"in JSON, in the second value of a name", refuse("exec"), jsonFile(`{"provider": {"helm": {"kubernetes": {}, "kubernetes": {"exec": {}}}}}`), "parse infra/main.tf.json:1: "},
		"ExecComputed": {"an object that driftd does not evaluate", refuse("exec"), file("provider \"helm\" {\n  kubernetes = jsondecode(local.x)\n}"), `infra/main.tf:2: provider "helm": kubernetes may run a program`},
		"ExecKey":      {"an object with a name that driftd does not evaluate", refuse("exec"), file("provider \"helm\" {\n  kubernetes = { (local.x) = {} }\n}"), `infra/main.tf:2: provider "helm": kubernetes may run a program`},
		"ExecContent":  {"in a dynamic block, by the name of the block", refuse("provider.helm.kubernetes.exec"), file("provider \"helm\" {\n  dynamic \"kubernetes\" {\n    for_each = [1]\n    content {\n      exec {}\n    }\n  }\n}"), `infra/main.tf:5: provider "helm": exec may run a program of the repository's choice for credentials in every plan: refuse has provider.helm.kubernetes.exec`},
		"ExecDynJSON":  {"in a dynamic block in JSON, by the name of the block", refuse("provider.aws.endpoints.sts"), jsonFile(`{"provider": {"aws": {"dynamic": {"endpoints": {"for_each": [1], "content": {"sts": "http://evil"}}}}}}`), `infra/main.tf.json:1: provider "aws": sts: refuse has provider.aws.endpoints.sts`},
		"ExecVariable": {"an ordinary argument that driftd does not evaluate", refuse("exec"), file("provider \"aws\" {\n  region = var.region\n}"), ""},
		"KeyProvider":  {"a key provider with a file of AWS that names a program", refuse("exec"), file("terraform {\n  encryption {\n    key_provider \"aws_kms\" \"x\" {\n      shared_config_files = [\"./x\"]\n    }\n  }\n}"), `infra/main.tf:4: key_provider "aws_kms" "x": shared_config_files may run a program`},
		"OtherState":   {"the backend of another state with such a file", refuse("exec"), file("data \"terraform_remote_state\" \"x\" {\n  backend = \"s3\"\n  config = {\n    shared_config_files = [\"./x\"]\n  }\n}"), `infra/main.tf:4: data "terraform_remote_state" "x": shared_config_files may run a program`},
		"OtherExec":    {"the backend of another state with a program", refuse("exec"), file("data \"terraform_remote_state\" \"x\" {\n  backend = \"kubernetes\"\n  config = {\n    exec = {}\n  }\n}"), `infra/main.tf:4: data "terraform_remote_state" "x": exec may run a program`},
		"OtherAny":     {"the backend of another state with arguments that driftd does not evaluate", refuse("exec"), file("data \"terraform_remote_state\" \"x\" {\n  backend = \"s3\"\n  config = local.x\n}"), `infra/main.tf:3: data "terraform_remote_state" "x": config may run a program`},
		"OtherPlain":   {"the backend of another state with ordinary arguments", refuse("exec"), file("data \"terraform_remote_state\" \"x\" {\n  backend = \"s3\"\n  config = {\n    bucket = var.x\n  }\n}"), ""},
		"LongLabel":    {"a label that would be repeated for each argument", refuse("http"), file("provider \"" + strings.Repeat("x", 2000) + "\" {\n  a = 1\n}"), "parse infra/main.tf:1: a label or name of more than 1024 bytes"},
		"ManyBlocks":   {"more blocks than driftd keeps", refuse("http"), map[string]string{"a.tf": many, "b.tf": many, "c.tf": many}, "read infra/c.tf: more than 100000 blocks and arguments in all"},
		"Backend":      {"a program that signs in to the backend", refuse("exec"), file("terraform {\n  backend \"kubernetes\" {\n    exec {}\n  }\n}"), `infra/main.tf:3: backend "kubernetes": exec may run a program`},
		"AWSConfig":    {"a file of AWS that names a program", refuse("exec"), file("terraform {\n  backend \"s3\" {\n    shared_config_files = [\"./x\"]\n  }\n}"), `infra/main.tf:3: backend "s3": shared_config_files may run a program`},
		"Kubeconfig":   {"a kubeconfig that names a program", refuse("exec"), file("provider \"kubernetes\" {\n  config_path = \"./x\"\n}"), `infra/main.tf:2: provider "kubernetes": config_path may run a program`},
		"BackendType":  {"a sort of backend", refuse("backend.http"), file("terraform {\n  backend \"http\" {\n    address = \"x\"\n  }\n}"), `infra/main.tf:2: backend "http": refuse has backend.http`},
		"Cloud":        {"a backend of its own", refuse("backend.*"), file("terraform {\n  cloud {}\n}"), `infra/main.tf:2: cloud: refuse has backend.*`},
		"BackendFile":  {"a file of the root that completes the backend", refuse("backend.*.address"), map[string]string{"site.tfbackend": "address = \"http://evil\""}, `infra/site.tfbackend:1: the backend's file: address: refuse has backend.*.address`},
		"Argument":     {"an argument of a provider", refuse("provider.aws.endpoints"), file("provider \"aws\" {\n  endpoints {\n  }\n}"), `infra/main.tf:2: provider "aws": endpoints: refuse has provider.aws.endpoints`},
		"AnyArgument":  {"any argument of a provider", refuse("provider.*.*"), file("provider \"aws\" {\n  region = var.x\n}"), `infra/main.tf:2: provider "aws": region: refuse has provider.*.*`},
		"NoArgument":   {"a provider block without arguments", refuse("provider.*.*"), file("provider \"aws\" {}"), ""},
		"Resource":     {"a sort of resource", refuse("resource.null_*"), file("resource \"null_resource\" \"x\" {}"), `infra/main.tf:1: resource "null_resource" "x": refuse has resource.null_*`},
		"Any":          {"the same type of any sort", refuse("*.external"), file("data \"external\" \"x\" {}"), `infra/main.tf:1: data "external" "x"`},
		"Broken":       {"a file that cannot be parsed", refuse("external"), file("x {"), "parse infra/main.tf:1:"},
		"BrokenModule": {"the same in a module", refuse("external"), map[string]string{"main.tf": `module "a" { source = "./a" }`, "a/b.tf": "x {"}, "parse infra/a/b.tf:1:"},
	} {
		tc.run(t, name)
	}
}

func TestBeforeFiles(t *testing.T) {
	t.Parallel()
	files := Policy{Refuse: []string{"files"}}
	local := func(expression string) map[string]string { return file("locals {\n  a = " + expression + "\n}") }
	const does = " may read files of the machine in every plan: refuse has files"
	for name, tc := range map[string]beforeCase{
		"In":            {"files of the repository", files, local(`[file("a.txt"), file("${path.module}/../b.txt"), filemd5("./a"), fileexists("${path.root}/a"), file("${path.cwd}/a")]`), ""},
		"Absolute":      {"a file of the machine", files, local(`file("/etc/driftd/token")`), `infra/main.tf:2: file("/etc/driftd/token")` + does},
		"Up":            {"a path that leads out", files, local(`filebase64("${path.module}/../../x")`), `infra/main.tf:2: filebase64("../../x")` + does},
		"Home":          {"a home folder", files, local(`filesha256("~/.aws/credentials")`), `infra/main.tf:2: filesha256("~/.aws/credentials")` + does},
		"Absolute copy": {"no path of the machine is one of the repository", files, local(`file("/")`), `infra/main.tf:2: file("/")`},
		"Far up":        {"more steps up than there are", files, local(`file("` + strings.Repeat("../", 50) + `etc/passwd")`), `infra/main.tf:2: file("../`},
		"Joined":        {"a name that goes on after a folder may be a step up", files, local(`file("${path.root}./../x")`), "infra/main.tf:2: file(…)" + does},
		"Core":          {"a function by its namespace", files, local(`core::file("/etc/passwd")`), `infra/main.tf:2: file("/etc/passwd")` + does},
		"Variable":      {"a path that is no constant", files, local(`file(var.x)`), "infra/main.tf:2: file(…)" + does},
		"Part":          {"a part that is no constant", files, local(`file("${path.module}/${var.x}")`), "infra/main.tf:2: file(…)" + does},
		"Conditional":   {"a template with a directive", files, local(`file("%{ if true }/etc/passwd%{ endif }")`), "infra/main.tf:2: file(…)" + does},
		"Spread":        {"arguments that are a list", files, local(`file(local.b...)`), "infra/main.tf:2: file(…)" + does},
		"Parentheses":   {"parentheses", files, local(`file(("/etc/passwd"))`), `infra/main.tf:2: file("/etc/passwd")`},
		"Heredoc":       {"in a heredoc", files, local("<<-END\n    ${file(\"/etc/passwd\")}\n  END"), `infra/main.tf:3: file("/etc/passwd")`},
		"Nested":        {"in a call", files, local(`base64encode(join("", [file("/etc/passwd")]))`), `infra/main.tf:2: file("/etc/passwd")`},
		"List":          {"a list of files", files, local(`fileset("/etc", "*")`), `infra/main.tf:2: fileset("/etc")`},
		"Pattern":       {"a pattern that leads up", files, local(`fileset(path.module, "../../../etc/*")`), `infra/main.tf:2: fileset(".")`},
		"Template":      {"a template of the repository", files, map[string]string{"main.tf": `locals { a = templatefile("${path.module}/x.tpl", {}) }`, "x.tpl": "${a} %{ for x in y }${x}%{ endfor }"}, ""},
		"InTemplate":    {"a function in a template", files, map[string]string{"main.tf": `locals { a = templatefile("x.tpl", {}) }`, "x.tpl": `${file("/etc/passwd")}`}, `infra/main.tf:1: file("/etc/passwd")`},
		"Templates":     {"a template of a template, in a circle", files, map[string]string{"main.tf": `locals { a = templatefile("x.tpl", {}) }`, "x.tpl": `${templatefile("y.tpl", {})}`, "y.tpl": `${templatefile("x.tpl", {})}${file(a)}`}, "infra/main.tf:1: file(…)"},
		"BadTemplate":   {"a template that cannot be parsed", files, map[string]string{"main.tf": `locals { a = templatefile("x.tpl", {}) }`, "x.tpl": `${`}, `infra/main.tf:1: templatefile("x.tpl")`},
		"NoTemplate":    {"a template that is missing", files, local(`templatefile("x.tpl", {})`), ""},
		"Text":          {"a template that is a value", files, local(`templatestring(local.x, {})`), "infra/main.tf:2: templatestring(…)"},
		"JSON":          {"JSON syntax", files, jsonFile(`{"locals": {"a": "${file(\"/etc/passwd\")}"}}`), `infra/main.tf.json: file("/etc/passwd")`},
		"JSONKey":       {"a key in JSON", files, jsonFile(`{"locals": {"a": {"${file(\"/etc/passwd\")}": 1}}}`), `infra/main.tf.json: file("/etc/passwd")`},
		"Module":        {"path.module of a module", files, map[string]string{"main.tf": `module "a" { source = "../a" }`, "../a/main.tf": "locals {\n  a = file(\"${path.module}/x\")\n  b = file(\"${path.module}/../../x\")\n}"}, `a/main.tf:3: file("../../x")`},
		"Data":          {"a data source that reads files", files, file(`data "local_file" "x" {}`), `infra/main.tf:1: data "local_file" "x" may read files`},
		"JSONTwice":     {"the first of two values of a name in JSON, which HCL reads both", files, jsonFile(`{"locals": {"a": "${file(\"/etc/passwd\")}"}, "locals": {"b": 1}}`), `infra/main.tf.json: file("/etc/passwd")`},
		"NoArguments":   {"a call that the CLI refuses", files, local(`file()`), ""},
		"Long":          {"a long path is cut", files, local(`file("/` + strings.Repeat("x", 500) + `")`), `infra/main.tf:2: file("/` + strings.Repeat("x", 119) + `…")`},
		"Not refused":   {"without files in refuse", Policy{Refuse: []string{"http"}}, local(`file("/etc/passwd")`), ""},
		"Pattern alone": {"only what is known to lie outside", Policy{Refuse: []string{"file.outside"}}, local(`file(var.x)`), ""},
	} {
		tc.run(t, name)
	}
}
