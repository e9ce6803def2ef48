package report

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// widestCell bounds the width to which the cells of a column are padded, and longestCell that of
// a cell without a terminal: the longest names of Kubernetes are shorter.
const (
	widestCell  = 120
	longestCell = 400
	// mostKept bounds the bytes of a cell in memory. It is more than any terminal shows.
	mostKept = 16 << 10
)

// A gridCell is a visible text with the number of its columns on a terminal.
type gridCell struct {
	text    string
	columns int
}

// A grid is the cells of a list.
type grid struct {
	list []column
	// parts are the cells of all rows, in the order of partsOf.
	parts []gridPart
	// counts are the numbers of all rows by severity and by verdict.
	counts tally
	// widths are the widths of the columns with their headers, filled whether a column has a text.
	widths []int
	filled []bool
	// blanks are as many as the widest column has.
	blanks string
}

// A gridPart is the cells of partSize rows, or less in the last part. They are in one text, because rows are
// written in another order than that of their findings in memory.
type gridPart struct {
	text string
	// ends has for each cell the end of its text and the number of its columns, and stride cells for each row.
	ends   []struct{ text, columns int32 }
	stride int
	counts tally
}

// newGrid returns the cells of the columns of a list. It computes them on all cores.
func newGrid(list []column, lines []line, clock phrase.Clock) *grid {
	parts := partsOf(len(lines))
	g := &grid{list: list, parts: make([]gridPart, len(parts)), widths: make([]int, len(list)), filled: make([]bool, len(list))}
	for i := range list {
		g.widths[i] = len(list[i].header())
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	for p, part := range parts {
		group.Go(func() {
			widths := make([]int, len(list))
			g.parts[p] = newGridPart(list, lines[part.from:part.to], clock, widths)
			mu.Lock()
			defer mu.Unlock()
			g.counts.addAll(&g.parts[p].counts)
			for i, width := range widths {
				g.widths[i], g.filled[i] = max(g.widths[i], min(width, widestCell)), g.filled[i] || width > 0
			}
		})
	}
	group.Wait()
	return g
}

// newGridPart returns the cells of some lines, and raises the widths of the columns to theirs.
func newGridPart(list []column, lines []line, clock phrase.Clock, widths []int) gridPart {
	const usual = 96
	p := gridPart{ends: make([]struct{ text, columns int32 }, 0, len(lines)*len(list)), stride: len(list)}
	var b strings.Builder
	b.Grow(len(lines) * usual)
	for _, l := range lines {
		p.counts.add(l.Severity, l.Verdict)
		for i := range list {
			text, columns := phrase.VisibleColumns(list[i].text(l, clock))
			if len(text) > mostKept {
				text = phrase.ClipMiddle(text, mostKept/utf8.UTFMax)
				columns = phrase.Columns(text)
			}
			b.WriteString(text)
			p.ends = append(p.ends, struct{ text, columns int32 }{int32(b.Len()), int32(columns)})
			widths[i] = max(widths[i], columns)
		}
	}
	p.text = b.String()
	return p
}

// dropEmptyLast removes the last column if it is empty.
func (g *grid) dropEmptyLast() {
	if last := len(g.list) - 1; !g.filled[last] {
		g.list, g.widths = g.list[:last], g.widths[:last]
	}
}

// row reads the first cells of a row.
func (g *grid) row(at int32, cells []gridCell) {
	p := &g.parts[at/partSize]
	first, start := int(at%partSize)*p.stride, int32(0)
	if first > 0 {
		start = p.ends[first-1].text
	}
	for i := range cells {
		end := p.ends[first+i]
		cells[i] = gridCell{p.text[start:end.text], int(end.columns)}
		start = end.text
	}
}

// fit makes columns narrower, such that a row fits the width. Of the columns that may be cut, the
// widest in relation to its share is cut first. If that is not enough, the last columns are cut.
func (g *grid) fit(width int) {
	total := 2 * (len(g.list) - 1)
	var flexible []int
	for i := range g.list {
		total += g.widths[i]
		if g.list[i].share > 0 {
			flexible = append(flexible, i)
		}
	}
	if width == 0 || total <= width {
		return
	}
	const least = 6
	excess := shrink(g.widths, flexible, total-width, least, func(i int) int { return g.list[i].share })
	for i := len(g.widths) - 1; i >= 0 && excess > 0; i-- {
		cut := min(excess, g.widths[i]-1)
		g.widths[i], excess = g.widths[i]-cut, excess-cut
	}
}

// shrink takes excess from the widths of columns, a part at a time from the widest in relation
// to its share, and returns the excess that is left when all have the least width.
func shrink(widths, columns []int, excess, least int, share func(int) int) int {
	wide := slices.DeleteFunc(slices.Clone(columns), func(i int) bool { return widths[i] <= least })
	for ; excess > 0 && len(wide) > 0; excess-- {
		widest := slices.MaxFunc(wide, func(a, b int) int { return cmp.Compare(widths[a]*share(b), widths[b]*share(a)) })
		if widths[widest]--; widths[widest] == least {
			wide = slices.DeleteFunc(wide, func(i int) bool { return i == widest })
		}
	}
	return max(excess, 0)
}

// grid writes a header and the rows of a grid, in an order. On a terminal, cells are cut such that no row is wrapped.
func (t *table) grid(g *grid, order []int32) error {
	g.fit(t.width)
	g.blanks = strings.Repeat(" ", slices.Max(g.widths))
	header := make([]gridCell, len(g.list))
	for i := range g.list {
		text := g.list[i].header()
		header[i] = gridCell{text, len(text)}
	}
	t.gridRow(g, header, func(string) style { return plain })
	if err := t.emit(); err != nil {
		return err
	}
	parts := partsOf(len(order))
	return inParts(t.w, len(parts), func(n int, b *bytes.Buffer) error {
		row, rows := make([]gridCell, len(g.list)), &table{Buffer: b, color: t.color, width: t.width}
		for _, at := range order[parts[n].from:parts[n].to] {
			g.row(at, row)
			rows.gridRow(g, row, func(text string) style { return severityStyle(model.Severity(text)) })
		}
		return nil
	})
}

// gridRow writes a row; severity returns the style of a cell of the column of that name.
func (t *table) gridRow(g *grid, row []gridCell, severity func(string) style) {
	last := len(row) - 1
	for last > 0 && row[last].text == "" {
		last--
	}
	for i, c := range row[:last+1] {
		text, columns := c.text, c.columns
		if cut := t.cut(&g.list[i], text, g.widths[i]); cut != text {
			text, columns = cut, phrase.Columns(cut)
		}
		st := plain
		if t.color && g.list[i].name == "severity" {
			st = severity(c.text)
		}
		if i == last {
			t.line(t.paint(st, text))
			return
		}
		blanks := g.blanks[:max(0, g.widths[i]-columns)]
		if st != plain {
			text, blanks = t.paint(st, text+blanks), ""
		}
		t.WriteString(text)
		t.WriteString(blanks)
		t.WriteString("  ")
	}
}

// cut returns a cell cut to the width of its column on a terminal.
func (t *table) cut(c *column, text string, width int) string {
	switch {
	case t.width == 0:
		return phrase.Clip(text, longestCell)
	case c.end:
		return phrase.ClipMiddle(text, width)
	}
	return phrase.Clip(text, width)
}

// A rowRange is a range of the rows of a list.
type rowRange struct{ from, to int }

// partSize is the number of rows that one goroutine writes at a time.
const partSize = 1024

func partsOf(rows int) []rowRange {
	var parts []rowRange
	for from := 0; from < rows; from += partSize {
		parts = append(parts, rowRange{from, min(from+partSize, rows)})
	}
	return parts
}

// inParts writes the texts of parts in their order. It calls text for each, on all cores, which appends the text
// to an empty buffer.
func inParts(w *bufio.Writer, parts int, text func(n int, b *bytes.Buffer) error) error {
	workers := runtime.GOMAXPROCS(0)
	buffers, errs := make([]bytes.Buffer, workers), make([]error, workers)
	for from := 0; from < parts; from += workers {
		var group sync.WaitGroup
		for i := range min(workers, parts-from) {
			group.Go(func() { errs[i] = text(from+i, &buffers[i]) })
		}
		group.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		for i := range buffers {
			if _, err := buffers[i].WriteTo(w); err != nil {
				return err
			}
		}
	}
	return nil
}
