package catalogue

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/aws/policy"
	"github.com/driftd/driftd/internal/collectors/table"
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
		if check(policy.Statements(v)) {
			return model.BoolOf(true)
		}
		return model.Value{}
	}, Schema: model.Schema{Extra: model.Extra{Derived: true}, Volatile: true}}
}

// public is the form of a policy of a resource: whether it allows everyone something.
func public() table.Form { return whether(policy.AllowsEveryone) }

// anyone is the form of a principal: whether it stands for everyone.
func anyone() table.Form {
	form := whether(nil)
	form.Read = func(_ *table.Context, v model.Value) model.Value {
		if policy.IsAnyone(v) {
			return model.BoolOf(true)
		}
		return model.Value{}
	}
	return form
}

// administrator is the form of a policy of an identity: whether it allows everything.
func administrator() table.Form { return whether(policy.AllowsEverything) }

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

// foreign is the form of the policy of a role: whether it lets principals of another account, or users of
// an identity provider, assume the role. The account of the role is that of its ARN.
func foreign() table.Form {
	form := whether(nil)
	form.Read = func(_ *table.Context, role model.Value) model.Value {
		own := accountOf(role.At("Arn").Str())
		if slices.ContainsFunc(policy.Statements(role.At("AssumeRolePolicyDocument")), func(s model.Value) bool {
			_, federated := s.At("Principal").Get("Federated")
			return s.At("Effect").Str() == "Allow" && (federated || slices.ContainsFunc(policy.List(s.At("Principal", "AWS")), func(p model.Value) bool {
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
