package manifests

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// A sketch describes, as far as their text shows it, the objects that manifests may declare
// which cannot be parsed or rendered.
type sketch struct {
	// unknown reports whether they may declare anything; extents is then meaningless.
	unknown bool
	extents []model.Extent
}

// maxExtents bounds the extents of a sketch, because each one is compared with every resource.
// A sketch with more is unknown.
const maxExtents = 1000

func (s *sketch) add(more sketch) {
	s.unknown = s.unknown || more.unknown
	for _, e := range more.extents {
		if s.unknown {
			break
		}
		if !slices.Contains(s.extents, e) {
			s.extents = append(s.extents, e)
		}
		s.unknown = len(s.extents) > maxExtents
	}
	if s.unknown {
		s.extents = nil
	}
}

var (
	plainKind    = lazyregexp.New(`^[A-Z][A-Za-z0-9]*$`)
	plainVersion = lazyregexp.New(`^[a-z0-9][a-z0-9./-]*$`)
	plainName    = lazyregexp.New(`^[a-z0-9]([a-z0-9.:-]*[a-z0-9])?$`)
	anyKind      = lazyregexp.New(`(?m)(?:^|[{,\s])["']?kind["']?[ \t]*:[ \t]*([^,}\]\n]*)`)
	comment      = lazyregexp.New(`(?m)^[ \t]*#.*$`)
	// wholeInclude matches a template action at the start of a line that includes a
	// whole manifest.
	wholeInclude = lazyregexp.New(`(?m)^\{\{-?[ \t]*(include|template|tpl)\b`)
	innerBraces  = lazyregexp.New(`\{[^{}]*\}`)
)

// isName reports whether a text is a valid name of a namespace.
func isName(text string) bool {
	return plainName().MatchString(text) && !strings.ContainsAny(text, ".:")
}

// sketchOf returns the sketch of one document. A field counts only if the text contains its
// literal value. A templated or missing field matches any value.
func sketchOf(text []byte) sketch {
	if !utf8.Valid(text) {
		return sketch{unknown: true}
	}
	doc := comment().ReplaceAllString(strings.ReplaceAll(string(text), "\r\n", "\n"), "")
	if wholeInclude().MatchString(doc) {
		return sketch{unknown: true}
	}
	top := topLevel(doc, "kind")
	if len(top) == 1 && plainKind().MatchString(top[0]) && !strings.HasSuffix(top[0], "List") {
		place, name := placeAndName(doc)
		return sketch{extents: []model.Extent{{Kind: kindIn(topLevel(doc, "apiVersion"), top[0]), Place: place, Name: name}}}
	}
	if found := anyKind().FindAllStringSubmatch(doc, -1); len(found) > 0 {
		return kindsIn(found)
	}
	return kindless(doc)
}

// kindsIn returns the sketch of a text with several kinds, or with kinds below the
// top level: each of them may be the kind of an object.
func kindsIn(found [][]string) sketch {
	var s sketch
	for _, f := range found {
		kind := scalar(f[1])
		if !plainKind().MatchString(kind) {
			return sketch{unknown: true}
		}
		if !strings.HasSuffix(kind, "List") {
			s.add(sketch{extents: []model.Extent{{Kind: kindIn(nil, kind)}}})
		}
		if s.unknown {
			return s
		}
	}
	return sketch{unknown: len(s.extents) == 0, extents: s.extents}
}

// kindless returns the sketch of a text without a kind. A text that has no other
// field of a manifest either declares nothing.
func kindless(doc string) sketch {
	if strings.Contains(doc, "{{") {
		return sketch{unknown: true}
	}
	if place, name := placeAndName(doc); place != "" || name != "" {
		return sketch{extents: []model.Extent{{Place: place, Name: name}}}
	}
	return sketch{unknown: strings.Contains(doc, "apiVersion") || strings.Contains(doc, "metadata")}
}

// kindIn returns the name of a kind, in the group of the only version, or in any
// group if there is not exactly one version.
func kindIn(versions []string, kind string) string {
	if len(versions) == 1 && plainVersion().MatchString(versions[0]) {
		return kube.KindName(versions[0], kind)
	}
	return kube.KindName("", kind) + ".*"
}

// topLevel returns the first two distinct values of a field at the top level of a document in
// block style.
func topLevel(doc, field string) []string {
	var values []string
	for line := range strings.Lines(doc) {
		if rest, ok := cutField(line, field); ok && !slices.Contains(values, scalar(rest)) {
			if values = append(values, scalar(rest)); len(values) == 2 {
				break
			}
		}
	}
	return values
}

