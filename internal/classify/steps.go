package classify

import (
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A step of a path leads to a field by name, or to an element of a list.
type step struct {
	name    string
	element bool
	// index is the position of the element in the live list: anywhere or nowhere, if
	// it is not known or the element is not live.
	index int
}

const (
	anywhere = -1
	nowhere  = -2
)

// parseSteps parses a path in the form of package diff. live reports whether positions in the path
// are those of the live lists.
func parseSteps(path string, live bool) []step {
	var steps []step
	for path != "" {
		bracket, rest := model.CutBracket(path)
		switch {
		case bracket == "":
			s := step{}
			s.name, path = model.CutName(path)
			steps = append(steps, s)
			continue
		case strings.HasPrefix(bracket, `["`):
			s := step{}
			s.name, _ = model.CutName(bracket)
			steps = append(steps, s)
		default:
			steps = append(steps, element(bracket, live))
		}
		path = strings.TrimPrefix(rest, ".")
	}
	return steps
}

// element returns the step to the element of a list that a bracket names. A live path
// has a negative position for an element that is not live.
func element(bracket string, live bool) step {
	index, err := strconv.Atoi(strings.Trim(bracket, "[]"))
	switch {
	case live && strings.HasPrefix(bracket, "[-"):
		index = nowhere
	case err != nil || !live:
		index = anywhere
	}
	return step{element: true, index: index}
}
