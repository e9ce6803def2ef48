package report

import (
	"bufio"
	"cmp"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/phrase"
)

// widestCell bounds the width to which the cells of a column are padded, and longestCell that of
// a cell without a terminal: the longest names of Kubernetes are shorter.
const (
	widestCell  = 120
	longestCell = 400
)

// A gridCell is a visible text with the number of its columns on a terminal.
type gridCell struct {
	text    string
	columns int
}

// A grid is the cells of a list.
type grid struct {
	list []column
	// cells are the cells of all rows, stride of each.
	cells  []gridCell
	stride int
	// widths are the widths of the columns with their headers, filled whether a column has a text.
	widths []int
	filled []bool
	// blanks are as many as the widest column has.
	blanks string
}

// newGrid returns the cells of the columns of a list. It computes them on all cores.
func newGrid(list []column, lines []line, clock phrase.Clock) *grid {
	g := &grid{list: list, cells: make([]gridCell, len(lines)*len(list)), stride: len(list), widths: make([]int, len(list)), filled: make([]bool, len(list))}
	for i := range list {
		g.widths[i] = len(list[i].header())
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, part := range partsOf(len(lines)) {
		group.Go(func() {
			widths := make([]int, len(list))
			for n := part.from; n < part.to; n++ {
				for i, c := range list {
					to := &g.cells[n*g.stride+i]
					to.text, to.columns = phrase.VisibleColumns(c.text(lines[n], clock))
					widths[i] = max(widths[i], to.columns)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for i, width := range widths {
				g.widths[i], g.filled[i] = max(g.widths[i], min(width, widestCell)), g.filled[i] || width > 0
			}
		})
	}
	group.Wait()
	return g
}

// dropEmptyLast removes the last column if it is empty.
func (g *grid) dropEmptyLast() {
	if last := len(g.list) - 1; !g.filled[last] {
		g.list, g.widths = g.list[:last], g.widths[:last]
	}
}

// row returns the cells of a row.
func (g *grid) row(n int) []gridCell { return g.cells[n*g.stride : n*g.stride+len(g.list)] }

// rowSize returns the number of bytes of a usual row.
func (g *grid) rowSize() int {
	const marks = 16
	size := marks
	for _, width := range g.widths {
		size += width + len("  ")
	}
	return size
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

// grid writes a header and the rows of a grid; severity returns the style of the severity of a row.
// On a terminal, cells are cut such that no row is wrapped.
func (t *table) grid(g *grid, severity func(row int) style) error {
	g.fit(t.width)
	g.blanks = strings.Repeat(" ", slices.Max(g.widths))
	header := make([]gridCell, len(g.list))
	for i := range g.list {
		text := g.list[i].header()
		header[i] = gridCell{text, len(text)}
	}
	t.gridRow(g, header, plain)
	if err := t.emit(); err != nil {
		return err
	}
	return inParts(t.w, len(g.cells)/g.stride, func(from, to int) ([]byte, error) {
		rows := &table{color: t.color, width: t.width}
		rows.Grow((to - from) * g.rowSize())
		for n := from; n < to; n++ {
			rows.gridRow(g, g.row(n), severity(n))
		}
		return rows.Bytes(), nil
	})
}

// gridRow writes a row; severity is the style of the column of that name.
func (t *table) gridRow(g *grid, row []gridCell, severity style) {
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
		if g.list[i].name == "severity" {
			st = severity
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

// inParts writes rows in their order. It calls text for parts of them, on all cores.
func inParts(w *bufio.Writer, rows int, text func(from, to int) ([]byte, error)) error {
	for some := range slices.Chunk(partsOf(rows), runtime.GOMAXPROCS(0)) {
		texts, errs := make([][]byte, len(some)), make([]error, len(some))
		var group sync.WaitGroup
		for i, p := range some {
			group.Go(func() { texts[i], errs[i] = text(p.from, p.to) })
		}
		group.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		for _, text := range texts {
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}
