package yamledit_test

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy/yamledit"
)

// TestInvisibleCharacters checks that what a reader does not see in a file is escaped.
func TestInvisibleCharacters(t *testing.T) {
	t.Parallel()
	was, is := model.StringOf("a"), model.StringOf("a\u202eb\ufeff\U000e0041")
	for _, style := range []string{"v: a\n", "v: 'a'\n", "v: \"a\"\n"} {
		got, err := yamledit.Object([]byte(style), 1, []yamledit.Change{{Path: "v", Was: &was, Value: &is}})
		if want := `v: "a\u202eb\ufeff\U000e0041"` + "\n"; err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v; want %q", style, got, err, want)
		}
	}
}
