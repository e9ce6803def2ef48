package record

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/lazyregexp"
)

// body returns a body with its structure, and with other texts. It returns false for one that is
// neither XML nor JSON, and for an HTML page.
func (s *scrubber) body(body []byte) (string, bool) {
	switch trimmed := bytes.TrimSpace(body); {
	case len(trimmed) == 0:
		return "", true
	case trimmed[0] == '<':
		text, err := s.xml(trimmed)
		return text, err == nil
	default:
		return s.json("", string(trimmed))
	}
}

// value returns the replacement of a text with a key, inside of one with the key parent.
func (s *scrubber) value(parent, key, text string) string {
	switch {
	case s.messages[key]:
		return s.phrase(text)
	case s.documents[key]:
		if document, ok := s.document(key, text); ok {
			return document
		}
	case s.v.Checked[key] != nil && s.v.Checked[key].MatchString(text):
		s.exempt(text)
		return text
	case (s.words[key] || s.words[parent+"."+key]) && s.isWord(text):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.kept[text] = true
		return text
	}
	if at, ok := s.epoch(key, text); ok {
		return at
	}
	return s.text(text)
}

// phrase returns what is kept of a message.
func (s *scrubber) phrase(text string) string {
	for _, phrase := range s.v.Phrases {
		if strings.Contains(text, phrase) {
			return phrase
		}
	}
	return ""
}

// isWord reports whether a text has the form of a word of an API or of a number. Long texts with
// letters and digits are tokens, and long numbers those of accounts. An action is one of a public
// service: policies may have others.
func (s *scrubber) isWord(text string) bool {
	service, _, isAction := strings.Cut(text, ":")
	return word().MatchString(text) && !longNumber().MatchString(text) && (!isAction || s.public[service])
}

// document returns a JSON document in a text, which may be in the encoding of URLs.
func (s *scrubber) document(key, text string) (string, bool) {
	if strings.HasPrefix(text, "%") {
		plain, err := url.PathUnescape(text)
		if err != nil {
			return "", false
		}
		document, ok := s.json(key, plain)
		return url.PathEscape(document), ok
	}
	return s.json(key, text)
}

// json returns a JSON document: an object or a list.
func (s *scrubber) json(key, text string) (string, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return "", false
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return "", false
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return "", false
	}
	m := ofAPI
	if s.documents[key] {
		m = ofDocument
	}
	encoded, err := json.Marshal(s.member("", key, v, m))
	return string(encoded), err == nil
}

// A mode is how the keys of JSON objects are treated.
type mode uint8

const (
	// ofAPI: the API has the keys.
	ofAPI mode = iota
	// ofDocument: keys are kept if the vocabulary has them.
	ofDocument
	// ofUser: users choose the keys.
	ofUser
)

// member returns the replacement of a value with a key, inside of one with the key parent.
func (s *scrubber) member(parent, key string, v any, m mode) any {
	switch v := v.(type) {
	case map[string]any:
		if s.open[key] {
			m = ofUser
		}
		return s.object(key, v, m)
	case []any:
		all := make([]any, len(v))
		for i := range v {
			// Objects in a list have the keys of the API: a list of keys and values, for example.
			if object, ok := v[i].(map[string]any); ok {
				all[i] = s.object(key, object, m)
				continue
			}
			all[i] = s.member(parent, key, v[i], m)
		}
		return all
	case string:
		if s.isOfUser(key, m) {
			return s.text(v)
		}
		return s.value(parent, key, v)
	case json.Number:
		return s.number(key, v, s.isOfUser(key, m))
	}
	return v // true, false and null
}

// isMember reports whether a name has the form of a member of an API.
func isMember(name string) bool { return len(name) <= 64 && member().MatchString(name) }

// isOfUser reports whether a key is one that users choose.
func (s *scrubber) isOfUser(key string, m mode) bool {
	return m == ofUser || m == ofDocument && !s.closed[key]
}

