package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"strings"
)

// Settings are the settings of a source, a declaration or a receiver that depend on its type. The package
// of the type decodes them. The zero Settings are empty.
type Settings struct {
	tree map[string]any
	doc  *document
	// path is the path of the source, declaration or receiver.
	path string
}

// NewSettings returns settings that do not come from a file. origin ("command line") replaces the file and
// the line in error messages. Relative paths are relative to the working directory.
func NewSettings(origin string, values map[string]any) Settings {
	return Settings{tree: values, doc: newDocument(origin, "")}
}

// With returns a copy of the settings with additional values, which replace existing values of the same
// names.
func (s Settings) With(values map[string]any) Settings {
	tree := maps.Clone(s.tree)
	if tree == nil {
		tree = map[string]any{}
	}
	maps.Copy(tree, values)
	s.tree = tree
	return s
}

// Decode decodes the settings into the struct to which into points. Fields without a setting remain
// unchanged. It returns an *Error for unknown keys and values of the wrong type. Relative paths in fields
// with the tag `path:"true"` become absolute.
func (s Settings) Decode(into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("decode settings into %T: want a pointer to a struct", into)
	}
	doc := s.document()
	path := child(s.path, "settings")
	doc.decode(path, s.tree, into)
	doc.resolve(path, v.Elem())
	return doc.err()
}

// Where returns the position of the source, declaration or receiver: "driftd.yaml:12".
func (s Settings) Where() string {
	return s.document().where(s.path)
}

// CheckExists returns an error if the setting is the path of a file or folder that does not exist. It
// returns nil if the setting is empty.
func (s Settings) CheckExists(key string) error {
	text, ok := s.tree[key].(string)
	if !ok || text == "" || strings.Contains(text, "://") {
		return nil
	}
	doc := s.document()
	path := child(child(s.path, "settings"), key)
	file, err := absolute(text, doc.dir)
	if err == nil {
		_, err = os.Stat(file)
	}
	switch {
	case err == nil, strings.ContainsAny(text, "*?["): // reported elsewhere
		return nil
	case errors.Is(err, fs.ErrNotExist):
		doc.add(path, "%s: %s does not exist: create it, or correct the path", key, file)
	default:
		doc.add(path, "%s: %v", key, err)
	}
	return doc.err()
}

// CheckText calls check with the string value of a setting. If check returns an error, CheckText returns it
// with the line of the setting. It returns nil if the setting is not set or not a string.
func (s Settings) CheckText(key string, check func(text string) error) error {
	text, ok := s.tree[key].(string)
	if !ok || text == "" {
		return nil
	}
	doc := s.document()
	if err := check(text); err != nil {
		doc.add(child(child(s.path, "settings"), key), "%s: %v", key, err)
	}
	return doc.err()
}

// CheckFiles calls check with each file in the list of a setting. It returns the errors with the lines of
// the files. It returns nil if the setting is not set or not a list.
func (s Settings) CheckFiles(key string, check func(file string) error) error {
	list, ok := s.tree[key].([]any)
	if !ok {
		return nil
	}
	doc := s.document()
	for i, entry := range list {
		text, ok := entry.(string)
		if !ok {
			continue
		}
		file, err := absolute(text, doc.dir)
		if err == nil {
			err = check(file)
		}
		if err != nil {
			doc.add(fmt.Sprintf("%s[%d]", child(child(s.path, "settings"), key), i), "%s: %v", key, err)
		}
	}
	return doc.err()
}

// Problem returns an error with the line of the source, declaration or receiver.
func (s Settings) Problem(format string, args ...any) error {
	doc := s.document()
	doc.add(s.path, format, args...)
	return doc.err()
}

// UnknownType returns an error that typ is not one of the valid types. It contains the line and the most
// similar valid type.
func (s Settings) UnknownType(typ string, valid []string) error {
	doc := s.document()
	doc.add(child(s.path, "type"), "unknown type %q: %s", typ, oneOf(typ, valid))
	return doc.err()
}

// GovernsNothing returns an error that a declaration governs no source, although its type requires one.
func (s Settings) GovernsNothing(declaration string) error {
	doc := s.document()
	doc.add(child(s.path, "governs"), "declaration %q governs nothing: name its sources, as in governs: [prod]", declaration)
	return doc.err()
}

// document returns a document that collects the problems of these settings only.
func (s Settings) document() *document {
	if s.doc == nil {
		return newDocument("settings", "")
	}
	doc := *s.doc
	doc.problems, doc.meant = nil, map[string]bool{}
	return &doc
}
