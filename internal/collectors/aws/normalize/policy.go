package normalize

import (
	"bytes"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// decodePolicy decodes a policy document.
func decodePolicy(body []byte) (model.Value, error) {
	document, err := decode.JSON(body)
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return model.Value{}, &UnexpectedAnswerError{"the answer is empty"}
	case err != nil:
		return model.Value{}, &UnexpectedAnswerError{"the answer is not a policy in JSON"}
	case document.At("Statement").IsEmpty():
		return model.Value{}, &UnexpectedAnswerError{"the answer is not a policy: it has no Statement"}
	}
	return model.MapOf(model.Field{Name: "PolicyDocument", Value: document}), nil
}
