package proxmox

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestLink(t *testing.T) {
	t.Parallel()
	c := &cluster{config: Config{URL: "https://pve.example.org:8006"}}
	for ref, want := range map[model.Ref]string{
		{Kind: "proxmox/qemu", ID: "101"}:      "https://pve.example.org:8006/#v1:0:=qemu%2F101",
		{Kind: "proxmox/lxc", ID: "102"}:       "https://pve.example.org:8006/#v1:0:=lxc%2F102",
		{Kind: "proxmox/lxc", ID: "1/../#\n"}:  "https://pve.example.org:8006/#v1:0:=lxc%2F1%2F..%2F%23%0A",
		{Kind: "proxmox/storage", ID: "local"}: "",
	} {
		if got := c.Link(ref); got != want {
			t.Errorf("Link(%v) = %q, want %q", ref, got, want)
		}
	}
}
