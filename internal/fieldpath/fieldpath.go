// Package fieldpath parses the paths of changed fields in the format of reports.
package fieldpath

import (
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A Kind is the kind of a Step.
type Kind uint8

// The kinds of steps: a field of a map, an element by its index, by its key fields, or by its
// value.
const (
	Field Kind = iota
	Index
	Keyed
	Item
)

// A Step is one step of a path, as reports write it.
type Step struct {
	Kind Kind
	// Name is the name of a field, Index the position of an element, and Item its value.
	Name  string
	Index int
	Item  string
	// Keys are the key fields of an element.
	Keys []Key
}

// A Key is a key field of a list element, with its value as text.
type Key struct{ Name, Value string }

// Parse parses the path of a change. ok is false if its format is unknown.
func Parse(text string) (steps []Step, ok bool) {
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
		steps, text = append(steps, Step{Kind: Field, Name: text[:end]}), text[end:]
	}
	return steps, len(steps) > 0
}

func parseBracket(bracket string) (step Step, ok bool) {
	if len(bracket) < 3 || !strings.HasSuffix(bracket, "]") {
		return step, false
	}
	inside := bracket[1 : len(bracket)-1]
	switch {
	case inside[0] == '"':
		name, err := strconv.Unquote(inside)
		return Step{Kind: Field, Name: name}, err == nil
	case inside[0] == '=':
		item, rest, ok := cutText(inside[1:])
		return Step{Kind: Item, Item: item}, ok && rest == ""
	case strings.Trim(inside, "0123456789") == "":
		n, err := strconv.Atoi(inside)
		return Step{Kind: Index, Index: n}, err == nil
	}
	step.Kind = Keyed
	for inside != "" {
		name, rest, found := strings.Cut(inside, "=")
		if !found || name == "" {
			return step, false
		}
		value, rest, ok := cutText(rest)
		if !ok {
			return step, false
		}
		step.Keys, inside = append(step.Keys, Key{name, value}), strings.TrimPrefix(rest, ",")
	}
	return step, len(step.Keys) > 0
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

// Element returns the index of the only element of a list that a step selects, or -1 if there is none or
// more than one.
func (s *Step) Element(list model.Value) int {
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

func (s *Step) selects(i int, item model.Value) bool {
	switch s.Kind {
	case Index:
		return i == s.Index
	case Item:
		return item.Text() == s.Item && len(item.Items())+len(item.Fields()) == 0
	case Keyed:
		for _, key := range s.Keys {
			v, ok := item.Get(key.Name)
			if !ok || v.Text() != key.Value || v.HasSecret() {
				return false
			}
		}
		return true
	}
	return false
}
