package phrase

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A DiffLine is a line of the difference between two texts. Op is '-' for a line of the first text, '+' for
// a line of the second, and ' ' for a line of both. '~' represents Gap omitted lines.
type DiffLine struct {
	Op   byte
	Text string
	Gap  int
	// From is the offset in bytes from which the text differs from its counterpart in the other text.
	From int
}

// Sign returns Op as a string.
func (l DiffLine) Sign() string { return string(l.Op) }

// Lines returns the difference between two texts line by line, without omissions. A nil text has no lines.
func Lines(before, after *model.Value) []DiffLine {
	a, b := split(before), split(after)
	all := make([]DiffLine, 0, len(a)+len(b))
	compare(a, b, func(op byte, s string) { all = append(all, newDiffLine(op, s)) })
	pair(all)
	return all
}

// pair sets From where a run of removed lines is followed by as many added ones.
func pair(all []DiffLine) {
	for i := 0; i < len(all); {
		gone := run(all[i:], '-')
		come := run(all[i+gone:], '+')
		for j := i; gone == come && j < i+gone; j++ {
			from := Shared(all[j].Text, all[j+gone].Text)
			all[j].From, all[j+gone].From = from, from
		}
		i += max(gone+come, 1)
	}
}

// run counts the first lines with this Op.
func run(all []DiffLine, op byte) int {
	n := 0
	for n < len(all) && all[n].Op == op {
		n++
	}
	return n
}

// tally counts the lines that were removed and added.
func tally(all []DiffLine) string {
	gone, come := 0, 0
	for _, l := range all {
		switch l.Op {
		case '-':
			gone++
		case '+':
			come++
		}
	}
	return Count(gone, "line") + " removed, " + Number(come) + " added"
}

func split(v *model.Value) []string {
	if v == nil || v.Str() == "" {
		return nil
	}
	all := strings.SplitAfter(v.Str(), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// newDiffLine returns a line, with a note on a changed line that ends without a line
// break: a line break at the end is content.
func newDiffLine(op byte, s string) DiffLine {
	text, ended := strings.CutSuffix(s, "\n")
	text = Visible(text)
	if !ended && op != ' ' {
		text += " (no newline at the end)"
	}
	return DiffLine{Op: op, Text: text}
}

// longestTable bounds the cells of a comparison. Texts that need more are shown as
// replaced.
const longestTable = 1 << 20

// compare calls add for each element of a ('-'), of b ('+') or of both (' '), in
// order.
func compare(a, b []string, add func(op byte, s string)) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		add(' ', a[head])
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	common := a[len(a)-tail:]
	middle(a[head:len(a)-tail], b[head:len(b)-tail], add)
	for _, s := range common {
		add(' ', s)
	}
}

// middle is compare for what lies between the common beginning and the common end.
func middle(a, b []string, add func(op byte, s string)) {
	var table [][]int32
	small := len(a)*len(b) <= longestTable
	if small {
		table = commonLengths(a, b)
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case small && i < len(a) && j < len(b) && a[i] == b[j]:
			add(' ', a[i])
			i++
			j++
		case i < len(a) && (j == len(b) || !small || table[i+1][j] >= table[i][j+1]):
			add('-', a[i])
			i++
		default:
			add('+', b[j])
			j++
		}
	}
}

// commonLengths returns a table with the length of the longest common subsequence of
// a[i:] and b[j:] at [i][j].
func commonLengths(a, b []string) [][]int32 {
	table := make([][]int32, len(a)+1)
	cellsOf := make([]int32, (len(a)+1)*(len(b)+1))
	for i := range table {
		table[i] = cellsOf[i*(len(b)+1) : (i+1)*(len(b)+1)]
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}

// Shorten returns at most most removed and most added lines, each with one common line before and after it.
// Lines with Op '~' represent the omitted ones.
func Shorten(all []DiffLine, most int) []DiffLine {
	shown := make([]bool, len(all)+2) // by the line's number, from 1
	left := map[byte]int{'-': most, '+': most}
	for i, l := range all {
		shown[i+1] = left[l.Op] > 0
		left[l.Op]--
	}
	out := []DiffLine{}
	for i, l := range all {
		switch last := len(out) - 1; {
		case shown[i+1], l.Op == ' ' && (shown[i] || shown[i+2]):
			out = append(out, l)
		case last >= 0 && out[last].Op == '~':
			out[last].Gap++
		default:
			out = append(out, DiffLine{Op: '~', Gap: 1})
		}
	}
	return out
}
