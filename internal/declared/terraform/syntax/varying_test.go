package syntax_test

import (
	"testing"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

func TestPurityOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]syntax.Purity{
		"timestamp": syntax.ImpureInApply, "core::uuid": syntax.ImpureInApply, "bcrypt": syntax.ImpureInApply,
		"plantimestamp": syntax.ImpureInPlan, "core::plantimestamp": syntax.ImpureInPlan,
		"uuidv5": syntax.Pure, "provider::time::timestamp": syntax.Pure,
	} {
		if got := syntax.PurityOf(name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
}

func TestImplicitDependencyOf(t *testing.T) {
	t.Parallel()
	for _, typ := range []string{"terraform_remote_state", "tfe_outputs", "external", "http", "aws_ami", "openstack_images_image_v2"} {
		d, ok := syntax.ImplicitDependencyOf(typ)
		if selects := typ == "aws_ami" || typ == "openstack_images_image_v2"; !ok || d.Reads == "" || len(d.Returned) == 0 || d.IfMostRecent != selects {
			t.Errorf("%s: got %+v, %v", typ, d, ok)
		}
	}
	if d, ok := syntax.ImplicitDependencyOf("aws_vpc"); ok {
		t.Errorf("got %+v for a data source that reads what its provider has", d)
	}
}
