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

// A lens shows a guest, virtual machine or container, in the words of one claim.
// Where the two agree, or cannot be compared, it shows what the claim says.
type lens struct {
	*glossary

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

// View returns the guest in NetBox's words, as far as the claim speaks of it.
func (l *lens) View(live model.Value) model.Value {
	g := read(live)
	fields := make([]model.Field, 0, len(l.declared.Fields()))
	for _, f := range l.declared.Fields() {
		if seen := l.look(g, f.Name, f.Value); !seen.value.IsNull() {
			fields = append(fields, model.Field{Name: f.Name, Value: seen.value})
		}
	}
	return model.MapOf(fields...)
}

// A sight is a live field in the claim's words, and its path in the live
// resource; "" where it stands for several, or tells nothing.
type sight struct {
	value model.Value
	path  string
}

// look returns what stands behind a field of the claim.
func (l *lens) look(g live, word string, declared model.Value) sight {
	untold := sight{value: declared}
	switch word {
	case "name":
		return sight{g.At(g.named), g.named}
	case "status":
		return g.status(untold)
	case "device":
		return g.node(untold)
	case "vcpus":
		return g.vcpus(untold)
	case "memory":
		return g.memory(untold)
	case "disk":
		return g.sum(untold)
	case "disks":
		return sight{value: viewDisks(g, declared.Items())}
	case "interfaces":
		return sight{value: l.viewNICs(g, declared.Items())}
	case "primary_ip4":
		return g.address(untold, false, l.nic4)
	case "primary_ip6":
		return g.address(untold, true, l.nic6)
	case "tags":
		return sight{l.tags(g), "tags"}
	}
	return untold
}

// tags returns the guest's tags by the slugs that NetBox has for them.
func (l *lens) tags(g live) model.Value {
	var all []string
	for _, item := range g.At("tags").Items() {
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
	g := read(live)
	word, name, field := splitPath(path)
	switch word {
	case "disks":
		return diskPath(g, l.declared.At("disks").Items(), name, field)
	case "interfaces":
		return l.nicPath(g, name, field)
	}
	declared, ok := l.declared.Get(word)
	if !ok {
		return ""
	}
	return l.look(g, word, declared).path
}

// Declares returns what the field of live behind a path would hold if the claim's
// field held v; known is false where that cannot be told.
func (l *lens) Declares(live model.Value, path string, v model.Value) (means model.Value, known bool) {
	word, name, field := splitPath(path)
	switch word {
	case "vcpus":
		return read(live).declaresCPUs(v)
	case "name", "memory", "primary_ip4", "primary_ip6", "tags":
		return v, true
	case "device":
		return model.StringOf(short(v.Str())), true
	case "status":
		return map[string]model.Value{active: model.StringOf("running"), offline: model.StringOf("stopped")}[v.Str()], true
	case "disk":
		return bytesOf(v)
	case "disks":
		if name != "" && field == "size" {
			return bytesOf(v)
		}
	case "interfaces":
		return declaresNIC(field, v)
	}
	return model.Value{}, false
}

func declaresNIC(field string, v model.Value) (means model.Value, known bool) {
	switch field {
	case "mac", "bridge", "tagged_vlans":
		return v, true
	case "vlan":
		if v.IsEmpty() {
			return model.Value{}, true
		}
		return v, true
	case "enabled":
		return model.BoolOf(v.Text() == "false"), v.Kind() == model.Bool
	}
	return model.Value{}, false
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

// present compares nothing: it is enough that the resource is there.
type present struct{}

// Schema implements model.Lens.
func (present) Schema() *model.Schema { return nil }

// View implements model.Lens.
func (present) View(model.Value) model.Value { return model.MapOf() }

// LivePath implements model.Lens.
func (present) LivePath(model.Value, string) string { return "" }
