package mapping

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// Document parses a text that contains a JSON object or array, and normalizes it, so that
// equivalent texts have equal results. It normalizes the spellings of AWS policies. If the text is
// not such a document, ok is false.
func Document(text string) (meaning model.Value, ok bool) {
	if start := strings.TrimLeft(text, " \t\r\n"); start == "" || start[0] != '{' && start[0] != '[' {
		return model.Value{}, false
	}
	v, err := decode.JSON([]byte(text))
	if err != nil {
		return model.Value{}, false
	}
	if isPolicy(v) {
		v = policy(v)
	}
	return v, true
}

// isPolicy reports whether every statement of a document allows or denies something.
func isPolicy(document model.Value) bool {
	statements := eachOf(document.At("Statement"))
	return len(statements) > 0 && !slices.ContainsFunc(statements, func(s model.Value) bool {
		effect := s.At("Effect").Str()
		return effect != "Allow" && effect != "Deny"
	})
}
