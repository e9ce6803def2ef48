package report

import "github.com/driftd/driftd/internal/model"

// A style is a way to write on a terminal: the parameters of SGR, the
// "select graphic rendition" control of ECMA-48. The sixteen colors are the
// terminal's own, so they have contrast on its background.
type style string

const (
	plain    style = ""
	bold     style = "1"
	dim      style = "2"
	red      style = "31"
	green    style = "32"
	yellow   style = "1;33"
	cyan     style = "36"
	boldRed  style = "1;31"
	reversed style = "1;7;31"
)

func severityStyle(s model.Severity) style {
	switch s {
	case model.Critical:
		return reversed
	case model.High:
		return boldRed
	case model.Medium:
		return yellow
	case model.Low:
		return cyan
	}
	return dim
}

func (t *table) paint(st style, text string) string {
	if !t.color || st == plain || text == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}
