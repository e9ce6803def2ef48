package netbox

import (
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// The statuses of a virtual machine that show whether it runs.
const (
	active  = "active"
	offline = "offline"
)

// A lens shows a machine with the fields of one claim. A field that agrees, or cannot be
// compared, has the declared value.
type lens struct {
	*sharedData

	system   *system
	declared model.Value
	// otherMACs and withoutMAC are those of the claim's ports.
	otherMACs  map[string]string
	withoutMAC int
	// nic4 and nic6 are the MAC addresses of the devices with the primary addresses, or "" if
	// NetBox does not contain them.
	nic4, nic6 string
}

func schema() *model.Schema {
	untagged := model.IntOf(0)
	plain, strayName := &model.Schema{}, &model.Schema{Extra: model.Extra{Stray: true}}
	optional := &model.Schema{Extra: model.Extra{Optional: true}}
	place := &model.Schema{Location: true, Extra: model.Extra{Optional: true}, Format: model.CaseFold}
	disk := &model.Schema{Fields: map[string]*model.Schema{"name": strayName, "size": plain}}
	nic := &model.Schema{Fields: map[string]*model.Schema{
		"name": strayName, "mac": plain, "bridge": plain, "enabled": plain,
		"vlan": {Default: &untagged}, "tagged_vlans": {List: model.Bag, Each: plain},
	}}
	return &model.Schema{Fields: map[string]*model.Schema{
		"name": place, "device": place, "status": optional, "vcpus": optional, "memory": optional, "disk": optional,
		"disks":       {List: model.Keyed, Keys: []string{"name"}, Each: disk, Extra: model.Extra{Optional: true}},
		"interfaces":  {List: model.Keyed, Keys: []string{"name"}, Each: nic, Extra: model.Extra{Optional: true}},
		"primary_ip4": optional, "primary_ip6": optional,
		"tags": {List: model.Bag, Each: plain, Extra: model.Extra{Optional: true}},
	}}
}

// Schema implements model.Lens.
func (l *lens) Schema() *model.Schema { return l.schema }

// View implements model.Lens. The result contains only fields of the claim.
func (l *lens) View(live model.Value) model.Value {
	m := l.system.read(live)
	fields := make([]model.Field, 0, len(l.declared.Fields()))
	for _, f := range l.declared.Fields() {
		if observed := l.observe(live, m, f.Name, f.Value); !observed.value.IsNull() {
			fields = append(fields, model.Field{Name: f.Name, Value: observed.value})
		}
	}
	return model.MapOf(fields...)
}

// observe returns the observation of the field name of the claim.
func (l *lens) observe(live model.Value, m machine, name string, declared model.Value) observation {
	switch name {
	case "disk":
		return observeDiskSum(m, declared)
	case "disks":
		return observation{value: l.viewDisks(m, declared.Items())}
	case "interfaces":
		return observation{value: l.viewNICs(m, declared.Items())}
	case "primary_ip4":
		return observeAddress(m, declared, false, l.nic4)
	case "primary_ip6":
		return observeAddress(m, declared, true, l.nic6)
	case "tags":
		return observation{l.tags(live), "tags"}
	}
	return m.observe(name, declared)
}

// tags returns the tags of live as the slugs that NetBox has for them, without the ignored
// ones.
func (l *lens) tags(live model.Value) model.Value {
	var all []string
	for _, item := range live.At("tags").Items() {
		tag := strings.ToLower(item.Text())
		if slug, known := l.slugs[tag]; known && !l.ignores(tag) {
			tag = slug
		}
		if tag != "" && !l.ignores(tag) {
			all = append(all, tag)
		}
	}
	return texts(all)
}

// LivePath implements model.Lens.
func (l *lens) LivePath(live model.Value, path string) string {
	m := l.system.read(live)
	name, element, subfield := splitPath(path)
	switch name {
	case "disks":
		return l.diskPath(m, l.declared.At("disks").Items(), element, subfield)
	case "interfaces":
		return l.nicPath(m, element, subfield)
	}
	declared, ok := l.declared.Get(name)
	if !ok {
		return ""
	}
	return l.observe(live, m, name, declared).path
}

// IsShared implements model.Lens.
func (l *lens) IsShared(string) bool { return false }

// Misfit implements model.Lens. It returns "", because View reads only fields that the type of system has.
func (l *lens) Misfit(*model.Schema) string { return "" }

// LiveValue implements model.Lens.
func (l *lens) LiveValue(live model.Value, path string, v model.Value) (value model.Value, known bool) {
	name, _, subfield := splitPath(path)
	return l.system.read(live).liveValue(name, subfield, v)
}

// splitPath splits "disks[name=root].size" into disks, root and size. A path of another form
// has only its first field.
func splitPath(path string) (name, element, subfield string) {
	i := strings.IndexAny(path, ".[")
	if i < 0 {
		return path, "", ""
	}
	name, rest := path[:i], path[i:]
	if rest[0] == '.' {
		return name, "", rest[1:]
	}
	_, rest, ok := strings.Cut(rest, "=")
	if !ok {
		return name, "", ""
	}
	if quoted, err := strconv.QuotedPrefix(rest); err == nil && strings.HasPrefix(rest, `"`) {
		element, _ = strconv.Unquote(quoted)
		rest = rest[len(quoted):]
	} else if end := strings.IndexByte(rest, ']'); end >= 0 {
		element, rest = rest[:end], rest[end:]
	}
	return name, element, strings.TrimPrefix(strings.TrimPrefix(rest, "]"), ".")
}

// present is the lens of a claim that only requires its resource to exist.
type present struct{}

// Schema implements model.Lens.
func (present) Schema() *model.Schema { return nil }

// View implements model.Lens.
func (present) View(model.Value) model.Value { return model.MapOf() }

// LivePath implements model.Lens.
func (present) LivePath(model.Value, string) string { return "" }

// LiveValue implements model.Lens.
func (present) LiveValue(model.Value, string, model.Value) (value model.Value, known bool) {
	return model.Value{}, false
}

// IsShared implements model.Lens.
func (present) IsShared(string) bool { return false }

// Misfit implements model.Lens.
func (present) Misfit(*model.Schema) string { return "" }