// cutField returns the text after the name of a field and its colon, on a line that
// begins with the name.
func cutField(line, field string) (rest string, ok bool) {
	for _, quote := range []string{"", `"`, "'"} {
		if rest, ok = strings.CutPrefix(line, quote+field+quote); !ok {
			continue
		}
		if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":"); ok {
			return rest, true
		}
	}
	return "", false
}

// scalar returns a value without comment, surrounding spaces and quotes.
func scalar(text string) string {
	if i := strings.Index(text, " #"); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimSpace(text)
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		text = text[1 : n-1]
	}
	return text
}

// placeAndName returns the namespace and the name in the metadata of a document; ""
// for a value that is not literal or does not occur exactly once.
func placeAndName(doc string) (place, name string) {
	lines := metadata(doc)
	return once(lines, "namespace"), once(lines, "name")
}

// once returns the value of a field if exactly one line begins with the field and
// the value is a valid name; "" otherwise.
func once(lines []string, field string) string {
	var found []string
	for _, line := range lines {
		if rest, ok := cutField(line, field); ok {
			found = append(found, scalar(rest))
		}
	}
	if len(found) != 1 || !plainName().MatchString(found[0]) {
		return ""
	}
	return found[0]
}

// metadata returns the fields of a document's metadata, one for each line; nil if the
// document has several metadata fields or none.
func metadata(doc string) []string {
	var blocks [][]string
	inside := false
	for line := range strings.Lines(doc) {
		rest, begins := cutField(line, "metadata")
		switch {
		case begins && scalar(rest) != "":
			blocks, inside = append(blocks, flow(scalar(rest))), false
		case begins:
			blocks, inside = append(blocks, nil), true
		case strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "{{"):
		case strings.TrimLeft(line, " \t") == line:
			inside = false
		case inside:
			last := len(blocks) - 1
			blocks[last] = append(blocks[last], line)
		}
	}
	if len(blocks) != 1 {
		return nil
	}
	return outermost(blocks[0])
}

// flow returns the fields of a map in flow style.
func flow(text string) []string {
	inner, opened := strings.CutPrefix(text, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !opened || !closed {
		return nil
	}
	inner = innerBraces().ReplaceAllString(inner, "")
	fields := strings.Split(inner, ",")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}

// outermost returns the lines with the smallest indentation, without it. A tab, which
// YAML forbids, counts as 8 spaces, so that one line with a tab does not hide the
// others.
func outermost(lines []string) []string {
	const tab = "        "
	indent := func(line string) int {
		line = strings.ReplaceAll(line, "\t", tab)
		return len(line) - len(strings.TrimLeft(line, " "))
	}
	var kept []string
	least := -1
	for _, line := range lines {
		switch n := indent(line); {
		case least < 0 || n < least:
			least, kept = n, []string{strings.TrimLeft(line, " \t")}
		case n == least:
			kept = append(kept, strings.TrimLeft(line, " \t"))
		}
	}
	return kept
}

// documents splits a stream at its document markers. Text that follows a marker on
// the same line belongs to the document.
func documents(data []byte) [][]byte {
	var docs [][]byte
	begin := 0
	for offset := 0; offset < len(data); {
		end := len(data)
		if i := bytes.IndexByte(data[offset:], '\n'); i >= 0 {
			end = offset + i + 1
		}
		if bytes.HasPrefix(data[offset:], []byte("---")) {
			docs = append(docs, data[begin:offset])
			begin = offset + len("---")
		}
		offset = end
	}
	return append(docs, data[begin:])
}

// extentOf returns the extent of an object without a name of its own.
func extentOf(object model.Value) model.Extent {
	var e model.Extent
	apiVersion, kind := object.At("apiVersion").Str(), object.At("kind").Str()
	if !kube.Unrendered(apiVersion) && !kube.Unrendered(kind) {
		e.Kind = kube.KindName(apiVersion, kind)
	}
	if place := object.At("metadata", "namespace").Str(); !kube.Unrendered(place) {
		e.Place = place
	}
	return e
}

// incomplete returns the extents that a document without apiVersion or kind may be
// meant to declare; none if it has no other field of a manifest.
func incomplete(object model.Value) []model.Extent {
	metadata := object.At("metadata")
	e := model.Extent{Place: metadata.At("namespace").Str(), Name: metadata.At("name").Str()}
	if kind := object.At("kind").Str(); kind != "" {
		e.Kind = kindIn(nil, kind)
	}
	if e == (model.Extent{}) && object.At("apiVersion").Str() == "" {
		return nil
	}
	return []model.Extent{e}
}

// placesOf returns the namespaces into which unreadable parts put objects.
func placesOf(problems []model.Problem) []string {
	var places []string
	for i := range problems {
		for _, e := range problems[i].Extents {
			if e.Place != "" && !slices.Contains(places, e.Place) {
				places = append(places, e.Place)
			}
		}
	}
	return places
}
