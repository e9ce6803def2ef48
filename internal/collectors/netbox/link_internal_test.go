package netbox

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/model"
)

func TestLink(t *testing.T) {
	t.Parallel()
	c := &inventory{config: Config{URL: "https://netbox.example.org/sub"}, kinds: normalize.Kinds()}
	for ref, want := range map[model.Ref]string{
		{Kind: "netbox/virtualization.virtualmachine", ID: "7"}:    "https://netbox.example.org/sub/virtualization/virtual-machines/7/",
		{Kind: "netbox/dcim.device", ID: "12"}:                     "https://netbox.example.org/sub/dcim/devices/12/",
		{Kind: "netbox/dcim.device", ID: "12/../../logout"}:        "",
		{Kind: "netbox/dcim.interfacetemplate", ID: "12"}:          "",
		{Kind: "netbox/virtualization.other", ID: "7"}:             "",
		{Kind: "netbox/virtualization.virtualmachine", ID: "db-1"}: "",
	} {
		if got := c.Link(ref); got != want {
			t.Errorf("Link(%v) = %q, want %q", ref, got, want)
		}
	}
	for path := range strings.FieldsSeq(pages) {
		if !hasKind(c.kinds, path) {
			t.Errorf("%s is the path of no kind", path)
		}
	}
}

func hasKind(kinds []*normalize.Kind, path string) bool {
	for _, k := range kinds {
		if k.Path == path {
			return true
		}
	}
	return false
}
