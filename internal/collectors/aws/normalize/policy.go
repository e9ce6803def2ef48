package normalize

import (
	"bytes"
	"slices"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// decodePolicy reads the document of a policy.
func decodePolicy(body []byte) (model.Value, error) {
	document, err := decode.JSON(body)
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return model.Value{}, &NotAnswerError{"the answer is empty"}
	case err != nil:
		return model.Value{}, &NotAnswerError{"the answer is no policy in JSON"}
	case document.At("Statement").IsEmpty():
		return model.Value{}, &NotAnswerError{"the answer is no policy: it has no Statement"}
	}
	return model.MapOf(model.Field{Name: "PolicyDocument", Value: document}), nil
}

// letsAllIn tells whether a policy allows something to everybody, whatever the
// circumstances.
func letsAllIn(policy model.Value) bool {
	return slices.ContainsFunc(listed(policy.At("PolicyDocument", "Statement")), func(s model.Value) bool {
		_, others := s.Get("NotPrincipal")
		return s.At("Effect").Str() == "Allow" && s.At("Condition").IsEmpty() && (others || everybody(s.At("Principal")))
	})
}

// everybody tells a principal that anybody is: "*", or {"AWS": "*"}.
func everybody(principal model.Value) bool {
	if principal.Kind() == model.Map {
		principal = principal.At("AWS")
	}
	return slices.ContainsFunc(listed(principal), func(p model.Value) bool { return p.Str() == "*" })
}

// listed returns the elements of a list, or a single one as its only element.
func listed(v model.Value) []model.Value {
	if v.Kind() == model.List || v.IsNull() {
		return v.Items()
	}
	return []model.Value{v}
}
