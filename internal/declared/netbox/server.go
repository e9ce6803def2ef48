package netbox

import (
	"math/big"
	"strconv"

	"github.com/driftd/driftd/internal/model"
)

// A server is one as the OpenStack collector reads it. What its flavor gives it
// stands in fields of its own; what decides that is the field flavor.
type server struct{ model.Value }

func readServer(v model.Value) machine { return server{v} }

// running are the states of a server that say whether it runs.
func running() map[string]string {
	return map[string]string{"active": active, "stopped": offline, "paused": offline, "suspended": offline,
		"shelved": offline, "shelved_offloaded": offline}
}

func (s server) look(word string, says model.Value) sight {
	seen := sight{value: says}
	switch word {
	case "name":
		seen = sight{s.At("name"), "name"}
	case "status":
		if word := running()[s.At("vm_state").Str()]; word != "" {
			seen = sight{model.StringOf(word), "vm_state"}
		}
	case "vcpus", "memory":
		if n := s.At(map[string]string{"vcpus": "flavor_vcpus", "memory": "flavor_ram"}[word]); n.Kind() == model.Number {
			seen = sight{n, "flavor"}
		}
	}
	return seen
}

func (s server) means(word, _ string, v model.Value) (means model.Value, known bool) {
	switch word {
	case "name", "primary_ip4", "primary_ip6", "tags":
		return v, true
	case "status":
		return map[string]model.Value{active: model.StringOf("active"), offline: model.StringOf("stopped")}[v.Str()], true
	}
	return model.Value{}, false
}

// drives returns the disk that the flavor gives a server with an image, whose
// size is the image's where the flavor has none, and the volumes, of which the
// server tells nothing but the ids.
func (s server) drives() []drive {
	var all []drive
	if s.At("image").Str() != "" {
		root := drive{slot: "root", path: "flavor", sized: "flavor"}
		if gib := ratOf(s.At("flavor_disk")); gib != nil && gib.Sign() > 0 {
			root.size = gib.Mul(gib, big.NewRat(1<<30, 1))
		}
		all = append(all, root)
	}
	for _, id := range s.At("volumes").Items() {
		all = append(all, drive{slot: id.Str(), path: "volumes"})
	}
	return all
}

// isVolume tells the name of a volume, which is its id.
func isVolume(name string) bool {
	_, ok := parseUUID(name)
	return ok
}

func (s server) nics() []nic {
	var all []nic
	for i, item := range s.At("interfaces").Items() {
		path := "interfaces[" + strconv.Itoa(i) + "]"
		n := nic{path: path, words: map[string]sight{"mac": {item.At("mac"), path + ".mac"}}}
		n.mac, _ = parseMAC(item.At("mac").Str())
		for k, fixed := range item.At("fixed_ips").Items() {
			if at, ok := locate(fixed.At("ip_address"), path+".fixed_ips["+strconv.Itoa(k)+"].ip_address"); ok {
				n.given = append(n.given, at)
			}
		}
		all = append(all, n)
	}
	return all
}

// told returns the addresses that somebody wrote down for reaching the server.
func (s server) told() []located {
	var all []located
	for _, field := range []string{"access_ipv4", "access_ipv6"} {
		if at, ok := locate(s.At(field), field); ok {
			all = append(all, at)
		}
	}
	return all
}
