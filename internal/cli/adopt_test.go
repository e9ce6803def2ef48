package cli

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/model"
)

func TestCommitMessage(t *testing.T) {
	t.Parallel()
	f := model.Finding{ID: "3f2a", Key: model.Key{Kind: "terraform/lab_server", ID: "lab_server.web"}, Changes: []model.Change{{Path: "size"}, {Path: "name"}}}
	if got, want := commitMessage(&f, "infra/main.tf"), "infra/main.tf: adopt the live state of lab_server.web\n\nFields: size, name.\nA scan proved it: driftd finding 3f2a.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f.Key, f.Changes = model.Key{Kind: "proxmox/qemu", ID: "104"}, nil
	if got, want := commitMessage(&f, "import_db.tf"), "import_db.tf: adopt the live state of qemu 104\n\nA scan proved it: driftd finding 3f2a.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestGovernsByState checks that an unmanaged resource of a source that only states govern is not
// reported to lack a declaration.
func TestGovernsByState(t *testing.T) {
	t.Parallel()
	root := func(name, engine string) config.Declaration {
		return config.Declaration{Name: name, Type: "terraform", Governs: []string{"pve"}, Settings: config.NewSettings("test", map[string]any{"engine": engine, "dir": "infra", "state": []string{"a.tfstate"}})}
	}
	unmanaged := model.Finding{Verdict: model.Unmanaged, Key: model.Key{Source: "pve"}}
	elsewhere := model.Finding{Verdict: model.Unmanaged, Key: model.Key{Source: "prod"}}
	states := &config.Config{Declarations: []config.Declaration{root("planned", "plan"), root("infra", "state")}}
	if got := governsByState(states, &unmanaged); got != "infra" {
		t.Errorf("got %q", got)
	}
	if got := governsByState(states, &elsewhere); got != "" {
		t.Errorf("another source: %q", got)
	}
	one := *states
	one.Declarations = states.Declarations[1:]
	c := &command{}
	if _, err := c.oneDeclaration(&one, &unmanaged); err == nil || !strings.Contains(err.Error(), "declaration infra governs pve with engine: state, which reads no configuration: adopt needs engine: plan; driftd suggest") {
		t.Errorf("got %v", err)
	}
}
