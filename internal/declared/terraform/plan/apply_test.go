package plan

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var errStop = errors.New("no permission")

// newApplied returns a root with a backend whose plan has some changes.
func newApplied(t *testing.T, changes ...any) *stage {
	t.Helper()
	s := newStage(t, map[string]string{"backend.tf": "terraform {\n  backend \"http\" {}\n}\n"})
	s.set("plan.json", encode(t, object{"format_version": "1.2", "terraform_version": "1.11.4", "complete": true, "timestamp": "2026-01-01T00:00:00Z",
		"resource_changes": changes}))
	s.set("state.stdout", `{"version": 4, "serial": 3, "lineage": "l-1"}`)
	return s
}

// update is an update of one attribute of lab_server.web.
func update() object {
	return change("lab_server.web", "update", object{"id": "s-1", "size": 4}, object{"id": "s-1", "size": 2}, nil)
}

// apply applies the root with a permit, and returns the effect that the permit got.
func (s *stage) apply(permit error) (got Effect, err error) {
	err = Apply(s.t.Context(), s.options, func(_ context.Context, e Effect) error {
		got = e
		return permit
	})
	return got, err
}

func TestApply(t *testing.T) {
	t.Parallel()
	s := newApplied(t, update())
	e, err := s.apply(nil)
	if err != nil || e.Hindrance != "" || e.Lineage != "l-1" || e.Tool != "Terraform 1.11.4" || len(e.Instances) != 1 || e.Instances[0].Action != "update" {
		t.Errorf("got %+v, %v", e, err)
	}
	var applied, planned string
	for _, call := range s.calls() {
		switch name, _, _ := strings.Cut(call, " "); name {
		case "apply":
			applied = call
		case "plan":
			planned = call
		}
	}
	if !strings.Contains(applied, "-lock=true") || !strings.Contains(applied, memoryFiles) || strings.Contains(applied, "-target") {
		t.Errorf("apply: %q", applied)
	}
	if !strings.Contains(planned, "-lock=true") || !strings.Contains(planned, "-out="+memoryFiles) {
		t.Errorf("plan: %q", planned)
	}
	if left, _ := filepath.Glob(memoryFiles + "/driftd-*"); len(left) > 0 && s.inMemory(left) {
		t.Errorf("the plan is left in memory: %v", left)
	}
}

// inMemory reports whether one of some folders is of the calls of the CLI.
func (s *stage) inMemory(folders []string) bool {
	for _, folder := range folders {
		if strings.Contains(s.fake.text("calls"), folder) {
			return true
		}
	}
	return false
}

func TestApplyNeedsPermission(t *testing.T) {
	t.Parallel()
	s := newApplied(t, update())
	if _, err := s.apply(errStop); !errors.Is(err, errStop) {
		t.Errorf("got %v", err)
	}
	if calls := strings.Join(s.calls(), "\n"); strings.Contains(calls, "\napply") {
		t.Errorf("it applied:\n%s", calls)
	}
}

// TestApplyContent checks what makes the content of two effects differ.
func TestApplyContent(t *testing.T) {
	t.Parallel()
	content := func(state, time string, size int) string {
		s := newApplied(t, change("lab_server.web", "update", object{"id": "s-1", "size": 4}, object{"id": "s-1", "size": size}, nil))
		s.set("state.stdout", state)
		s.set("plan.json", strings.ReplaceAll(s.fake.text("plan.json"), "2026-01-01", time))
		e, err := s.apply(errStop)
		if !errors.Is(err, errStop) {
			t.Fatal(err)
		}
		return e.Content
	}
	const state = `{"version": 4, "serial": 3, "lineage": "l-1"}`
	first := content(state, "2026-01-01", 2)
	if first != content(state, "2026-01-02", 2) {
		t.Error("the time of a plan is no part of its content")
	}
	if first == content(state, "2026-01-01", 3) {
		t.Error("another value is another content")
	}
	if first == content(state+" ", "2026-01-01", 2) {
		t.Error("a state with the same serial and another text is another content")
	}
}

