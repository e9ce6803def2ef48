package proxmox

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/model"
)

// lasting drops from the entries, which are sorted by guest and time, the
// fields that somebody wrote again later, and those that hold another value
// than the last line on them wrote: a file was edited then, and whoever wrote
// the line did not make the value that is there.
func (l *look) lasting(entries []logEntry) []logEntry {
	type field struct {
		model.Ref
		name string
	}
	decided := map[field]bool{}
	for i, e := range slices.Backward(entries) {
		live := l.guestValue(e.Ref)
		if len(e.written) == 0 || live.IsNull() {
			continue
		}
		written, _ := l.normalizer.Guest(e.Kind, e.written)
		entries[i].Fields = slices.DeleteFunc(slices.Clone(e.Fields), func(name string) bool {
			f := field{e.Ref, name}
			stale := decided[f] || !holds(live.At(name), written.At(name)) && !e.messageHas(name, live.At(name))
			decided[f] = true
			return stale
		})
	}
	return slices.DeleteFunc(entries, func(e logEntry) bool { return len(e.written) > 0 && len(e.Fields) == 0 })
}

// guestValue returns the configuration of a guest that was read, or null.
func (l *look) guestValue(r model.Ref) model.Value {
	i, found := l.resource(r)
	if !found {
		return model.Value{}
	}
	return l.resources[i].Value
}

// resource finds a resource among those that are sorted.
func (l *look) resource(r model.Ref) (int, bool) {
	return slices.BinarySearchFunc(l.resources, r, func(a model.Resource, b model.Ref) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
}

// holds tells whether a field may have what it has from what was written to it.
// What the system makes of it (the volume of a new disk, a MAC address) may be
// another, and a secret may be any; null stands for deleted.
func holds(live, written model.Value) bool {
	switch {
	case live.Kind() == model.Secret || live.Text() != "" && strings.Trim(live.Text(), "*") == "":
		return true
	case live.IsNull():
		return written.IsEmpty() || slices.Contains([]string{"0", "false"}, written.Text())
	case live.Kind() == model.Map && written.Kind() == model.Map:
		return !slices.ContainsFunc(slices.Concat(live.Fields(), written.Fields()), func(f model.Field) bool {
			return !slices.Contains(allocated(), f.Name) && !holds(live.At(f.Name), written.At(f.Name))
		})
	case live.Kind() == model.List && written.Kind() == model.List:
		return slices.EqualFunc(live.Items(), written.Items(), holds)
	}
	return live.Equal(written) || live.Kind() == model.String && inLog(live.Text()) == inLog(written.Text())
}

// says tells whether the line has a text as a setting's value. Nothing parts a
// value from the settings behind it, so the text may hold what looks like one.
func (e logEntry) messageHas(name string, text model.Value) bool {
	_, rest, found := strings.Cut(e.line, " -"+name+" ")
	rest, begins := strings.CutPrefix(inLog(rest), inLog(text.Str()))
	return found && begins && text.Str() != "" && (rest == "" || rest[0] == '-')
}

// allocated are the parts of devices that the system fills in or works out.
func allocated() []string {
	return []string{"file", "storage", "volume", "format", "size", "media", "cloudinit", "macaddr", "owner"}
}

// inLog is what is sure to be kept of a text in the cluster log, which writes
// characters beyond ASCII and line ends as #010 or \u00e4.
func inLog(text string) string {
	text = regexp.MustCompile(`#[0-9]{3}|\\u[0-9a-fA-F]{4}`).ReplaceAllString(text, "")
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
}

// rows are the settings of an update as a guest's /pending lists them; none
// where the line does not tell what was written.
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

// kindOf returns the kind of a guest by its id.
func (l *look) kindOf(id string) string {
	if l.isGuest(ref(normalize.LXC, id)) {
		return normalize.LXC
	}
	return normalize.QEMU
}

func (l *look) isGuest(r model.Ref) bool {
	_, found := l.resource(r)
	return found || slices.ContainsFunc(l.unread, func(u model.Unread) bool { return u.Ref == r })
}
