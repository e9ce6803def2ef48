package plan

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const importWeb = "import {\n  to = lab_server.new\n  id = \"s-2\"\n}\n"

func TestGenerate(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.set("generated", "# __generated__\nresource \"lab_server\" \"new\" {\n  name = \"new\"\n  old = null # sensitive\n  tags = []\n  bad = 0\n  disk {\n    bad = 1\n  }\n  net {\n    mtu = 2\n  }\n}\n")
	s.set("plan.rejects", "bad")
	before := s.snapshot(filepath.Dir(s.root))
	text, err := Generate(t.Context(), s.options, importWeb)
	if err != nil {
		t.Fatal(err)
	}
	want := "resource \"lab_server\" \"new\" {\n  name = \"new\"\n  net {\n    mtu = 2\n  }\n}\n"
	if d := cmp.Diff(want, text); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(before, s.snapshot(filepath.Dir(s.root))); d != "" {
		t.Errorf("the user's folder changed (-before +after):\n%s", d)
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestGenerateRefuses(t *testing.T) {
	t.Parallel()
	resource := "resource \"lab_server\" \"new\" {\n  name = \"new\"\n}\n"
	for name, tc := range map[string]struct {
		reason string
		set    map[string]string
		want   string
	}{
		"nothing":  {"the CLI generates nothing, as for an ID that does not exist", map[string]string{}, "the plan generates no configuration"},
		"required": {"the error is about the block itself", map[string]string{"generated": resource, "plan.rejects": "resource"}, "the provider requires what it does not generate"},
		"no block": {"no resource", map[string]string{"generated": "x = 1\n"}, "it has no resource block"},
		"broken":   {"another file has the error", map[string]string{"generated": resource, "plan.fails": "", "plan.stdout": `{"type":"diagnostic","diagnostic":{"severity":"error","summary":"elsewhere","address":"lab_server.web"}}`, "plan.json": `{"format_version": "1.2", "errored": true}`}, "lab_server.web: elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			for file, text := range tc.set {
				s.set(file, text)
			}
			if _, err := Generate(t.Context(), s.options, importWeb); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestEdits checks that a plan is made with the edits, which are written to the private copy only.
func TestEdits(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.lay(filepath.Join(s.root, "linked.tf"), "-> main.tf")
	s.set("plan.keeps", "")
	s.options.Edits = map[string][]byte{"main.tf": []byte("# edited"), "new.tf": []byte("# new"), "linked.tf": []byte("# own")}
	before := s.snapshot(s.root)
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	kept := s.fake.text("configuration")
	for _, want := range []string{"main.tf\n# edited\n", "new.tf\n# new\n", "linked.tf\n# own\n"} {
		if !strings.Contains(kept, want) {
			t.Errorf("the plan has no %q: %s", want, kept)
		}
	}
	if d := cmp.Diff(before, s.snapshot(s.root)); d != "" {
		t.Errorf("the user's folder changed (-before +after):\n%s", d)
	}
	s.options.Edits = map[string][]byte{"../outside.tf": nil}
	if _, err := s.run(); err == nil || !strings.Contains(err.Error(), "edit the copy") {
		t.Errorf("an edit outside of the root: %v", err)
	}
}
