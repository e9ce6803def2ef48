package cli

import (
	"testing"

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
