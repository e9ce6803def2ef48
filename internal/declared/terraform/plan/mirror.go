package plan

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A mirror is an attribute that a provider does not refresh, and the attribute in which the
// provider returns its live value instead.
type mirror struct{ provider, typ, attribute, live string }

// mirrors returns all mirrors, with the provider's address without its host.
func mirrors() []mirror {
	return []mirror{
		// https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/lambda_function
		{"hashicorp/aws", "aws_lambda_function", "source_code_hash", "code_sha256"},
	}
}

// mirrored returns the sides with live values from the mirroring attributes. It replaces the live
// value of an attribute if the configuration writes and does not ignore the attribute, and if the
// mirroring value changed since it was recorded. The encoding of that value may differ from the
// declared one.
func (r *reader) mirrored(i *Instance, n sides) sides {
	for _, m := range mirrors() {
		before, live := n.r.At(m.live), n.l.At(m.live)
		if i.Type != m.typ || !strings.HasSuffix(i.Provider, "/"+m.provider) || before.IsEmpty() || live.IsEmpty() || before.Equal(live) {
			continue
		}
		s, path := r.settling(i), []string{m.attribute}
		refreshed := !n.l.At(m.attribute).Equal(n.r.At(m.attribute))
		if n.d.Kind() == model.Map && s.writes(path) && !s.ignores(path) && !refreshed {
			n.l = n.l.With(m.attribute, live)
		}
	}
	return n
}
