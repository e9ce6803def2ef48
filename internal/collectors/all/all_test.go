package all

import "testing"

func TestDefinitions(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, d := range Definitions() {
		if d.Type == "" || d.Open == nil || seen[d.Type] {
			t.Errorf("definition %q has no type, no Open function, or the type of another definition", d.Type)
		}
		seen[d.Type] = true
	}
	if len(seen) == 0 {
		t.Error("Definitions() returns no collectors")
	}
}
