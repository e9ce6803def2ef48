package normalize

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// nic is a network device of a virtual machine.
func nic() table.Form {
	return properties("model", table.Join(
		text().Of("model bridge"), mac().Of("macaddr"), off().Of("firewall link_down"), number().Of("mtu queues rate tag"),
		setOf(number()).Of("trunks")), splitModel)
}

// splitModel replaces a part such as "virtio=00:…" with the model and the MAC address.
func splitModel(parts []model.Field) []model.Field {
	i := slices.IndexFunc(parts, func(p model.Field) bool { return p.Name != "macaddr" && isMAC(p.Value.Text()) })
	if i < 0 {
		return parts
	}
	name, address := parts[i].Name, parts[i].Value.Text()
	return put(put(slices.Delete(parts, i, i+1), "model", name), "macaddr", address)
}

// veth is a network device of a container.
func veth() table.Form {
	return props("", table.Join(
		text().Of("name bridge gw gw6 ip ip6"), off().Of("firewall host-managed link_down"), mac().Of("hwaddr"), number().Of("mtu rate tag"),
		setOf(number()).Of("trunks"), word("veth").Of("type")))
}

// smbios is the SMBIOS data of a machine. With base64, all parts except uuid are encoded; they
// are decoded, and base64 is dropped.
func smbios() table.Form {
	return properties("", table.Join(text().Derived().Of("uuid"), drop().Of("base64"), text().Of("family manufacturer product serial sku version")), decodeSMBIOS)
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

// bootOrder is the list of boot devices, in order. A blank text is an empty list; it differs
// from an absent key, for which PVE has a default. Old versions have letters ("cdn").
func bootOrder() table.Form {
	return properties("legacy", table.Join(word("cdn").Of("legacy"), sequence().Of("order")), func(parts []model.Field) []model.Field {
		if i := at(parts, "order"); has(parts, "legacy") || i >= 0 && !parts[i].Value.IsEmpty() {
			return parts
		}
		return []model.Field{{Name: "order", Value: model.ListOf()}}
	})
}

func startup() table.Form {
	return props("order", number().Of("order up down"))
}
