// Package policy reads the policy documents of AWS: whether one allows something to everyone, and
// whether one allows everything.
package policy

import (
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// Statements returns the statements of a policy: a document, its text, or its text in the
// encoding of URLs.
func Statements(document model.Value) []model.Value {
	if document.Kind() == model.String {
		text := document.Str()
		if strings.HasPrefix(text, "%") {
			if decoded, err := url.PathUnescape(text); err == nil {
				text = decoded
			}
		}
		decoded, err := decode.JSON([]byte(text))
		if err != nil {
			return nil
		}
		document = decoded
	}
	return List(document.At("Statement"))
}

// List returns the elements of a list, or a single value as the only element.
func List(v model.Value) []model.Value {
	if v.Kind() == model.List || v.IsNull() {
		return v.Items()
	}
	return []model.Value{v}
}

// AllowsEveryone reports whether a statement allows something to everyone without a condition.
func AllowsEveryone(statements []model.Value) bool {
	return slices.ContainsFunc(statements, func(s model.Value) bool {
		_, others := s.Get("NotPrincipal")
		return s.At("Effect").Str() == "Allow" && s.At("Condition").IsEmpty() && (others || IsAnyone(s.At("Principal")))
	})
}

// IsAnyone reports whether a principal stands for everyone: "*", or {"AWS": "*"}.
func IsAnyone(principal model.Value) bool {
	if principal.Kind() == model.Map {
		principal = principal.At("AWS")
	}
	return hasText(principal, "*")
}

// AllowsEverything reports whether a statement allows every action on every resource, or every action of
// IAM, with which one grants oneself the others. NotResource counts as every resource, and NotAction as
// every action unless it excepts those of IAM.
func AllowsEverything(statements []model.Value) bool {
	all := []string{"*", "*:*", "iam:*"}
	hasAny := func(v model.Value) bool {
		return slices.ContainsFunc(List(v), func(item model.Value) bool { return slices.Contains(all, strings.ToLower(item.Str())) })
	}
	return slices.ContainsFunc(statements, func(s model.Value) bool {
		without, others := s.Get("NotAction")
		_, elsewhere := s.Get("NotResource")
		return s.At("Effect").Str() == "Allow" && (others && !hasAny(without) || hasAny(s.At("Action"))) && (elsewhere || hasText(s.At("Resource"), "*"))
	})
}

// hasText reports whether a value, or an element of a list, is the text.
func hasText(v model.Value, text string) bool {
	return slices.ContainsFunc(List(v), func(item model.Value) bool { return item.Str() == text })
}
