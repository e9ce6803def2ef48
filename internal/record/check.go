package record

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/lazyregexp"
)

// minSearched is the length from which true texts are searched for in what was written: shorter
// ones occur by chance. Numbers and hexadecimal texts are searched for from minSearchedHex on.
const (
	minSearched    = 6
	minSearchedHex = 12
)

// A leak is a true text in a file.
type leak struct{ file, kind string }

// Error names the file and the kind of the text, and not the text.
func (e *leak) Error() string {
	return fmt.Sprintf("%s would contain one of the true %s: nothing was written; report this as a bug", e.file, e.kind)
}

// A search finds true texts.
type search struct {
	// kinds are the kinds of true texts, and byStart the texts by their first letters.
	kinds   map[string]string
	byStart map[string][]string
	issued  set
}

// newSearch returns a search for everything that was replaced, without what the vocabulary and
// the structure of answers have, too.
func (s *scrubber) newSearch() *search {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &search{kinds: map[string]string{}, byStart: map[string][]string{}, issued: s.issued}
	for text, p := range s.pseudonyms {
		least := minSearched
		if consistsOf(text, hexDigits) {
			least = minSearchedHex
		}
		// A true time may be the shifted one of another.
		if len(text) >= least && p.kind != kindTime {
			f.kinds[text] = p.kind
			f.byStart[text[:minSearched]] = append(f.byStart[text[:minSearched]], text)
		}
	}
	var known strings.Builder
	for _, words := range []set{s.words, s.closed, s.open, s.documents, s.removed, s.messages, s.kept, s.structure} {
		for word := range words {
			known.WriteString(word + "\n")
		}
	}
	for _, texts := range [][]string{s.v.Paths, s.v.Phrases, slices.Collect(maps.Keys(s.v.Headers)), {s.v.Public, "Status Header Body"}} {
		known.WriteString(strings.Join(texts, "\n") + "\n")
	}
	f.each(known.String(), func(text string) bool {
		if f.kinds[text] != kindCredential {
			delete(f.kinds, text)
		}
		return true
	})
	return f
}

// find returns the kind of a true text in a file, whether plain or encoded; "" if there is none.
func (f *search) find(content string) (kind string) {
	found := func(text string) bool {
		kind = f.kinds[text]
		return false
	}
	f.each(content, found)
	if kind == "" {
		f.each(withoutPercents(content), found)
	}
	for _, run := range base64Run().FindAllString(content, -1) {
		run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
		// The encoded text may begin within the run.
		for start := 0; start < 4 && kind == ""; start++ {
			end := len(run)
			if (end-start)%4 == 1 {
				end--
			}
			if plain, err := base64.RawStdEncoding.DecodeString(run[start:end]); err == nil {
				f.each(string(plain), found)
			}
		}
	}
	return kind
}

// each calls found with each true text in a content, until it returns false. A text inside of
// a pseudonym is there by chance.
func (f *search) each(content string, found func(text string) bool) {
	for i := 0; i+minSearched <= len(content); i++ {
		for _, text := range f.byStart[content[i:i+minSearched]] {
			if f.kinds[text] == "" || !strings.HasPrefix(content[i:], text) {
				continue
			}
			whole := around(content, i, i+len(text))
			if f.issued[whole] || f.kinds[text] == kindAddress && whole != text {
				continue
			}
			if !found(text) {
				return
			}
		}
	}
}

// around returns the part of a content without punctuation that a range lies in.
func around(content string, from, to int) string {
	for from > 0 && isPartRune(rune(content[from-1])) {
		from--
	}
	for to < len(content) && isPartRune(rune(content[to])) {
		to++
	}
	return content[from:to]
}

// withoutPercents decodes what is in the encoding of URLs.
func withoutPercents(content string) string {
	return percent().ReplaceAllStringFunc(content, func(code string) string {
		decoded, err := hex.DecodeString(code[1:])
		if err != nil {
			return code
		}
		return string(decoded)
	})
}

var (
	percent   = lazyregexp.New(`%[0-9A-Fa-f]{2}`)
	base64Run = lazyregexp.New(`[A-Za-z0-9+/_-]{12,}`)
)
