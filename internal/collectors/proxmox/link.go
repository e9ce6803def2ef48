package proxmox

import (
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// Link implements collectors.Linker. It returns the address of a guest in the web interface, and ""
// for other kinds, whose pages have no address of their own.
func (c *cluster) Link(r model.Ref) string {
	if r.Kind != normalize.QEMU && r.Kind != normalize.LXC {
		return ""
	}
	return c.config.URL + "/#v1:0:=" + url.PathEscape(strings.TrimPrefix(r.Kind, "proxmox/")+"/"+r.ID)
}
