package plan

import (
	"archive/zip"
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// zipped returns a plan file with a state.
func zipped(t *testing.T, state string, more int) string {
	t.Helper()
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	names := []string{"tfplan", "tfstate"}
	for i := range more {
		names = append(names, fmt.Sprintf("tfconfig/m-%d", i))
	}
	for _, name := range names {
		entry, err := w.Create(name)
		if err == nil && name == "tfstate" {
			_, err = entry.Write([]byte(state))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

const planState = `{"version":4,"terraform_version":"1.11.4","serial":7,"lineage":"l-1","outputs":{},"resources":[]}`

func TestRecordOfPlan(t *testing.T) {
	t.Parallel()
	stored := func(version string, serial int) string {
		return fmt.Sprintf(`{"version":4,"terraform_version":%q,"serial":%d,"lineage":"l-1","outputs":{}}`, version, serial)
	}
	local := "terraform {\n  backend \"local\" {\n    path = \"kept/a.tfstate\"\n    workspace_dir = \"kept/all\"\n  }\n}"
	tests := map[string]struct {
		plan      string
		files     map[string]string
		workspace string
		version   string
		serial    int64
		none      bool
	}{
		"a state at a backend":          {zipped(t, planState, 0), map[string]string{"main.tf": "terraform {\n  backend \"s3\" {}\n}", "terraform.tfstate": stored("1.12.0", 7)}, "", "", 7, false},
		"a state in the root":           {zipped(t, planState, 0), map[string]string{"terraform.tfstate": stored("1.12.0", 7)}, "", "1.12.0", 7, false},
		"a state of a workspace":        {zipped(t, planState, 0), map[string]string{"terraform.tfstate.d/prod/terraform.tfstate": stored("1.12.0", 7)}, "prod", "1.12.0", 7, false},
		"a state at a path":             {zipped(t, planState, 0), map[string]string{"main.tf": local, "kept/a.tfstate": stored("1.12.0", 7)}, "", "1.12.0", 7, false},
		"a workspace below a path":      {zipped(t, planState, 0), map[string]string{"main.tf": local, "kept/all/prod/terraform.tfstate": stored("1.12.0", 7)}, "prod", "1.12.0", 7, false},
		"another state at the path":     {zipped(t, planState, 0), map[string]string{"terraform.tfstate": stored("1.12.0", 6)}, "", "", 7, false},
		"no state yet":                  {zipped(t, `{"version":4,"terraform_version":"1.11.4","serial":0,"lineage":"","outputs":{},"resources":[]}`, 0), nil, "", "", 0, false},
		"an encrypted plan":             {`{"meta":{},"encrypted_data":""}`, nil, "", "", 0, true},
		"a plan file of 30,000 entries": {zipped(t, planState, 30_000), nil, "", "", 0, true},
		"no state in the plan file":     {zipped(t, "", 0), nil, "", "", 0, true},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, test.files)
			s.options.Workspace = test.workspace
			w, err := begin(s.options)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := w.end(); err != nil {
					t.Error(err)
				}
			}()
			if err := w.prepare(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			s.write(w.planFile(planStage), test.plan)
			r := &runner{work: w, cli: &cli{version: "1.11.4"}}
			got, ok := r.record(w.planFile(planStage))
			if ok == test.none {
				t.Fatalf("got %+v, %v", got, ok)
			}
			if test.none {
				return
			}
			workspace := "default"
			if test.workspace != "" {
				workspace = test.workspace
			}
			want := model.StateRead{Address: s.options.Dir + " (workspace " + workspace + ")", Serial: test.serial, Version: test.version, PlannedBy: "1.11.4"}
			if want.Serial != 0 {
				want.Lineage = "l-1"
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestRecordWithoutPlanFile(t *testing.T) {
	t.Parallel()
	r := &runner{work: &work{dir: t.TempDir()}}
	if got, ok := r.record(filepath.Join(r.dir, "none")); ok {
		t.Errorf("got %+v", got)
	}
}
