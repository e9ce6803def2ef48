package budget

import (
	"bytes"
	"context"
	"io"
	"strings"
)

// The maximum memory of decoding a text, in bytes. A value takes more if it is decoded into
// a struct, and slices grow by copying.
const (
	// perByte counts the text twice: as it was read, and in the strings of the values.
	perByte = 2
	// perMap and perList are of one in JSON, perField and perItem of what follows a comma
	// in them.
	perMap   = 512
	perList  = 160
	perField = 128
	perItem  = 288
	// perExponent is of a number with an exponent, which is kept with all its digits.
	perExponent = 320
	// perQuoted is of what looks like a map, list or item within a string of JSON: the
	// string may hold a document that is decoded in its turn.
	perQuoted = 112
	// perTag is of one in XML, perAttribute of what may be one of its attributes.
	perTag       = 320
	perAttribute = 192
	// perNode is of what may be a line, key or item in YAML.
	perNode = 288
)

// Reader returns a reader that counts what decoding the text of r takes, as Take does,
// and that fails when the context ends. Text that begins like neither JSON nor XML
// counts as what takes most of both and YAML: decoders of XML skip what stands before.
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

// Read counts before it returns.
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

// Writer returns a writer that counts what decoding the text that is written to w takes,
// as Reader does.
func Writer(ctx context.Context, w io.Writer) io.Writer {
	return &writer{part: of(ctx), w: w}
}

type writer struct {
	part *part
	w    io.Writer
	scan scanner
}

// Write counts before it writes.
func (w *writer) Write(p []byte) (int, error) {
	if err := w.part.take(w.scan.cost(p)); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// A scanner computes the cost of a text, part by part.
type scanner struct {
	form form
	// quoted reports whether the text is within a string of JSON, and escaped whether a
	// backslash stands before what follows.
	quoted, escaped bool
	// digit reports whether a digit stands before what follows.
	digit bool
	// maps has an element for each map and list that the text is within, true for a map.
	maps []bool
}

// A form is that of a text.
type form uint8

const (
	unknown form = iota
	jsonText
	xmlText
	otherText
)

// cost returns what the next part of the text costs.
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

// xmlCost returns what the tags and attributes of a part of an XML text cost.
func xmlCost(text []byte) int64 {
	return perTag*count(text, "<") + perAttribute*count(text, "=")
}

// count returns how often some bytes are in a text.
func count(text []byte, some string) int64 {
	var n int
	for _, b := range []byte(some) {
		n += bytes.Count(text, []byte{b})
	}
	return int64(n)
}

// space is the bytes that may stand before a text; the last three are a byte order mark.
const space = " \t\r\n\xef\xbb\xbf"

// formOf returns the form of a text by its first byte; unknown without one.
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

// json returns what the maps, lists and items of a part of a JSON text cost.
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

// open returns what a map or a list costs that begins.
func (s *scanner) open(isMap bool) int64 {
	if len(s.maps) < maxDepth {
		s.maps = append(s.maps, isMap)
	}
	if isMap {
		return perMap
	}
	return perList
}

// maxDepth is above the depth that decoders accept.
const maxDepth = 20_000

// next returns what the field or item costs that follows a comma.
func (s *scanner) next() int64 {
	if n := len(s.maps); n > 0 && s.maps[n-1] {
		return perField
	}
	return perItem
}

// inString reads on in a string, and returns the index of the last byte that it read.
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
