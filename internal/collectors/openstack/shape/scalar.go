package shape

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// lower reads a text whose case says nothing.
func lower(s *Shaper, _, v model.Value) model.Value {
	if v.Kind() != model.String {
		return v
	}
	return model.StringOf(s.texts.keep(strings.ToLower(v.Text())))
}

// trimmed reads a text without the line end behind it.
func trimmed(_ *Shaper, _, v model.Value) model.Value {
	if v.Kind() != model.String {
		return v
	}
	return model.StringOf(strings.TrimSpace(v.Text()))
}

// boolean reads what some lists write as text: "True".
func boolean(_ *Shaper, _, v model.Value) model.Value {
	switch strings.ToLower(v.Str()) {
	case "true":
		return model.BoolOf(true)
	case "false":
		return model.BoolOf(false)
	}
	return v
}

// reference reads what a row points at as its id.
func reference(s *Shaper, row, v model.Value) model.Value {
	if id, ok := v.Get("id"); ok {
		v = id
	}
	return plain(s, row, v)
}

// device reads of what is told of a port the device that it belongs to.
func device(s *Shaper, row, v model.Value) model.Value { return plain(s, row, v.At("device_id")) }

// number reads what some lists write as text: "8080".
func number(_ *Shaper, _, v model.Value) model.Value {
	if n, ok := model.NumberOf(v.Str()); ok {
		return n
	}
	return v
}

// zero reads a number for which Nova writes "" when it is none.
func zero(s *Shaper, row, v model.Value) model.Value {
	if v.Kind() == model.String && v.IsEmpty() {
		return model.IntOf(0)
	}
	return number(s, row, v)
}

// protocol reads an IP protocol, which Neutron keeps as whoever asked for it
// wrote it: a name or a number. Any protocol is none.
func protocol(s *Shaper, row, v model.Value) model.Value {
	name := strings.ToLower(v.Text())
	if known, ok := s.protocols[name]; ok {
		name = known
	}
	return plain(s, row, model.StringOf(name))
}

// protocols are Neutron's names of IP protocols by their other spellings.
// Neutron takes 0 and "any" for every protocol.
func protocols() map[string]string {
	return map[string]string{"any": "", "0": "", "icmpv6": "ipv6-icmp",
		"1": "icmp", "2": "igmp", "4": "ipip", "6": "tcp", "8": "egp", "17": "udp", "33": "dccp", "41": "ipv6-encap", "43": "ipv6-route",
		"44": "ipv6-frag", "46": "rsvp", "47": "gre", "50": "esp", "51": "ah", "58": "ipv6-icmp", "59": "ipv6-nonxt", "60": "ipv6-opts",
		"89": "ospf", "112": "vrrp", "113": "pgm", "132": "sctp", "136": "udplite"}
}

// entries reads a map whose field names are free.
func entries(s *Shaper, row, v model.Value) model.Value {
	if v.Kind() != model.Map {
		return plain(s, row, v)
	}
	fields := make([]model.Field, 0, len(v.Fields()))
	for _, f := range v.Fields() {
		if !f.Value.IsNull() {
			fields = append(fields, model.Field{Name: s.texts.keep(f.Name), Value: plain(s, row, f.Value)})
		}
	}
	return model.MapOf(fields...)
}

// imageFields are the fields of an image that are no properties: Glance's own,
// and what it keeps for itself.
const imageFields = "id name status visibility protected os_hidden container_format disk_format min_disk min_ram checksum size virtual_size " +
	"tags owner created_at updated_at self file schema direct_url locations stores os_hash_algo os_hash_value"

// properties reads what an image has beside Glance's own fields.
func properties(s *Shaper, row, v model.Value) model.Value {
	known := strings.Fields(imageFields)
	var fields []model.Field
	for _, f := range v.Fields() {
		if !slices.Contains(known, f.Name) && !strings.HasPrefix(f.Name, "os_glance_") {
			fields = append(fields, f)
		}
	}
	return entries(s, row, model.MapOf(fields...))
}

// volumeMetadata reads a volume's metadata without what Cinder adds while it is
// attached.
func volumeMetadata(s *Shaper, row, v model.Value) model.Value {
	return entries(s, row, v.Without("attached_mode", "readonly"))
}
