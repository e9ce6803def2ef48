package mapping

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A base is the start of a live path.
type base uint8

const (
	fromElement base = iota
	fromRoot
	fromFound
)

// A source is the path of a live value: in the element of the attribute's block ("size"), in
// the whole resource ("/searchdomain"), or in the result of a named search
// ("$cloudinit.storage"). "." is the element itself; a last step "@key" is the name of the
// element's field ("scsi0"), "@prefix" and "@number" are its parts.
type source struct {
	base  base
	found *slots
	names []string
	// part is "@key", "@prefix", "@number" or "".
	part string
}

// A scope is the context in which paths are resolved.
type scope struct {
	root model.Value
	// element is the live element of the block, and key the field that holds it.
	element model.Value
	key     string
	// at is the element's path. It is set only if traced, because a view does not need it.
	at     string
	traced bool
}

// below returns the path of a field or element below the element.
func (sc *scope) below(names ...string) string {
	if !sc.traced {
		return ""
	}
	return joinPath(sc.at, names...)
}

// parsePath parses a path. It returns an error if the path refers to a search that is not in
// searches.
func parsePath(text string, searches map[string]*slots) (source, error) {
	var p source
	rest := text
	switch {
	case text == "":
		return p, fmt.Errorf("a live path is empty")
	case text[0] == '/':
		p.base, rest = fromRoot, text[1:]
	case text[0] == '$':
		name, below, _ := strings.Cut(text[1:], ".")
		found, ok := searches[name]
		if !ok {
			return p, fmt.Errorf("live path %q: no search %q stands under find", text, name)
		}
		p.base, p.found, rest = fromFound, found, below
	}
	if rest == "" || rest == "." {
		return p, nil
	}
	p.names = strings.Split(rest, ".")
	if last := len(p.names) - 1; slices.Contains([]string{"@key", "@prefix", "@number"}, p.names[last]) {
		p.part, p.names = p.names[last], p.names[:last]
	}
	for _, name := range p.names {
		if name == "" || strings.ContainsAny(name, "@$/[]") {
			return p, fmt.Errorf("live path %q: a step is empty or holds one of @$/[]", text)
		}
	}
	return p, nil
}

// start returns the scope at which the path begins; ok is false if a search finds nothing.
func (p *source) start(sc scope) (scope, bool) {
	switch p.base {
	case fromRoot:
		return scope{root: sc.root, element: sc.root, traced: sc.traced}, true
	case fromFound:
		entries := p.found.of(sc.root)
		if len(entries) == 0 {
			return scope{}, false
		}
		e := entries[0]
		return scope{root: sc.root, element: e.value, key: e.key, at: e.key, traced: sc.traced}, true
	}
	return sc, true
}

// value returns the value at the path, or null.
func (p *source) value(sc scope) model.Value {
	sc, ok := p.start(sc)
	switch {
	case !ok:
		return model.Value{}
	case p.part != "":
		return partOf(p.part, sc.key)
	}
	return sc.element.At(p.names...)
}

func partOf(part, key string) model.Value {
	prefix := strings.TrimRight(key, "0123456789")
	switch part {
	case "@prefix":
		return model.StringOf(prefix)
	case "@number":
		n, _ := model.NumberOf(key[len(prefix):])
		return n
	}
	return model.StringOf(key)
}

// text returns the path in the live tree, or "".
func (p *source) text(sc scope) string {
	sc, ok := p.start(sc)
	if !ok || p.part != "" {
		return sc.at
	}
	return sc.below(p.names...)
}

// field returns the field of the whole resource at which the path begins, or "" if that
// depends on a search or an element.
func (p *source) field() string {
	if p.base == fromFound || len(p.names) == 0 {
		return ""
	}
	return p.names[0]
}

// item returns the path of an element of a list.
func (sc *scope) item(i int) string {
	if !sc.traced {
		return ""
	}
	return joinIndex(sc.at, i)
}

func joinPath(at string, names ...string) string {
	for _, name := range names {
		switch {
		case !plainName(name):
			at += "[" + strconv.Quote(name) + "]"
		case at == "":
			at = name
		default:
			at += "." + name
		}
	}
	return at
}

// plainName reports whether package diff prints a name without quotes in a path.
func plainName(name string) bool { return name != "" && plainPrefix(name) == len(name) }

// plainPrefix returns the length of the prefix of a text that needs no quotes, in bytes.
func plainPrefix(text string) int {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '$':
		default:
			return i
		}
	}
	return len(text)
}

// A step is one step of a reported path: a field's name, or the text in brackets.
type step struct {
	name  string
	index int
}

// isIndex reports whether the step is a position.
func (s step) isIndex() bool { return s.name == "" }

// parseSteps parses a path as package diff prints it. It stops at an element without a
// position, and returns the steps before it.
func parseSteps(text string) []step {
	var steps []step
	for text != "" {
		s, rest, ok := cutStep(text)
		if !ok {
			return steps
		}
		steps = append(steps, s)
		text = rest
	}
	return steps
}

// cutStep cuts the first step from a path.
func cutStep(text string) (s step, rest string, ok bool) {
	if inside, bracket := strings.CutPrefix(text, "["); bracket {
		return cutBracket(inside)
	}
	text = strings.TrimPrefix(text, ".")
	end := plainPrefix(text)
	return step{name: text[:end]}, text[end:], end > 0
}

// cutBracket parses a position or a quoted name, and the closing bracket.
func cutBracket(inside string) (s step, rest string, ok bool) {
	if strings.HasPrefix(inside, `"`) {
		quoted, err := strconv.QuotedPrefix(inside)
		if err != nil {
			return step{}, "", false
		}
		name, err := strconv.Unquote(quoted)
		rest, closed := strings.CutPrefix(inside[len(quoted):], "]")
		return step{name: name}, rest, err == nil && closed && name != ""
	}
	digits, rest, closed := strings.Cut(inside, "]")
	n, err := strconv.Atoi(digits)
	return step{index: n}, rest, err == nil && closed && digits[0] != '+'
}
