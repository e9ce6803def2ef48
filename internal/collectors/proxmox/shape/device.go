package shape

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// nic is a network device of a virtual machine.
func nic() form {
	return properties("model", fields{
		"model": text(), "macaddr": mac(), "bridge": text(), "firewall": off(), "link_down": off(), "mtu": number(),
		"queues": number(), "rate": number(), "tag": number(), "trunks": setOf(number()),
	}, splitModel)
}

// splitModel reads "virtio=00:…" as the model and the MAC address that it
// stands for.
func splitModel(parts []model.Field) []model.Field {
	i := slices.IndexFunc(parts, func(p model.Field) bool { return p.Name != "macaddr" && isMAC(p.Value.Text()) })
	if i < 0 {
		return parts
	}
	name, address := parts[i].Name, parts[i].Value.Text()
	return put(put(slices.Delete(parts, i, i+1), "model", name), "macaddr", address)
}

// veth is a network device of a container.
func veth() form {
	return props("", fields{
		"name": text(), "bridge": text(), "firewall": off(), "gw": text(), "gw6": text(), "host-managed": off(),
		"hwaddr": mac(), "ip": text(), "ip6": text(), "link_down": off(), "mtu": number(), "rate": number(),
		"tag": number(), "trunks": setOf(number()), "type": word("veth"),
	})
}

// smbios is what the firmware tells of the machine. base64 tells that all but
// the uuid is encoded, and is gone when it no longer is.
func smbios() form {
	return properties("", fields{
		"uuid": text().derived(), "base64": drop(), "family": text(), "manufacturer": text(), "product": text(),
		"serial": text(), "sku": text(), "version": text(),
	}, decodeSMBIOS)
}

func decodeSMBIOS(parts []model.Field) []model.Field {
	if encoded := textOf(parts, "base64"); encoded != "1" && encoded != "true" {
		return parts
	}
	for i, p := range parts {
		if p.Name == "uuid" {
			continue
		}
		if plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(p.Value.Text(), "=")); err == nil {
			parts[i].Value = model.StringOf(string(plain))
		}
	}
	return parts
}

// bootOrder is what a machine boots from, in order; blank text stands for
// nothing, which is not PVE's choice where the key is absent. Old versions
// write letters ("cdn").
func bootOrder() form {
	return properties("legacy", fields{"legacy": word("cdn"), "order": sequence()}, func(parts []model.Field) []model.Field {
		if i := at(parts, "order"); has(parts, "legacy") || i >= 0 && !parts[i].Value.IsEmpty() {
			return parts
		}
		return []model.Field{{Name: "order", Value: model.ListOf()}}
	})
}

func startup() form {
	return props("order", fields{"order": number(), "up": number(), "down": number()})
}
