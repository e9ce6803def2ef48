package proxmox

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// withoutOverwritten removes from the entries the fields that a later entry wrote again, and those
// whose live value is not the one that the last entry wrote. Such a value comes from an edited
// file, whose author is not in the log, from a guest that powered itself off, or remains from a resize
// that failed. The entries must be sorted by guest and time.
func (sc *scan) withoutOverwritten(entries []logEntry) []logEntry {
	decided := map[guestField]bool{}
	for i, e := range slices.Backward(entries) {
		live := sc.guestValue(e.Ref)
		if !live.IsNull() && !e.mayHaveResized(live) {
			entries[i].Fields = nil
		}
		if e.leaves != "" || e.isMigration() {
			entries[i].Fields = e.fieldsLeft(live, decided)
			continue
		}
		if len(e.written) == 0 || live.IsNull() {
			continue
		}
		written, _ := sc.normalizer.Guest(e.Kind, e.written)
		entries[i].Fields = slices.DeleteFunc(slices.Clone(e.Fields), func(name string) bool {
			f := guestField{e.Ref, name}
			stale := decided[f] || !mayResultFrom(live.At(name), written.At(name)) && !e.lineContains(name, live.At(name))
			decided[f] = true
			return stale
		})
	}
	return slices.DeleteFunc(entries, func(e logEntry) bool { return e.mayBeOverwritten() && len(e.Fields) == 0 })
}

// A guestField is a field of a guest.
type guestField struct {
	model.Ref
	name string
}

// mayBeOverwritten reports whether an entry without fields has none because they were overwritten.
func (e logEntry) mayBeOverwritten() bool {
	return len(e.written) > 0 || e.size != "" || e.leaves != "" || e.isMigration()
}

// isMigration reports whether the entry is a task that changes the node of its guest.
func (e logEntry) isMigration() bool {
	return e.task && slices.Equal(e.taskEffect.fields, []string{"node"})
}

// fieldsLeft returns the fields of a task that the live guest still has as the task left them, and adds
// them to decided. A migration runs on the node that the guest leaves, and does not name the other one.
func (e logEntry) fieldsLeft(live model.Value, decided map[guestField]bool) []string {
	return slices.DeleteFunc(slices.Clone(e.Fields), func(name string) bool {
		now := live.At(name)
		if now.IsNull() {
			return false
		}
		f := guestField{e.Ref, name}
		held := now.Text() == e.leaves
		if e.isMigration() {
			held = now.Text() != e.node
		}
		stale := decided[f] || !held
		decided[f] = decided[f] || held || !e.mayKeep
		return stale
	})
}

// mayHaveResized reports whether a disk has the size of the message. Proxmox VE logs a resize before it makes it, so that the message also
// stands for one that failed.
func (e logEntry) mayHaveResized(live model.Value) bool {
	size, ok := normalize.Size(e.size)
	if !ok || len(e.Fields) != 1 {
		return true
	}
	disk, part, _ := strings.Cut(e.Fields[0], ".")
	return live.At(disk, part).Equal(model.IntOf(size))
}

// guestValue returns the configuration of a guest, or null if it was not read.
func (sc *scan) guestValue(r model.Ref) model.Value {
	i, found := sc.resource(r)
	if !found {
		return model.Value{}
	}
	return sc.resources[i].Value
}

// resource returns the index of a resource, by binary search in the sorted resources.
func (sc *scan) resource(r model.Ref) (int, bool) {
	return slices.BinarySearchFunc(sc.resources, r, func(a model.Resource, b model.Ref) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
}

// mayResultFrom reports whether a live value may result from a written one. Generated parts (the
// volume of a new disk, a MAC address) and secrets may differ. A null live value means that the
// setting was deleted.
func mayResultFrom(live, written model.Value) bool {
	switch {
	case live.Kind() == model.Secret || live.Text() != "" && strings.Trim(live.Text(), "*") == "":
		return true
	case live.IsNull():
		return written.IsEmpty() || slices.Contains([]string{"0", "false"}, written.Text())
	case live.Kind() == model.Map && written.Kind() == model.Map:
		return !slices.ContainsFunc(slices.Concat(live.Fields(), written.Fields()), func(f model.Field) bool {
			return !slices.Contains(generatedParts(), f.Name) && !mayResultFrom(live.At(f.Name), written.At(f.Name))
		})
	case live.Kind() == model.List && written.Kind() == model.List:
		return slices.EqualFunc(live.Items(), written.Items(), mayResultFrom)
	}
	return live.Equal(written) || live.Kind() == model.String && withoutEscapes(live.Text()) == withoutEscapes(written.Text())
}

// lineContains reports whether the message sets a setting to a text. A value in a message ends
// without a delimiter, so the text may contain another setting.
func (e logEntry) lineContains(name string, text model.Value) bool {
	_, rest, found := strings.Cut(e.line, " -"+name+" ")
	rest, begins := strings.CutPrefix(withoutEscapes(rest), withoutEscapes(text.Str()))
	return found && begins && text.Str() != "" && (rest == "" || rest[0] == '-')
}

// generatedParts returns the parts of devices that Proxmox VE assigns or computes.
func generatedParts() []string {
	return []string{"file", "storage", "volume", "format", "size", "media", "cloudinit", "macaddr", "owner"}
}

// withoutEscapes removes from a text the characters that the cluster log may change: it writes
// characters beyond ASCII and line breaks as #010 or \u00e4.
func withoutEscapes(text string) string {
	text = regexp.MustCompile(`#[0-9]{3}|\\u[0-9a-fA-F]{4}`).ReplaceAllString(text, "")
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
}

// rows returns the settings of an update in the format of a guest's /pending; nil if the message
// contains no values.
func (u update) rows() []model.Value {
	var rows []model.Value
	for _, o := range u.options {
		for _, name := range o.names() {
			row := model.MapOf(model.Field{Name: "key", Value: model.StringOf(name)})
			if o.key == "delete" {
				row = row.With("delete", model.StringOf("1"))
			} else {
				row = row.With("value", model.StringOf(o.value))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// kindOf returns the kind of the guest with an id.
func (sc *scan) kindOf(id string) string {
	if sc.isGuest(ref(normalize.LXC, id)) {
		return normalize.LXC
	}
	return normalize.QEMU
}

func (sc *scan) isGuest(r model.Ref) bool {
	_, found := sc.resource(r)
	return found || slices.ContainsFunc(sc.unread, func(u model.Unread) bool { return u.Ref == r })
}
