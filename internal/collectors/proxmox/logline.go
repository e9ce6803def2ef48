package proxmox

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// An update is a parsed message of the cluster log about a virtual machine:
//
//	update VM 300: -cores 4 -delete net1,net2
//	update VM 300: resize --disk scsi0 --size +4G
type update struct {
	id     string
	fields []string
	// options are the settings in the message; nil if it reports a resized disk.
	options []option
	// size is the size that a disk gets; "" if the message has none, or how much it grows ("+4G").
	size string
	// shown is the message for display: shortened, and without passwords. quotes are the values in it.
	shown  string
	quotes []model.Quote
}

const (
	updatePrefix = "update VM "
	shownValue   = 60
	shownLine    = 240
	// maxUpdate is the size limit of a message, in bytes. Entries of the cluster log have a few
	// kilobytes.
	maxUpdate = 64 << 10
)

// parseUpdate parses a message in the cluster log about an update. For any other message, ok is
// false.
func parseUpdate(line string) (u update, ok bool) {
	rest, ok := strings.CutPrefix(line, updatePrefix)
	if !ok {
		return update{}, false
	}
	id, settings, ok := strings.Cut(rest, ":")
	if !ok || !isVMID(id) || len(line) > maxUpdate {
		return update{}, false
	}
	u.id = id
	if disk, found := strings.CutPrefix(strings.TrimSpace(settings), "resize --disk "); found {
		disk, size, _ := strings.Cut(disk, " --size ")
		if isKey(disk) {
			u.fields = []string{disk + ".size"}
			if !strings.HasPrefix(size, "+") {
				u.size = size
			}
		}
		u.shown = clip(printable.Text(line), shownLine)
		if from := strings.Index(u.shown, " --size "); isKey(disk) && from >= 0 {
			value := model.MapOf(model.Field{Name: "size", Value: model.StringOf(size)})
			u.quotes = []model.Quote{{Path: disk, Value: value, From: from + len(" --size "), To: len(u.shown)}}
		}
		return u, true
	}
	u.options = parseOptions(settings)
	for _, o := range u.options {
		u.fields = append(u.fields, o.names()...)
	}
	slices.Sort(u.fields)
	u.fields = slices.Compact(u.fields)
	u.show()
	return u, true
}

// show sets shown and quotes. An apparent option can be a part of the value before it, so that each quote extends
// to the end of the line, and nothing is shown after a password.
func (u *update) show() {
	var b strings.Builder
	b.WriteString(updatePrefix + u.id + ":")
	for _, o := range u.options {
		b.WriteString(" -" + o.key)
		if o.isPassword() {
			b.WriteString(" " + hidden)
			if o.value != hidden {
				break
			}
			continue
		}
		from := b.Len() + 1
		if value := printable.Text(clip(o.value, shownValue)); value != "" {
			b.WriteString(" " + value)
		}
		if slices.Equal(o.names(), []string{o.key}) {
			u.quotes = append(u.quotes, model.Quote{Path: o.key, Value: model.StringOf(o.value), From: from})
		}
	}
	u.shown = clip(b.String(), shownLine)
	u.quotes = slices.DeleteFunc(u.quotes, func(q model.Quote) bool { return q.From >= len(u.shown) })
	for i := range u.quotes {
		u.quotes[i].To = len(u.shown)
	}
}

// An option is a setting with its value as written to the log.
type option struct{ key, value string }

// parseOptions splits "-key value -key value". Values are not quoted, but keys are sorted, so a key
// that is out of order is part of the preceding value.
func parseOptions(text string) []option {
	var options []option
	var words []string // of the last option's value
	end := func() {
		if last := len(options) - 1; last >= 0 {
			options[last].value = strings.TrimLeft(strings.Join(words, " "), " ")
		}
		words = nil
	}
	for word := range strings.SplitSeq(strings.TrimSpace(text), " ") {
		last := len(options) - 1
		key, dashed := strings.CutPrefix(word, "-")
		switch {
		case dashed && isKey(key) && (last < 0 || key > options[last].key):
			end()
			options = append(options, option{key: key})
		case last >= 0:
			words = append(words, word)
		}
	}
	end()
	return options
}

// isKey reports whether s has the form of a setting's name.
func isKey(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// names returns the settings that an option changes. A reverted pending change leaves the
// setting unchanged.
func (o option) names() []string {
	switch o.key {
	case "delete":
		return strings.FieldsFunc(o.value, func(r rune) bool { return strings.ContainsRune(", ;\x00", r) })
	case "digest", "revert", "skiplock", "force", "background_delay", "import-working-storage", "lock":
		return nil
	}
	return []string{o.key}
}

// hidden replaces a password, here and in the log itself.
const hidden = "<hidden>"

// isPassword reports whether the value is a password.
func (o option) isPassword() bool { return o.key == "cipassword" || o.key == "password" }
