package chart

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSplit compares Split with the regular expression of Helm, apart from parts that are empty.
// https://github.com/helm/helm/blob/main/pkg/release/v1/util/manifest.go
func TestSplit(t *testing.T) {
	t.Parallel()
	separator := regexp.MustCompile(`(?:^|\s*\n)---\s*`)
	filled := func(parts []string) []string {
		return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"---", "-", "\n", "\r\n", " ", "\t", "a: b", "x"})).Draw(t, "parts"), "")
		got, want := filled(Split(text)), filled(separator.Split(text, -1))
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	})
}