// TestApplyVariables checks which variables are part of the content of an effect: the account of the writer is none, and
// all others are.
func TestApplyVariables(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "writer.env")
	content := func(writer Account, variables string) string {
		s := newApplied(t, update())
		s.write(file, "TF_VAR_user=w\nLAB_size=1\n")
		s.options.Writer = writer
		if variables != "" {
			s.set("plan.json", strings.Replace(s.fake.text("plan.json"), "{", `{"variables":`+variables+`,`, 1))
		}
		looked, err := Look(t.Context(), s.options)
		if err != nil {
			t.Fatal(err)
		}
		applied, err := s.apply(errStop)
		if !errors.Is(err, errStop) || looked.Content != applied.Content {
			t.Errorf("%s: the contents of the look and of the apply differ: %v", variables, err)
		}
		return applied.Content
	}
	none, writer := Account{}, Account{Env: map[string]string{"TF_VAR_token": "w"}, EnvFiles: []string{file}}
	const reader = `{"token": {"value": "r"}, "user": {"value": "r"}, "size": {"value": 1}}`
	for name, tc := range map[string]struct {
		reason    string
		account   Account
		variables string
		equal     bool
	}{
		"Token":    {"env of the writer sets it", writer, `{"token": {"value": "w"}, "user": {"value": "r"}, "size": {"value": 1}}`, true},
		"User":     {"env_files of the writer set it", writer, `{"token": {"value": "r"}, "user": {"value": "w"}, "size": {"value": 1}}`, true},
		"Unset":    {"the declaration does not set it", writer, `{"size": {"value": 1}}`, true},
		"Size":     {"the writer does not set it", writer, `{"token": {"value": "r"}, "user": {"value": "r"}, "size": {"value": 2}}`, false},
		"NoWriter": {"no account sets it", none, `{"token": {"value": "w"}, "user": {"value": "r"}, "size": {"value": 1}}`, false},
	} {
		if equal := content(tc.account, reader) == content(tc.account, tc.variables); equal != tc.equal {
			t.Errorf("%s: %s: equal is %v", name, tc.reason, equal)
		}
	}
	if content(writer, `{"token": {"value": "r"}}`) != content(writer, "") {
		t.Error("a plan whose only variable is one of the writer has the content of a plan without variables")
	}
}

// TestLook checks that a look locks nothing and leaves nothing.
func TestLook(t *testing.T) {
	t.Parallel()
	s := newApplied(t, update())
	e, err := Look(t.Context(), s.options)
	if err != nil || len(e.Instances) != 1 || e.Content == "" {
		t.Errorf("got %+v, %v", e, err)
	}
	if calls := strings.Join(s.calls(), "\n"); strings.Contains(calls, "\napply") || strings.Contains(calls, "-lock=true") {
		t.Errorf("calls:\n%s", calls)
	}
}

func TestApplyHindrances(t *testing.T) {
	t.Parallel()
	with := func(of object, name string, value any) object {
		c := of["change"].(object)
		c[name] = value
		return of
	}
	gone := change("lab_server.db", "delete", object{"id": "s-2"}, nil, nil)
	moved := update()
	moved["previous_address"] = "lab_server.old"
	imported := with(update(), "importing", object{"id": "s-1"})
	replaced := with(update(), "actions", []any{"delete", "create"})
	forgotten := with(update(), "actions", []any{"forget"})
	for want, c := range map[string]object{
		"":                             update(),
		"would destroy lab_server.web": replaced,
		"delete] lab_server.db":        gone,
		"would move lab_server.old":    moved,
		"would import lab_server.web":  imported,
		"forget] lab_server.web":       forgotten,
	} {
		s := newApplied(t, c)
		e, err := s.apply(errStop)
		if !errors.Is(err, errStop) || !strings.Contains(e.Hindrance, want) || want == "" && e.Hindrance != "" {
			t.Errorf("%s: got %q, %v", want, e.Hindrance, err)
		}
	}
	for want, parts := range map[string]object{
		"whole root":   {"complete": false},
		"has errors":   {"errored": true},
		"run actions":  {"action_invocations": []any{object{"address": "action.x.y"}}},
		"the output x": {"output_changes": object{"x": object{"actions": []any{"create"}}}},
	} {
		s := newApplied(t, update())
		plan := object{"format_version": "1.2", "terraform_version": "1.11.4", "resource_changes": []any{update()}}
		for name, part := range parts {
			plan[name] = part
		}
		s.set("plan.json", encode(t, plan))
		if e, err := s.apply(errStop); !errors.Is(err, errStop) || !strings.Contains(e.Hindrance, want) {
			t.Errorf("%s: got %q, %v", want, e.Hindrance, err)
		}
	}
}

