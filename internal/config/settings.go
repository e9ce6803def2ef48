package config

import (
	"fmt"
	"reflect"
)

// Settings are what a source, a declaration or a receiver says to its own type.
// They stay raw until the type's package decodes them. The zero Settings say nothing.
type Settings struct {
	tree map[string]any
	doc  *document
	// path is that of the source, declaration or receiver.
	path string
}

// NewSettings returns settings that come from no file; origin ("command line")
// stands in their errors where file and line would. Relative paths are
// relative to the working folder.
func NewSettings(origin string, values map[string]any) Settings {
	return Settings{tree: values, doc: newDocument(origin, "")}
}

// Decode fills the struct that into points to; what the settings do not say
// stays as it is. An unknown key and a wrong type are problems of an *Error.
// Relative paths in fields tagged `path:"true"` come out absolute.
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

// Where names the place of what they belong to: "driftd.yaml:12".
func (s Settings) Where() string {
	where, _ := s.document().where(s.path)
	return where
}

// UnknownType returns the error that typ is none of the valid types, with the
// line and the nearest right one.
func (s Settings) UnknownType(typ string, valid []string) error {
	doc := s.document()
	doc.add(child(s.path, "type"), "unknown type %q: %s", typ, oneOf(typ, valid))
	return doc.err()
}

// GovernsNothing returns the error that a declaration names no source, although
// its type reads no live side by itself.
func (s Settings) GovernsNothing(declaration string) error {
	doc := s.document()
	doc.add(child(s.path, "governs"), "declaration %q governs nothing: name its sources, as in governs: [prod]", declaration)
	return doc.err()
}

// document returns a document for the problems of these settings alone.
func (s Settings) document() *document {
	if s.doc == nil {
		return newDocument("settings", "")
	}
	doc := *s.doc
	doc.problems = nil
	return &doc
}
