package report

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A Line is one line of the difference of two texts. Op is '-' where only the
// first has it, '+' where only the second has it, ' ' where both have it, and
// '~' for a gap of so many lines that are not shown.
type Line struct {
	Op   byte
	Text string
	Gap  int
	// From is where the text starts to differ from the line that came for it,
	// or went for it.
	From int
}

// Sign returns the Line's Op as text.
func (l Line) Sign() string { return string(l.Op) }

// lines returns the difference of two texts, line by line, in full. An absent
// text has no lines.
func lines(before, after *model.Value) []Line {
	a, b := split(before), split(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := make([]Line, 0, len(a)+len(b))
	for _, s := range a[:head] {
		out = append(out, newLine(' ', s))
	}
	out = middle(out, a[head:len(a)-tail], b[head:len(b)-tail])
	for _, s := range a[len(a)-tail:] {
		out = append(out, newLine(' ', s))
	}
	pair(out)
	return out
}

// pair finds the lines that came for as many lines that went before them.
func pair(all []Line) {
	for i := 0; i < len(all); {
		gone := run(all[i:], '-')
		come := run(all[i+gone:], '+')
		for j := i; gone == come && j < i+gone; j++ {
			from := shared(all[j].Text, all[j+gone].Text)
			all[j].From, all[j+gone].From = from, from
		}
		i += max(gone+come, 1)
	}
}

// run counts the lines at the beginning that have such an Op.
func run(all []Line, op byte) int {
	n := 0
	for n < len(all) && all[n].Op == op {
		n++
	}
	return n
}

// tally says how many lines came and went.
func tally(all []Line) string {
	gone, come := 0, 0
	for _, l := range all {
		switch l.Op {
		case '-':
			gone++
		case '+':
			come++
		}
	}
	return count(gone, "line") + " gone, " + thousands(come) + " new"
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

// newLine says of a changed line that ends without a line break that it does:
// a line break at the end is content.
func newLine(op byte, s string) Line {
	text, ended := strings.CutSuffix(s, "\n")
	text = visible(text)
	if !ended && op != ' ' {
		text += " (no newline at the end)"
	}
	return Line{Op: op, Text: text}
}

// longestTable bounds the cells of a comparison of lines; texts that differ in
// more are shown as replaced.
const longestTable = 1 << 20

// middle appends what lies between the common beginning and the common end.
func middle(out []Line, a, b []string) []Line {
	if len(a)*len(b) > longestTable {
		for _, s := range a {
			out = append(out, newLine('-', s))
		}
		for _, s := range b {
			out = append(out, newLine('+', s))
		}
		return out
	}
	common := commonLines(a, b)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, newLine(' ', a[i]))
			i++
			j++
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, newLine('-', a[i]))
			i++
		default:
			out = append(out, newLine('+', b[j]))
			j++
		}
	}
	return out
}

// commonLines holds at [i][j] how many lines a[i:] and b[j:] have in common, in
// order.
func commonLines(a, b []string) [][]int32 {
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

// shorten keeps the lines that came and went, up to most of each, with a line
// of both before and after them; what it leaves out becomes gaps.
func shorten(all []Line, most int) []Line {
	shown := make([]bool, len(all)+2) // by the line's number, from 1
	left := map[byte]int{'-': most, '+': most}
	for i, l := range all {
		shown[i+1] = left[l.Op] > 0
		left[l.Op]--
	}
	out := []Line{}
	for i, l := range all {
		switch last := len(out) - 1; {
		case shown[i+1], l.Op == ' ' && (shown[i] || shown[i+2]):
			out = append(out, l)
		case last >= 0 && out[last].Op == '~':
			out[last].Gap++
		default:
			out = append(out, Line{Op: '~', Gap: 1})
		}
	}
	return out
}
