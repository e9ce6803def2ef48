package normalize

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// plain reads scalars, and lists and maps of them, without blank ones.
func plain(c *table.Context, v model.Value) model.Value {
	switch v.Kind() {
	case model.List:
		items := make([]model.Value, 0, len(v.Items()))
		for _, item := range v.Items() {
			if item = plain(c, item); !item.IsNull() {
				items = append(items, item)
			}
		}
		v = model.ListOf(items...)
	case model.Map:
		fields := make([]model.Field, 0, len(v.Fields()))
		for _, f := range v.Fields() {
			if value := plain(c, f.Value); !value.IsNull() {
				fields = append(fields, model.Field{Name: c.Texts.Keep(f.Name), Value: value})
			}
		}
		v = model.MapOf(fields...)
	}
	if table.Blank(v) {
		return model.Value{}
	}
	return c.Keep(v)
}

func text() table.Form    { return table.Plain() }
func address() table.Form { return table.Plain().As(model.Address) }
func boolean() table.Form { return table.Boolean().As(model.Boolean) }
func number() table.Form  { return table.Number() }
func set() table.Form     { return table.Set(table.Plain()) }
func entries() table.Form { return table.Entries(table.Plain()) }

func mac() table.Form {
	return table.Text(strings.ToLower).As(model.CaseFold).Generated()
}

// derivedText and derivedNumber are values that OpenStack fills in if none is given.
func derivedText() table.Form   { return text().Derived() }
func derivedNumber() table.Form { return number().Derived() }

// orZero is a number for which Nova writes "" if it is 0.
func orZero() table.Form {
	f := number()
	read := f.Read
	f.ReadsBlank, f.Read = true, func(c *table.Context, v model.Value) model.Value {
		if v.Kind() == model.String && v.IsEmpty() {
			return model.IntOf(0)
		}
		return read(c, v)
	}
	return f
}

// member is the form of a map of which one field is read, or of the value of that field itself.
func member(name string) table.Form {
	return table.Form{Read: func(c *table.Context, v model.Value) model.Value {
		if value, ok := v.Get(name); ok {
			v = value
		}
		return plain(c, v)
	}}
}

// portDevice is the device of a port's details.
func portDevice() table.Form {
	return table.Form{Read: func(c *table.Context, v model.Value) model.Value { return plain(c, v.At("device_id")) }}.Derived()
}

// protocol is an IP protocol, which Neutron keeps as it was requested: a name or a
// number. Neutron takes 0 and "any" for every protocol.
func protocol() table.Form {
	names := map[string]string{"any": "", "0": "", "icmpv6": "ipv6-icmp",
		"1": "icmp", "2": "igmp", "4": "ipip", "6": "tcp", "8": "egp", "17": "udp", "33": "dccp", "41": "ipv6-encap", "43": "ipv6-route",
		"44": "ipv6-frag", "46": "rsvp", "47": "gre", "50": "esp", "51": "ah", "58": "ipv6-icmp", "59": "ipv6-nonxt", "60": "ipv6-opts",
		"89": "ospf", "112": "vrrp", "113": "pgm", "132": "sctp", "136": "udplite"}
	return table.Text(func(text string) string {
		text = strings.ToLower(text)
		if name, ok := names[text]; ok {
			return name
		}
		return text
	})
}

// bag is a list of maps of these fields, whose order has no meaning.
func bag(fields ...table.Fields) table.Form { return table.Bag(block(fields...)) }

func block(fields ...table.Fields) table.Form { return table.Block(named(fields...)) }

func fixedIPs() table.Form {
	return bag(address().Of("ip_address"), text().To(Subnet).Of("subnet_id")).Derived()
}

func interfaceList() table.Form {
	return table.Sequence(block(text().To(Port).Of("port"), text().To(Network).Of("network"), mac().Of("mac"), fixedIPs().Of("fixed_ips")))
}

func gateway() table.Form {
	return block(text().To(Network).Of("network_id"), text().Of("qos_policy_id"), boolean().Derived().Of("enable_snat"), fixedIPs().Of("external_fixed_ips"))
}

func segments() table.Form {
	return bag(text().Of("provider:network_type provider:physical_network"), number().Of("provider:segmentation_id")).Derived()
}

func forwardings() table.Form {
	return bag(protocol().Of("protocol"), number().Of("external_port internal_port"), address().Of("internal_ip_address"),
		text().Of("external_port_range internal_port_range description"))
}

// volumeMetadata is metadata without the entries that Cinder adds to an attached volume.
func volumeMetadata() table.Form {
	f := entries()
	read := f.Read
	f.Read = func(c *table.Context, v model.Value) model.Value {
		return read(c, v.Without("attached_mode", "readonly"))
	}
	return f
}

// named returns fields under their canonical names: in snake case, without the part
// before the last colon. accessIPv4 is access_ipv4.
func named(all ...table.Fields) table.Fields {
	fields := slices.Concat(all...)
	for i := range fields {
		if f := &fields[i]; f.Name == f.Raw {
			f.Name = snake(f.Raw)
		}
	}
	return table.Join(fields)
}

func snake(raw string) string {
	raw = raw[strings.LastIndex(raw, ":")+1:]
	return strings.ToLower(strings.ReplaceAll(raw, "IPv", "_ipv"))
}

// withoutOwnMAC removes the MAC address of a port from its address pairs, since
// Neutron fills it in if none is given.
func withoutOwnMAC(port model.Value) model.Value {
	pairs := slices.Clone(port.At("allowed_address_pairs").Items())
	if len(pairs) == 0 {
		return port
	}
	for i, pair := range pairs {
		if strings.EqualFold(pair.At("mac_address").Str(), port.At("mac_address").Str()) {
			pairs[i] = pair.Without("mac_address")
		}
	}
	return port.With("allowed_address_pairs", model.ListOf(pairs...))
}

// imageFields are the fields of an image that are no properties: Glance's own, and
// those that it keeps for itself.
const imageFields = "id name status visibility protected os_hidden container_format disk_format min_disk min_ram checksum size virtual_size " +
	"tags owner created_at updated_at self file schema direct_url locations stores os_hash_algo os_hash_value"

// withProperties moves the properties of an image, which Glance writes as further
// fields, into a map.
func withProperties(image model.Value) model.Value {
	own := strings.Fields(imageFields)
	var properties []model.Field
	for _, f := range image.Fields() {
		if !slices.Contains(own, f.Name) && !strings.HasPrefix(f.Name, "os_glance_") {
			properties = append(properties, f)
		}
	}
	return image.With("properties", model.MapOf(properties...))
}
