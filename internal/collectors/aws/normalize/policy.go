package normalize

import (
	"bytes"
	"slices"

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

// allowsPublicAccess reports whether a statement of a policy allows an action to everyone
// without a condition.
func allowsPublicAccess(policy model.Value) bool {
	return slices.ContainsFunc(itemsOf(policy.At("PolicyDocument", "Statement")), func(s model.Value) bool {
		_, others := s.Get("NotPrincipal")
		return s.At("Effect").Str() == "Allow" && s.At("Condition").IsEmpty() && (others || isAnyone(s.At("Principal")))
	})
}

// isAnyone reports whether a principal stands for everyone: "*", or {"AWS": "*"}.
func isAnyone(principal model.Value) bool {
	if principal.Kind() == model.Map {
		principal = principal.At("AWS")
	}
	return slices.ContainsFunc(itemsOf(principal), func(p model.Value) bool { return p.Str() == "*" })
}

// itemsOf returns the items of a list, or a single value as the only item.
func itemsOf(v model.Value) []model.Value {
	if v.Kind() == model.List || v.IsNull() {
		return v.Items()
	}
	return []model.Value{v}
}
