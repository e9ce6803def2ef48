package pvetest

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// setGenerated adds the values that Proxmox VE generates for a new guest.
func (s *Server) setGenerated(g *Guest) {
	g.Config = maps.Clone(g.Config)
	if g.Config == nil {
		g.Config = Row{}
	}
	for key, value := range g.Config {
		g.Config[key] = withMAC(g, key, value)
	}
	if g.Kind != "qemu" {
		return
	}
	for key, value := range map[string]string{
		"smbios1": "uuid=" + UUID(g.ID),
		"vmgenid": fmt.Sprintf("9f2d1c60-0000-4000-a000-%012d", g.ID),
		"meta":    fmt.Sprintf("creation-qemu=10.1.2,ctime=%d", s.Now().Unix()),
	} {
		if g.Config[key] == nil {
			g.Config[key] = value
		}
	}
}

// UUID returns the UUID of a new virtual machine.
func UUID(id int) string { return fmt.Sprintf("9f2d1c60-0000-4000-9000-%012d", id) }

// MAC returns the MAC address that is generated for a guest's network device ("net0").
func MAC(id int, device string) string {
	// A name without a number counts as 0.
	number, _ := strconv.Atoi(strings.TrimPrefix(device, "net"))
	return fmt.Sprintf("BC:24:12:%02X:%02X:%02X", id>>8&0xff, id&0xff, number&0xff)
}

// withMAC adds a MAC address to the settings of a network device without one.
func withMAC(g *Guest, key string, value any) any {
	text, ok := value.(string)
	number, isNet := strings.CutPrefix(key, "net")
	if _, err := strconv.Atoi(number); err != nil || !ok || !isNet || macAddress().MatchString(text) {
		return value
	}
	return text + map[string]string{"qemu": ",macaddr=", "lxc": ",hwaddr="}[g.Kind] + MAC(g.ID, key)
}
