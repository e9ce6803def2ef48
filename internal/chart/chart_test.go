package chart_test

import (
	"testing"

	"github.com/driftd/driftd/internal/chart"
)

// TestFind finds versions as Helm does: first the same text.
func TestFind(t *testing.T) {
	t.Parallel()
	index := chart.Index{Charts: map[string][]chart.Entry{"blog": {{Version: "v1.0.0", Digest: "a"}, {Version: "1.0.0", Digest: "b"}, {Version: "v2.0.0", Digest: "c"}}}}
	for version, want := range map[string]string{"v1.0.0": "a", "1.0.0": "b", "2.0.0": "c", "3.0.0": ""} {
		if got, ok := index.Find("blog", version); got.Digest != want || ok != (want != "") {
			t.Errorf("%s: %q, %t", version, got.Digest, ok)
		}
	}
	if _, ok := index.Find("other", "1.0.0"); ok {
		t.Error("another chart is found")
	}
}
