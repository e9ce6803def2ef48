package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/plan/policy"
)

// TestPolicyStages checks which commands of the CLI run if a policy refuses a root.
func TestPolicyStages(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		policy policy.Policy
		files  map[string]string
		// fetched are the files that init creates below TF_DATA_DIR.
		fetched map[string]string
		want    string
		calls   string
	}{
		"Allowed": {"a root that is allowed is planned", policy.Policy{Providers: []string{"hashicorp/lab"}, Modules: []string{}}, nil, nil, "", "version init plan show providers"},
		"Before": {"before init nothing runs", policy.Policy{Refuse: []string{"external"}}, map[string]string{"x.tf": `data "external" "x" {}`}, nil,
			`refused before init: infra/x.tf:1: data "external" "x" runs a program of the repository's choice in every plan: refuse has external`, ""},
		"Provider": {"a provider that only the state names", policy.Policy{Providers: []string{"hashicorp/lab"}}, nil,
			map[string]string{"providers/registry.terraform.io/evil/x/1.0.0/linux_amd64/x": ""}, "refused before plan: init installed the provider registry.terraform.io/evil/x", "version init"},
		"Module": {"a fetched module", policy.Policy{Refuse: []string{"external"}}, nil,
			map[string]string{"modules/modules.json": `{"Modules":[{"Key":"net","Dir":"../data/modules/net"}]}`, "modules/net/x.tf": `data "external" "x" {}`},
			`refused before plan: module net: x.tf:1: data "external" "x"`, "version init"},
		"Link": {"a link that leads out of the root", policy.Policy{Refuse: []string{"external"}}, map[string]string{"x.txt": "-> ../../fake/plan.json"}, nil,
			"the link leads out of the repository, and allow or refuse is set", ""},
		"Remembered": {"a repository that has what init keeps of a backend", policy.Policy{Refuse: []string{"exec"}},
			map[string]string{"x.tf": "terraform {\n  backend \"s3\" {}\n}", ".terraform/terraform.tfstate": `{"backend":{"type":"s3","config":{"bucket":"b","shared_config_files":["./evil"]}}}`}, nil,
			"refused before init: infra/.terraform/terraform.tfstate: the backend of the last init: shared_config_files may run a program", ""},
		"Nested": {"the same in an object", policy.Policy{Refuse: []string{"backend.*.role_arn"}},
			map[string]string{"x.tf": "terraform {\n  backend \"s3\" {}\n}", ".terraform/terraform.tfstate": `{"backend":{"type":"s3","config":{"assume_role":[{"role_arn":"x"}]}}}`}, nil,
			"refused before init: infra/.terraform/terraform.tfstate: the backend of the last init: role_arn", ""},
		"Tests": {"tests, whose modules init would fetch from anywhere", policy.Policy{Modules: []string{}},
			map[string]string{"x.tftest.hcl": "run \"a\" {}", "tests/x.tofutest.json": "{}"}, nil, "", "version init plan show providers"},
		"Pipe": {"a file that never ends in the place of the list of modules", policy.Policy{Refuse: []string{"http"}}, nil,
			map[string]string{"modules/modules.json": "-> /dev/zero"}, "refused before plan: read list of modules: ", "version init"},
		"Terragrunt": {"a Terragrunt root", policy.Policy{Refuse: []string{"external"}}, map[string]string{"terragrunt.hcl": "inputs = {}"}, nil,
			"policy: the root is a Terragrunt root, and allow or refuse is set", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			for file, text := range tc.files {
				s.lay(filepath.Join(s.root, file), text)
			}
			for file, text := range tc.fetched {
				path := filepath.Join(s.fake.dir, "init.lays", file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				s.lay(path, text)
			}
			s.options.Policy, s.options.Shown = tc.policy, "infra"
			if tc.files["terragrunt.hcl"] != "" {
				link := filepath.Join(s.fake.dir, "terragrunt")
				s.lay(link, "-> "+s.options.Binary)
				s.options.Binary = link
			}
			_, err := s.run()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %s", tc.reason, err, tc.want)
			}
			var calls []string
			for _, call := range s.calls() {
				name, _, _ := strings.Cut(call, " ")
				calls = append(calls, name)
			}
			if d := cmp.Diff(tc.calls, strings.Join(calls, " ")); d != "" {
				t.Errorf("%s: calls (-want +got):\n%s", tc.reason, d)
			}
			if s.fake.has("init.saw") {
				t.Errorf("%s: init saw %s", tc.reason, s.fake.text("init.saw"))
			}
			if left := s.left(); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestPolicySettings(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.options.Policy.Refuse = []string{"x"}
	if _, err := s.run(); err == nil || !strings.Contains(err.Error(), `refuse: "x": want external`) || s.fake.has("calls") {
		t.Errorf("got %v", err)
	}
}

// TestNotes checks the dangerous parts of a planned root.
func TestNotes(t *testing.T) {
	t.Parallel()
	s := newStage(t, map[string]string{"x.tf": "\n" + `data "external" "x" {}`})
	out, err := s.run()
	want := []policy.Note{{Place: s.root + "/x.tf:2", Text: `data "external" "x" runs a program of the repository's choice in every plan`}}
	if d := cmp.Diff(want, out.Notes); d != "" || err != nil || !out.Complete {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// TestTooLarge checks the error for a file that the CLI reads and driftd cannot read: ignored
// changes in it would be reported.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("b {}\n", 1<<18)
	for name, tt := range map[string]struct{ reason, file, want string }{
		"root":   {"a file of the root", "x.tf", "read configuration: parse x.tf: too large"},
		"module": {"a file of a module", "m/x.tf", "read configuration: module.m: parse x.tf: too large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, map[string]string{tt.file: large})
			s.set("init.lays/modules/modules.json", `{"Modules":[{"Key":"m","Dir":"m"}]}`)
			if _, err := s.run(); err == nil || !strings.HasPrefix(err.Error(), tt.want) || !strings.HasSuffix(err.Error(), "split the file") {
				t.Errorf("%s: got %v, want %s", tt.reason, err, tt.want)
			}
		})
	}
}
