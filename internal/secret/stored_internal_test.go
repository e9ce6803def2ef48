package secret

import "testing"

// TestIsLimit checks that only the limits of a quota are counts: a field elsewhere whose name contains "hard" is none.
func TestIsLimit(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"spec.hard.secrets": true, `spec.hard["count/secrets"]`: true, `status.hard["requests.nvidia.com/gpu"]`: true,
		"metadata.annotations.hardtoken": false, `metadata.annotations["hard.token"]`: false, "spec.hard": false,
	} {
		if last, _ := lastName(path); isLimit(path, last) != want {
			t.Errorf("%s: got %t", path, !want)
		}
	}
}
