package terraform

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/model"
)

// TestVarying checks the violations of values that differ between plans.
func TestVarying(t *testing.T) {
	t.Parallel()
	found := varyingOf([]plan.Varying{{Address: "a.b", Path: "tags.at", By: "timestamp()"}, {Address: "a.b", Path: "name", By: "uuid()", List: true},
		{Address: "a.b", Path: "c", By: "uuid()"}, {Address: "a.each", By: "a program"}})
	claims := make([]model.Claim, 2)
	markVarying(claims, &plan.Instance{Action: "replace"}, found["a.b"])
	if len(claims[0].Delegated) != 3 || len(claims[1].Delegated) != 3 || len(claims[0].Violations) != 1 || len(claims[1].Violations) != 0 {
		t.Fatalf("got %+v", claims)
	}
	v := claims[0].Violations[0]
	if v.Verdict != model.Nondeterministic || v.Severity != model.Medium || !strings.HasPrefix(v.Reason, "timestamp(), uuid(): each plan of the same files has another tags.at, name (no element of this list is compared), c: ") {
		t.Errorf("got %+v", v)
	}
	markVarying(claims, &plan.Instance{Action: "update"}, found["a.b"][:1])
	if v := claims[0].Violations[1]; v.Severity != model.Low {
		t.Errorf("got %+v", v)
	}
	delete(found, "a.b")
	if parts := found.violations(); len(parts) != 1 || parts[0].Address != "a.each" || !strings.HasPrefix(parts[0].Reason, "a program: each plan of the same files has another set of instances: ") {
		t.Errorf("got %+v", parts)
	}
}
