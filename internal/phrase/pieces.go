package phrase

// A Piece is a part of a text. Differs reports whether the other text has a different part, or none, at
// this place.
type Piece struct {
	Text    string
	Differs bool
}

// Pieces splits two visible texts into pieces that are equal and words that differ.
func Pieces(a, b string) (before, after []Piece) {
	p, q := &pieces{}, &pieces{}
	compare(wordsOf(a), wordsOf(b), func(op byte, word string) {
		if op != '+' {
			p.add(op != ' ', word)
		}
		if op != '-' {
			q.add(op != ' ', word)
		}
	})
	return p.all, q.all
}

// pieces joins adjacent pieces of one sort.
type pieces struct{ all []Piece }

func (p *pieces) add(differs bool, word string) {
	if last := len(p.all) - 1; last >= 0 && p.all[last].Differs == differs {
		p.all[last].Text += word
		return
	}
	p.all = append(p.all, Piece{word, differs})
}

// wordsOf splits a text into words and single characters between them.
func wordsOf(s string) []string {
	var words []string
	start, inside := 0, false
	for i, r := range s {
		within := isWordRune(r)
		if i > start && (!within || !inside) {
			words = append(words, s[start:i])
			start = i
		}
		inside = within
	}
	if start < len(s) {
		words = append(words, s[start:])
	}
	return words
}

func isWordRune(r rune) bool {
	return r == '_' || r == '\\' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r > 0x7f
}
