package literals_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/remedy/literals"
)

func TestLiterals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ yaml, hcl string }{
		"plain it's":              {`"plain it's"`, `"plain it's"`},
		"a\"b\\c\nd\te":           {`"a\"b\\c\nd\te"`, `"a\"b\\c\nd\te"`},
		"a\u202eb\ufeffc\u2028":   {`"a\u202eb\ufeffc\u2028"`, `"a\u202eb\ufeffc\u2028"`},
		"tag \U000e0041 ä 😀 \x7f": {`"tag \U000e0041 ä 😀 \u007f"`, `"tag \U000e0041 ä 😀 \u007f"`},
		"${var.x} %{if} $${":      {`"${var.x} %{if} $${"`, `"$${var.x} %%{if} $$${"`},
	} {
		if got := literals.YAML(model.StringOf(text)); got != want.yaml {
			t.Errorf("YAML of %q: %s, want %s", text, got, want.yaml)
		}
		if got := literals.HCL(text); got != want.hcl {
			t.Errorf("HCL of %q: %s, want %s", text, got, want.hcl)
		}
	}
	if got := literals.HCL("\xff"); got != "" {
		t.Errorf("text that is not UTF-8: %s", got)
	}
}

// TestLiteralIsRead checks that a literal is read as the text, and that all of it is visible.
func TestLiteralIsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"$", "%", "{", "${", "$${", "%{", "\u202e", "\ufeff", "\n", "'", "\"", "\\"})))
		text := strings.ReplaceAll(strings.Join(parts.Draw(t, "text"), ""), "\x00", "")
		var read string
		if err := yaml.Unmarshal([]byte("v: "+literals.YAML(model.StringOf(text))), &struct{ V *string }{&read}); err != nil || read != text {
			t.Fatalf("YAML %s: read as %q, %v", literals.YAML(model.StringOf(text)), read, err)
		}
		e, diags := hclsyntax.ParseExpression([]byte(literals.HCL(text)), "x", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatalf("HCL %s: %v", literals.HCL(text), diags)
		}
		if v, diags := e.Value(nil); diags.HasErrors() || !v.RawEquals(cty.StringVal(text)) {
			t.Fatalf("HCL %s: read as %v, %v", literals.HCL(text), v, diags)
		}
		for _, r := range literals.YAML(model.StringOf(text)) + literals.HCL(text) {
			if !phrase.Prints(r) {
				t.Fatalf("%q has %U", text, r)
			}
		}
	})
}
