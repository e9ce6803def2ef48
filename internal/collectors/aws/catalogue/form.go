package catalogue

import (
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

func text() table.Form   { return table.Plain() }
func number() table.Form { return table.Number() }
func flag() table.Form   { return table.Boolean() }

// direction is the form of isEgress in the provider's word "type".
func direction() table.Form {
	return table.Form{Read: func(_ *table.Context, v model.Value) model.Value {
		if v.Text() == "true" {
			return model.StringOf("egress")
		}
		return model.StringOf("ingress")
	}}
}

// present is the form of a field of which only the presence is kept.
func present() table.Form {
	return table.Form{Read: func(*table.Context, model.Value) model.Value { return model.BoolOf(true) }}.Volatile()
}

// whether is the form of a policy, read as true if check holds of it. The document itself is
// not kept.
func whether(check func(statements []model.Value) bool) table.Form {
	return table.Form{Read: func(_ *table.Context, v model.Value) model.Value {
		if check(statementsOf(v)) {
			return model.BoolOf(true)
		}
		return model.Value{}
	}, Schema: model.Schema{Extra: model.Extra{Derived: true}, Volatile: true}}
}

// public is the form of a policy of a resource: whether it allows everyone something.
func public() table.Form { return whether(allowsEveryone) }

// anyone is the form of a principal: whether it stands for everyone.
func anyone() table.Form {
	form := whether(nil)
	form.Read = func(_ *table.Context, v model.Value) model.Value {
		if isAnyone(v) {
			return model.BoolOf(true)
		}
		return model.Value{}
	}
	return form
}

// administrator is the form of a policy of an identity: whether it allows everything.
func administrator() table.Form { return whether(allowsEverything) }

// versions is the form of the versions of a managed policy, of which the default one counts.
func versions() table.Form {
	form := administrator()
	read := form.Read
	form.Read = func(c *table.Context, v model.Value) model.Value {
		for _, version := range v.Items() {
			if version.At("IsDefaultVersion").Text() == "true" {
				return read(c, version.At("Document"))
			}
		}
		return model.Value{}
	}
	return form
}

// statementsOf returns the statements of a policy: a document, its text, or its text in the
// encoding of URLs.
func statementsOf(policy model.Value) []model.Value {
	if policy.Kind() == model.String {
		text := policy.Str()
		if strings.HasPrefix(text, "%") {
			if decoded, err := url.PathUnescape(text); err == nil {
				text = decoded
			}
		}
		document, err := decode.JSON([]byte(text))
		if err != nil {
			return nil
		}
		policy = document
	}
	return listOf(policy.At("Statement"))
}

// listOf returns the elements of a list, or a single value as the only element.
func listOf(v model.Value) []model.Value {
	if v.Kind() == model.List || v.IsNull() {
		return v.Items()
	}
	return []model.Value{v}
}

// allowsEveryone reports whether a statement allows something to everyone without a condition.
func allowsEveryone(statements []model.Value) bool {
	return slices.ContainsFunc(statements, func(s model.Value) bool {
		_, others := s.Get("NotPrincipal")
		return s.At("Effect").Str() == "Allow" && s.At("Condition").IsEmpty() && (others || isAnyone(s.At("Principal")))
	})
}

// isAnyone reports whether a principal stands for everyone: "*", or {"AWS": "*"}.
func isAnyone(principal model.Value) bool {
	if principal.Kind() == model.Map {
		principal = principal.At("AWS")
	}
	return hasText(principal, "*")
}

// allowsEverything reports whether a statement allows every action on every resource, or every action of
// IAM, with which one grants oneself the others. An exception makes it no less.
func allowsEverything(statements []model.Value) bool {
	all := []string{"*", "*:*", "iam:*"}
	hasAny := func(v model.Value) bool {
		return slices.ContainsFunc(listOf(v), func(item model.Value) bool { return slices.Contains(all, strings.ToLower(item.Str())) })
	}
	return slices.ContainsFunc(statements, func(s model.Value) bool {
		without, others := s.Get("NotAction")
		_, elsewhere := s.Get("NotResource")
		return s.At("Effect").Str() == "Allow" && (others && !hasAny(without) || hasAny(s.At("Action"))) && (elsewhere || hasText(s.At("Resource"), "*"))
	})
}

// foreign is the form of the policy of a role: whether it lets principals of another account, or users of
// an identity provider, assume the role. The account of the role is that of its ARN.
func foreign() table.Form {
	form := whether(nil)
	form.Read = func(_ *table.Context, role model.Value) model.Value {
		own := accountOf(role.At("Arn").Str())
		if slices.ContainsFunc(statementsOf(role.At("AssumeRolePolicyDocument")), func(s model.Value) bool {
			_, federated := s.At("Principal").Get("Federated")
			return s.At("Effect").Str() == "Allow" && (federated || slices.ContainsFunc(listOf(s.At("Principal", "AWS")), func(p model.Value) bool {
				account := accountOf(p.Str())
				return account != "" && account != own
			}))
		}) {
			return model.BoolOf(true)
		}
		return model.Value{}
	}
	return form
}

// accountOf returns the account of a principal: that of its ARN, or its number alone. It is "" for the ID of
// a deleted one.
func accountOf(principal string) string {
	if parts := strings.SplitN(principal, ":", 6); len(parts) == 6 {
		return parts[4]
	}
	if len(principal) == 12 && strings.Trim(principal, "0123456789") == "" {
		return principal
	}
	return ""
}

func hasText(v model.Value, text string) bool {
	return slices.ContainsFunc(listOf(v), func(item model.Value) bool { return item.Str() == text })
}
