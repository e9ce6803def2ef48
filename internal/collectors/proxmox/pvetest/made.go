package pvetest

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// makeUp gives a guest what a new one has that nobody asked for.
func (s *Server) makeUp(g *Guest) {
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

// UUID is the one that a new virtual machine gets.
func UUID(id int) string { return fmt.Sprintf("9f2d1c60-0000-4000-9000-%012d", id) }

// MAC is the address that a guest's network device ("net0") gets when nobody
// gives it one.
func MAC(id int, device string) string {
	// What has no number is no network device.
	number, _ := strconv.Atoi(strings.TrimPrefix(device, "net"))
	return fmt.Sprintf("BC:24:12:%02X:%02X:%02X", id>>8&0xff, id&0xff, number&0xff)
}

// withMAC adds a MAC address to a network device's settings that have none.
func withMAC(g *Guest, key string, value any) any {
	text, ok := value.(string)
	number, isNet := strings.CutPrefix(key, "net")
	if _, err := strconv.Atoi(number); err != nil || !ok || !isNet || macAddress().MatchString(text) {
		return value
	}
	return text + map[string]string{"qemu": ",macaddr=", "lxc": ",hwaddr="}[g.Kind] + MAC(g.ID, key)
}