// TestApplyStateMoves checks that a state that changes after the plan keeps it from being applied.
func TestApplyStateMoves(t *testing.T) {
	t.Parallel()
	s := newApplied(t, update())
	err := Apply(t.Context(), s.options, func(context.Context, Effect) error {
		s.set("state.stdout", `{"version": 4, "serial": 3, "lineage": "l-1", "edited": true}`)
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "the state changed after the plan") || strings.Contains(s.fake.text("calls"), "\napply") {
		t.Errorf("got %v", err)
	}
}

func TestApplyErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		summary   string
		unchanged bool
	}{{"Error acquiring the state lock", true}, {"Saved plan is stale", true}, {"Provider produced inconsistent result", false}} {
		s := newApplied(t, update())
		s.set("apply.stdout", `{"type":"diagnostic","diagnostic":{"severity":"error","summary":"`+tc.summary+`"}}`+"\n")
		s.set("apply.stderr", "failed")
		_, err := s.apply(nil)
		applied, ok := errors.AsType[*ApplyError](err)
		if !ok || applied.Unchanged != tc.unchanged || !strings.Contains(err.Error(), tc.summary) {
			t.Errorf("%s: got %v", tc.summary, err)
		}
	}
}

func TestApplyRefusesBackends(t *testing.T) {
	t.Parallel()
	for block, want := range map[string]string{"": "no backend", `backend "remote" {}`: "HCP Terraform", "cloud {}": "HCP Terraform"} {
		s := newApplied(t, update())
		s.write(filepath.Join(s.root, "backend.tf"), "terraform {\n"+block+"\n}\n")
		if _, err := s.apply(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", block, err)
		}
		if _, err := os.Stat(filepath.Join(s.fake.dir, "calls")); err == nil {
			t.Errorf("%s: the CLI ran", block)
		}
	}
}

// TestApplyWriter checks that the variables of the writer take precedence in an apply, and that a look does not have them.
func TestApplyWriter(t *testing.T) {
	t.Parallel()
	s := newApplied(t, update())
	dir := t.TempDir()
	reader, writer := filepath.Join(dir, "reader.env"), filepath.Join(dir, "writer.env")
	s.write(reader, "LAB_TOKEN=reader-file\nLAB_USER=reader-file\nLAB_REGION=reader-file\n")
	s.write(writer, "LAB_USER=writer-file\nLAB_ROLE=writer-file\n")
	s.options.EnvFiles = []string{reader}
	s.options.Env["LAB_ZONE"], s.options.Env["LAB_ROLE"] = "reader", "reader"
	s.options.Writer = Account{Env: map[string]string{"LAB_TOKEN": "writer", "LAB_USER": "writer"}, EnvFiles: []string{writer}}
	if _, err := Look(t.Context(), s.options); err != nil {
		t.Fatal(err)
	}
	check := func(want map[string]string) {
		t.Helper()
		for name, value := range want {
			if got := s.calledWith(name); got != value {
				t.Errorf("%s is %q, want %q", name, got, value)
			}
		}
	}
	check(map[string]string{"LAB_TOKEN": "reader-file", "LAB_USER": "reader-file", "LAB_REGION": "reader-file", "LAB_ZONE": "reader", "LAB_ROLE": "reader"})
	if _, err := s.apply(nil); err != nil {
		t.Fatal(err)
	}
	check(map[string]string{"LAB_TOKEN": "writer", "LAB_USER": "writer-file", "LAB_REGION": "reader-file", "LAB_ZONE": "reader", "LAB_ROLE": "writer-file"})
}