func (s *scrubber) object(key string, v map[string]any, m mode) map[string]any {
	if _, ok := v[s.first]; ok && m == ofAPI {
		m = ofDocument
	}
	// An object of the API has names of members only. With another name in it, it is a map.
	if m == ofAPI && slices.ContainsFunc(slices.Collect(maps.Keys(v)), func(name string) bool { return !isMember(name) }) {
		m = ofUser
	}
	all := make(map[string]any, len(v))
	for name, value := range v {
		switch shown := s.name(name, m); {
		case m != ofUser && s.removed[name]:
			s.count(kindRemoved)
			all[shown] = nil
		default:
			all[shown] = s.member(key, name, value, m)
		}
	}
	return all
}

// name returns the name of a member of a JSON object.
func (s *scrubber) name(name string, m mode) string {
	if s.isOfUser(name, m) || !isMember(name) {
		return s.text(name)
	}
	s.exempt(name)
	return name
}

// xml returns an XML document without comments, and without attributes other than namespaces of
// the API.
func (s *scrubber) xml(body []byte) (string, error) {
	x := &xmlScrubber{scrubber: s, decoder: xml.NewDecoder(bytes.NewReader(body))}
	for root := ""; ; {
		token, err := x.decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && root != "":
			return x.written.String(), nil
		case err != nil:
			return "", err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if root != "" || strings.EqualFold(start.Name.Local, "html") {
			return "", errors.New("not a document of an API")
		}
		root = start.Name.Local
		if err := x.element(start, place{}, 1); err != nil {
			return "", err
		}
	}
}

type xmlScrubber struct {
	*scrubber

	decoder *xml.Decoder
	written bytes.Buffer
}

// A place is where an element stands.
type place struct {
	// key is that of the element around, and parent that of the one around this.
	key, parent string
	// chosen is the key that the child "key" of an entry has chosen; nil outside of entries.
	chosen *string
}

// element writes an element whose start was read.
func (x *xmlScrubber) element(start xml.StartElement, at place, depth int) error {
	if depth > decode.MaxDepth {
		return errors.New("nested too deeply")
	}
	name := x.name(start.Name.Local, ofAPI)
	x.written.WriteString("<" + name)
	for _, attribute := range start.Attr {
		if attribute.Name.Space == "" && attribute.Name.Local == "xmlns" && x.v.Keep.MatchString(attribute.Value) {
			x.written.WriteString(` xmlns="` + attribute.Value + `"`)
		}
	}
	x.written.WriteString(">")
	err := x.content(start.Name.Local, at, depth)
	x.written.WriteString("</" + name + ">")
	return err
}

// content writes the content of an element, and reads its end.
func (x *xmlScrubber) content(name string, at place, depth int) error {
	if x.removed[name] {
		x.count(kindRemoved)
		return x.decoder.Skip()
	}
	inside := place{key: name, parent: at.key}
	if x.lists[name] {
		inside.key, inside.parent = at.key, at.parent
	}
	if at.key+"."+name == x.v.Entry {
		inside.chosen = new(string)
	}
	var text strings.Builder
	leaf := true
	for {
		token, err := x.decoder.Token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			leaf = false
			if err := x.element(token, inside, depth+1); err != nil {
				return err
			}
		case xml.CharData:
			text.Write(token)
		case xml.EndElement:
			if leaf {
				return xml.EscapeText(&x.written, []byte(x.leaf(name, at, inside, text.String())))
			}
			return nil
		}
	}
}

// leaf returns the text of an element without children.
func (x *xmlScrubber) leaf(name string, at, inside place, text string) string {
	switch {
	case at.chosen != nil && name == "key":
		*at.chosen = text
		return x.name(text, ofAPI)
	case at.chosen != nil && name == "value":
		return x.value(at.key, *at.chosen, text)
	}
	return x.value(inside.parent, inside.key, text)
}

var (
	word       = lazyregexp.New(`^(?:[A-Za-z0-9$*?.:_#+-]{1,20}|[A-Za-z*?.:_#-]{1,80})$`)
	longNumber = lazyregexp.New(`[0-9]{11}`)
	member     = lazyregexp.New(`^_{0,2}(?:[A-Za-z]+[0-9]{0,3})+$`)
)
