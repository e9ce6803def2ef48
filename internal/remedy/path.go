package remedy

import (
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A stepKind is the kind of a step of a path.
type stepKind uint8

// The kinds of steps: a field of a map, an element by its index, by its key fields, or by its
// value.
const (
	fieldStep stepKind = iota
	indexStep
	keyStep
	itemStep
)

// A pathStep is one step of a path, as reports write it.
type pathStep struct {
	kind stepKind
	// name is the name of a field, index the position of an element, and item its value.
	name  string
	index int
	item  string
	keys  []keyValue
}

type keyValue struct{ name, value string }

// parsePath parses the path of a change; ok is false if it has an unknown form.
func parsePath(text string) (steps []pathStep, ok bool) {
	for text != "" {
		if text[0] == '[' {
			bracket, rest := model.CutBracket(text)
			step, ok := parseBracket(bracket)
			if !ok {
				return nil, false
			}
			steps, text = append(steps, step), rest
			continue
		}
		text = strings.TrimPrefix(text, ".")
		end := strings.IndexAny(text, ".[")
		if end < 0 {
			end = len(text)
		}
		if end == 0 {
			return nil, false
		}
		steps, text = append(steps, pathStep{kind: fieldStep, name: text[:end]}), text[end:]
	}
	return steps, len(steps) > 0
}

func parseBracket(bracket string) (step pathStep, ok bool) {
	if len(bracket) < 3 || !strings.HasSuffix(bracket, "]") {
		return step, false
	}
	inside := bracket[1 : len(bracket)-1]
	switch {
	case inside[0] == '"':
		name, err := strconv.Unquote(inside)
		return pathStep{kind: fieldStep, name: name}, err == nil
	case inside[0] == '=':
		item, rest, ok := cutText(inside[1:])
		return pathStep{kind: itemStep, item: item}, ok && rest == ""
	case isNumber(inside):
		n, err := strconv.Atoi(inside)
		return pathStep{kind: indexStep, index: n}, err == nil
	}
	step.kind = keyStep
	for inside != "" {
		name, rest, found := strings.Cut(inside, "=")
		if !found || name == "" {
			return step, false
		}
		value, rest, ok := cutText(rest)
		if !ok {
			return step, false
		}
		step.keys, inside = append(step.keys, keyValue{name, value}), strings.TrimPrefix(rest, ",")
	}
	return step, len(step.keys) > 0
}

// cutText cuts a text, which may be quoted, up to a comma.
func cutText(s string) (text, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexByte(s, ',')
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], true
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", false
	}
	text, err = strconv.Unquote(quoted)
	return text, s[len(quoted):], err == nil
}

// element returns the index of the only element of a list that a step selects; -1 if there is
// none, or more than one.
func (s *pathStep) element(list model.Value) int {
	found := -1
	for i, item := range list.Items() {
		if !s.selects(i, item) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

func (s *pathStep) selects(i int, item model.Value) bool {
	switch s.kind {
	case indexStep:
		return i == s.index
	case itemStep:
		return item.Text() == s.item && len(item.Items())+len(item.Fields()) == 0
	case keyStep:
		for _, key := range s.keys {
			v, ok := item.Get(key.name)
			if !ok || v.Text() != key.value || v.HasSecret() {
				return false
			}
		}
		return true
	}
	return false
}
