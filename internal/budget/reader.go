package budget

import (
	"bytes"
	"context"
	"io"
	"strings"
)

// The maximum memory that parts of a decoded text can take, in bytes. They include what values take in structs,
// and slices that grow by copying.
const (
	// perByte is for each byte, which is in the text that was read and in a string of a value.
	perByte = 2
	// perMap and perList are for each map and list in JSON, perField and perItem for each element after a comma in
	// a map or list.
	perMap   = 512
	perList  = 160
	perField = 128
	perItem  = 288
	// perExponent is for each number with an exponent, which is decoded with all its digits.
	perExponent = 320
	// perQuoted is for each mark of a map, list or element in a string of JSON, which may contain a document that
	// is decoded, too.
	perQuoted = 112
	// perTag is for each tag in XML, perAttribute for each mark of an attribute.
	perTag       = 320
	perAttribute = 192
	// perNode is for each mark of a line, key or element in YAML.
	perNode = 288
)

// Reader returns a reader of the text of r. It counts the memory of the decoded text as Take does, and returns
// an error after the context has ended. Text that begins neither like JSON nor like XML is counted as JSON, XML
// and YAML together, because decoders of XML skip other text before the first tag.
func Reader(ctx context.Context, r io.Reader) io.Reader {
	return &reader{ended: func() error { return context.Cause(ctx) }, part: of(ctx), r: r}
}

type reader struct {
	// ended returns why the context has ended; nil while it has not.
	ended func() error
	part  *part
	r     io.Reader
	scan  scanner
}

// Read reads from r and counts the text before it returns it.
func (r *reader) Read(p []byte) (int, error) {
	if err := r.ended(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	if taken := r.part.take(r.scan.cost(p[:n])); taken != nil {
		return 0, taken
	}
	return n, err
}

// Writer returns a writer to w that counts the memory of the decoded text as Reader does.
func Writer(ctx context.Context, w io.Writer) io.Writer {
	return &writer{part: of(ctx), w: w}
}

type writer struct {
	part *part
	w    io.Writer
	scan scanner
}

// Write counts the text before it writes it to w.
func (w *writer) Write(p []byte) (int, error) {
	if err := w.part.take(w.scan.cost(p)); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// A scanner computes the memory of a decoded text, part by part.
type scanner struct {
	form form
	// quoted reports whether the next byte is in a string of JSON, and escaped whether it follows a backslash
	// there.
	quoted, escaped bool
	// digit reports whether the next byte follows a digit.
	digit bool
	// maps has an element for each map or list that contains the next byte, true for a map, outermost first.
	maps []bool
}

// A form is the format of a text.
type form uint8

const (
	unknown form = iota
	jsonText
	xmlText
	otherText
)

// cost returns the memory of the next part of the text, in bytes.
func (s *scanner) cost(text []byte) int64 {
	cost := int64(len(text)) * perByte
	if s.form == unknown {
		for len(text) > 0 && strings.IndexByte(space, text[0]) >= 0 {
			text = text[1:]
		}
		s.form = formOf(text)
	}
	switch s.form {
	case jsonText:
		cost += s.json(text)
	case xmlText:
		cost += xmlCost(text)
	case otherText:
		cost += s.json(text) + xmlCost(text) + perNode*count(text, "\n-:")
	}
	return cost
}

// xmlCost returns the memory of the tags and attributes in a part of an XML text, in bytes.
func xmlCost(text []byte) int64 {
	return perTag*count(text, "<") + perAttribute*count(text, "=")
}

// count returns how often the bytes of some occur in a text.
func count(text []byte, some string) int64 {
	var n int
	for _, b := range []byte(some) {
		n += bytes.Count(text, []byte{b})
	}
	return int64(n)
}

// space has the bytes that are skipped before the first byte of a text. The last three are a byte order mark.
const space = " \t\r\n\xef\xbb\xbf"

// formOf returns the form of a text by its first byte; unknown if the text is empty.
func formOf(text []byte) form {
	switch {
	case len(text) == 0:
		return unknown
	case text[0] == '{' || text[0] == '[':
		return jsonText
	case text[0] == '<':
		return xmlText
	}
	return otherText
}

// json returns the memory of the maps, lists and elements in a part of a JSON text, in bytes.
func (s *scanner) json(text []byte) int64 {
	var cost int64
	for i := 0; i < len(text); i++ {
		if s.quoted {
			if s.escaped && text[i] == 'u' { // it may stand for a mark
				cost += perQuoted
			}
			n := s.inString(text[i:])
			cost += perQuoted * count(text[i:i+n+1], "{[,")
			i += n
			continue
		}
		afterDigit := s.digit
		s.digit = '0' <= text[i] && text[i] <= '9'
		switch text[i] {
		case 'e', 'E':
			if afterDigit {
				cost += perExponent
			}
		case '"':
			s.quoted = true
		case '{', '[':
			cost += s.open(text[i] == '{')
		case '}', ']':
			s.maps = s.maps[:max(0, len(s.maps)-1)]
		case ',':
			cost += s.next()
		}
	}
	return cost
}

// open enters a map or a list, and returns its memory in bytes.
func (s *scanner) open(isMap bool) int64 {
	if len(s.maps) < maxDepth {
		s.maps = append(s.maps, isMap)
	}
	if isMap {
		return perMap
	}
	return perList
}

// maxDepth bounds the depth that is tracked. Decoders accept less.
const maxDepth = 20_000

// next returns the memory of the element after a comma, in bytes.
func (s *scanner) next() int64 {
	if n := len(s.maps); n > 0 && s.maps[n-1] {
		return perField
	}
	return perItem
}

// inString scans a string up to its end or the next backslash. It returns the index of the last byte that it
// scanned.
func (s *scanner) inString(text []byte) int {
	if s.escaped {
		s.escaped = false
		return 0
	}
	i := bytes.IndexAny(text, `"\`)
	if i < 0 {
		return len(text) - 1
	}
	s.escaped = text[i] == '\\'
	s.quoted = s.escaped
	return i
}
