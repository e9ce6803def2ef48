package netbox

import (
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify/plain"
)

// An object is an object of NetBox: its type, "virtualization.virtualmachine", and its id.
type object struct{ typ, id string }

// String returns the object in the format that parseObject parses.
func (o object) String() string { return o.typ + "/" + o.id }

// parseObject parses an object; it returns the zero object for another text.
func parseObject(text string) object {
	typ, id, _ := strings.Cut(text, "/")
	return newObject(typ, id)
}

// newObject returns the object, or the zero object if the type has no journal or the id is not a number.
func newObject(typ, id string) object {
	app, _, _ := strings.Cut(typ, ".")
	if n, err := strconv.ParseUint(id, 10, 63); err != nil || n == 0 || !slices.Contains(journaled(), app) {
		return object{}
	}
	return object{typ, id}
}

// journaled returns the apps of NetBox whose objects have a journal.
func journaled() []string {
	return []string{"circuits", "dcim", "ipam", "tenancy", "virtualization", "vpn", "wireless"}
}

// object returns the object of NetBox that a finding is about, or that declares its resource; the zero object if there is none.
func (c *Config) object(f *model.Finding) object {
	if typ, ok := strings.CutPrefix(f.Kind, "netbox/"); ok && slices.Contains(c.Sources, f.Source) {
		return newObject(typ, f.Key.ID)
	}
	if at := c.declaring(f.Declaration, f.Address); at != (object{}) {
		return at
	}
	for i := range f.Changes {
		for _, claim := range f.Changes[i].Claims {
			if at := c.declaring(claim.Declaration, claim.Address); at != (object{}) {
				return at
			}
		}
	}
	return object{}
}

// declaring returns the object with an address in a declaration of this NetBox. The address is the path of the object's page.
func (c *Config) declaring(declaration, address string) object {
	if !slices.Contains(c.Declarations, declaration) {
		return object{}
	}
	list, id, _ := strings.Cut(address, "/")
	switch list {
	case "virtual-machines":
		return newObject("virtualization.virtualmachine", id)
	case "devices":
		return newObject("dcim.device", id)
	}
	return object{}
}

// A journalEntry is the body of a request that adds an entry.
type journalEntry struct {
	Type     string `json:"assigned_object_type"`
	ID       int64  `json:"assigned_object_id"`
	Kind     string `json:"kind"`
	Comments string `json:"comments"`
}

// The kinds of entries.
const (
	warning = "warning"
	success = "success"
	info    = "info"
)

// newEntry returns the entry about the news of a message, with no comments if the news gets no entry.
func newEntry(m *model.Message, it *model.Item, at object) journalEntry {
	e := journalEntry{Type: at.typ}
	e.ID, _ = strconv.ParseInt(at.id, 10, 64) // newObject checked it
	text := plain.Text{Quote: quote, URL: m.URL}
	f := &it.Finding
	var lines []string
	switch {
	case it.News == model.Over:
		e.Kind, lines = success, []string{"driftd: resolved: " + text.Subject(f)}
	case it.News == model.WasMerged:
		e.Kind, lines = info, []string{"driftd: merged into another finding: " + text.Subject(f)}
	case it.News == model.WasAccepted, it.News == model.WasHidden:
		e.Kind, lines = info, []string{"driftd: " + text.Muted(f), text.Subject(f)}
	case m.First, it.News == model.Again, it.News == model.Returned:
		e.Kind = warning
		lines = append([]string{"driftd: " + text.Subject(f), text.Where(f), text.Actor(f)}, bullets(text.Fields(f, it.Fields, model.MaxFields))...)
		lines = append(lines, text.Reason(f))
	default:
		return journalEntry{}
	}
	next := text.Next(f)
	if page := plain.Page(m.URL, f); page != "" {
		next = "<" + page + ">"
	}
	lines = slices.DeleteFunc(append(lines, next), func(line string) bool { return line == "" })
	e.Comments = strings.Join(append(lines, marker(m.Key)), "\n\n")
	return e
}

func bullets(fields []string) []string {
	if len(fields) == 0 {
		return nil
	}
	return []string{"- " + strings.Join(fields, "\n- ")}
}

// marker is the last line of the entry of a message, by which a repeated delivery finds it.
func marker(key string) string { return "message " + quote(key) }

// quote escapes foreign text in the Markdown of NetBox, so that it has no links, images, tables and tags. NetBox reads
// backslashes before some characters only (https://python-markdown.github.io/reference/), and entities for the others.
func quote(text string) string {
	return strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "{", "\\{", "}", "\\}", "[", "\\[", "]", "\\]",
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "~", "&#126;", "|", "&#124;").Replace(text)
}
