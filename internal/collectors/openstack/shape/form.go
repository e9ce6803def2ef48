package shape

import (
	"github.com/driftd/driftd/internal/model"
)

// A reader returns the canonical value of raw, a field of row, or null for what
// says nothing. What is not in its form it keeps as it is.
type reader func(s *Shaper, row, raw model.Value) model.Value

// A form is one way in which OpenStack writes a value, and how two readings of
// it compare.
type form struct {
	read   reader
	schema model.Schema
	// blank tells that what says nothing elsewhere says something here.
	blank bool
}

// formOf returns the form that the table names behind a field's name; "" is
// what speaks for itself.
func formOf(name string) form {
	for _, forms := range []func(string) (form, bool){listForm, mapForm} {
		if f, ok := forms(name); ok {
			return f
		}
	}
	f := form{read: plain}
	switch name {
	case "derived":
		f.schema.Derived = true
	case "volatile":
		f.schema.Volatile = true
	case "address":
		f.schema.Format = model.Address
	case "mac":
		f = form{read: lower, schema: model.Schema{Format: model.CaseFold, Generated: true}}
	case "boolean":
		f = form{read: boolean, schema: model.Schema{Format: model.Boolean}}
	case "number":
		f.read = number
	case "derivednumber":
		f = form{read: number, schema: model.Schema{Derived: true}}
	case "zero":
		f = form{read: zero, blank: true}
	case "trimmed":
		f.read = trimmed
	case "protocol":
		f.read = protocol
	case "reference":
		f.read = reference
	case "device":
		f = derived(form{read: device})
	}
	return f
}

// mapForm returns the forms of maps.
func mapForm(name string) (form, bool) {
	switch name {
	case "map":
		return form{read: entries, schema: freely()}, true
	case "volume":
		return form{read: volumeMetadata, schema: freely()}, true
	case "properties":
		return form{read: properties, schema: freely()}, true
	case "gateway":
		return gateway(), true
	}
	return form{}, false
}

// listForm returns the forms of lists.
func listForm(name string) (form, bool) {
	switch name {
	case "set":
		return form{read: sorted, schema: model.Schema{List: model.Set}}, true
	case "names", "ids":
		return form{read: each(name[:len(name)-1]), schema: model.Schema{List: model.Set}}, true
	case "opens":
		return form{read: sorted, schema: model.Schema{List: model.Set, Volatile: true}}, true
	case "addresses":
		return form{read: plain, schema: model.Schema{Each: &model.Schema{Format: model.Address}}}, true
	case "fixed":
		return derived(bagOf("ip_address/address subnet_id")), true
	case "pools":
		return derived(bagOf("start/address end/address")), true
	case "segments":
		return derived(bagOf("provider:network_type provider:physical_network provider:segmentation_id/number")), true
	case "routes":
		return bagOf("destination/address nexthop/address"), true
	case "options":
		return bagOf("opt_name opt_value ip_version/number"), true
	case "forwardings":
		return bagOf("protocol/protocol external_port/number external_port_range internal_port/number internal_port_range internal_ip_address/address description"), true
	case "attachments":
		return bagOf("server_id device"), true
	case "pairs":
		return addressPairs(), true
	case "interfaces":
		f := bagOf("port network mac/mac fixed_ips/fixed")
		f.schema.List = model.Sequence
		return f, true
	}
	return form{}, false
}

// derived tells that OpenStack fills the value in where none is given.
func derived(f form) form {
	f.schema.Derived = true
	return f
}

// freely compares maps whose field names are free: that an entry is there says
// something, even when it is empty.
func freely() model.Schema { return model.Schema{Each: &model.Schema{Content: true}} }

// isBlank tells what says nothing: OpenStack writes null, "" or an empty list
// for the same absence.
func isBlank(v model.Value) bool {
	switch v.Kind() {
	case model.Null, model.String, model.List, model.Map:
		return v.IsEmpty()
	}
	return false
}

// plain reads scalars, and lists and maps of them, without what says nothing.
func plain(s *Shaper, row, v model.Value) model.Value {
	switch v.Kind() {
	case model.String:
		return model.StringOf(s.texts.keep(v.Text()))
	case model.List:
		items := make([]model.Value, 0, len(v.Items()))
		for _, item := range v.Items() {
			if item = plain(s, row, item); !isBlank(item) {
				items = append(items, item)
			}
		}
		return model.ListOf(items...)
	case model.Map:
		fields := make([]model.Field, 0, len(v.Fields()))
		for _, f := range v.Fields() {
			if value := plain(s, row, f.Value); !isBlank(value) {
				fields = append(fields, model.Field{Name: s.texts.keep(f.Name), Value: value})
			}
		}
		return model.MapOf(fields...)
	}
	return v
}
