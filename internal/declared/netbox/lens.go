package netbox

import (
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// The statuses of a virtual machine that say whether it runs.
const (
	active  = "active"
	offline = "offline"
)

// A lens shows a machine in the words of one claim. Where the two agree, or cannot
// be compared, it shows what the claim says.
type lens struct {
	*glossary

	system   *system
	declared model.Value
	// also and nameless are those of the claim's ports.
	also     map[string]string
	nameless int
	// nic4 and nic6 are the MAC addresses of the devices that have the primary
	// addresses, "" where NetBox does not tell.
	nic4, nic6 string
}

func schema() *model.Schema {
	untagged := model.IntOf(0)
	plain, strayName := &model.Schema{}, &model.Schema{Stray: true}
	optional := &model.Schema{Optional: true}
	place := &model.Schema{Location: true, Optional: true, Format: model.CaseFold}
	disk := &model.Schema{Fields: map[string]*model.Schema{"name": strayName, "size": plain}}
	nic := &model.Schema{Fields: map[string]*model.Schema{
		"mac": strayName, "name": {Volatile: true}, "bridge": plain, "enabled": plain,
		"vlan": {Default: &untagged}, "tagged_vlans": {List: model.Bag, Each: plain},
	}}
	return &model.Schema{Fields: map[string]*model.Schema{
		"name": place, "device": place, "status": optional, "vcpus": optional, "memory": optional, "disk": optional,
		"disks":       {List: model.Keyed, Keys: []string{"name"}, Each: disk, Optional: true},
		"interfaces":  {List: model.Keyed, Keys: []string{"mac"}, Each: nic, Optional: true},
		"primary_ip4": optional, "primary_ip6": optional,
		"tags": {List: model.Bag, Each: plain, Optional: true},
	}}
}

// Schema compares what View returns with what NetBox says.
func (l *lens) Schema() *model.Schema { return l.schema }

// View returns the machine in NetBox's words, as far as the claim speaks of it.
func (l *lens) View(live model.Value) model.Value {
	m := l.system.read(live)
	fields := make([]model.Field, 0, len(l.declared.Fields()))
	for _, f := range l.declared.Fields() {
		if seen := l.look(live, m, f.Name, f.Value); !seen.value.IsNull() {
			fields = append(fields, model.Field{Name: f.Name, Value: seen.value})
		}
	}
	return model.MapOf(fields...)
}

// look returns what stands behind a field of the claim.
func (l *lens) look(live model.Value, m machine, word string, says model.Value) sight {
	switch word {
	case "disk":
		return sum(m, says)
	case "disks":
		return sight{value: l.viewDisks(m, says.Items())}
	case "interfaces":
		return sight{value: l.viewNICs(m, says.Items())}
	case "primary_ip4":
		return address(m, says, false, l.nic4)
	case "primary_ip6":
		return address(m, says, true, l.nic6)
	case "tags":
		return sight{l.tags(live), "tags"}
	}
	return m.look(word, says)
}

// tags returns the machine's tags by the slugs that NetBox has for them.
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

// LivePath returns the path in live behind one in the claim's words, or "".
func (l *lens) LivePath(live model.Value, path string) string {
	m := l.system.read(live)
	word, name, field := splitPath(path)
	switch word {
	case "disks":
		return l.diskPath(m, l.declared.At("disks").Items(), name, field)
	case "interfaces":
		return l.nicPath(m, name, field)
	}
	says, ok := l.declared.Get(word)
	if !ok {
		return ""
	}
	return l.look(live, m, word, says).path
}

// IsShared implements model.Lens.
func (l *lens) IsShared(string) bool { return false }

// LiveValue implements model.Lens.
func (l *lens) LiveValue(live model.Value, path string, v model.Value) (value model.Value, known bool) {
	word, _, field := splitPath(path)
	return l.system.read(live).means(word, field, v)
}

// splitPath splits "disks[name=root].size" into disks, root and size; a path of
// another form has only its first word.
func splitPath(path string) (word, name, field string) {
	i := strings.IndexAny(path, ".[")
	if i < 0 {
		return path, "", ""
	}
	word, rest := path[:i], path[i:]
	if rest[0] == '.' {
		return word, "", rest[1:]
	}
	_, rest, ok := strings.Cut(rest, "=")
	if !ok {
		return word, "", ""
	}
	if quoted, err := strconv.QuotedPrefix(rest); err == nil && strings.HasPrefix(rest, `"`) {
		name, _ = strconv.Unquote(quoted)
		rest = rest[len(quoted):]
	} else if end := strings.IndexByte(rest, ']'); end >= 0 {
		name, rest = rest[:end], rest[end:]
	}
	return word, name, strings.TrimPrefix(strings.TrimPrefix(rest, "]"), ".")
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
