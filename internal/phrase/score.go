package phrase

import (
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

// Scored returns the part of the resources that have a property of a scorecard: "95%, 38 of 40".
func Scored(p model.Scored) string {
	switch {
	case p.Of == 0:
		return "unknown"
	case p.Unknown == p.Of:
		return "not checked"
	}
	text := fmt.Sprintf("%d%%, %s of %s", Percent(p), Number(p.Good), Number(p.Of))
	if p.Unknown > 0 {
		text += ", " + Number(p.Unknown) + " not checked"
	}
	return text
}

// Percent returns the percentage of the resources that have a property, rounded down, so that 100 means
// all. There must be at least one resource.
func Percent(p model.Scored) int { return 100 * p.Good / p.Of }
