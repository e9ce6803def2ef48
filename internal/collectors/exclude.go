package collectors

import (
	"fmt"
	"path"
	"strings"
)

// Excludes tells whether one of the patterns of exclude_kinds fits a kind. The
// type before the kind's name may be left out of a pattern.
func Excludes(patterns []string, kind string) bool {
	typ, name, _ := strings.Cut(kind, "/")
	for _, pattern := range patterns {
		if ok, _ := path.Match(strings.TrimPrefix(pattern, typ+"/"), name); ok {
			return true
		}
	}
	return false
}

// CheckPatterns tells which of the patterns of exclude_kinds is malformed; example
// says what one looks like ("backup_job or firewall_*").
func CheckPatterns(patterns []string, example string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("setting exclude_kinds: pattern %q is malformed: want a kind such as %s", pattern, example)
		}
	}
	return nil
}
