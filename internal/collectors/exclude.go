package collectors

import (
	"fmt"
	"path"
	"strings"
)

// Excludes reports whether one of the patterns of the setting exclude_kinds matches the kind. A
// pattern may omit the type before the name of the kind.
func Excludes(patterns []string, kind string) bool {
	typ, name, _ := strings.Cut(kind, "/")
	for _, pattern := range patterns {
		if ok, _ := path.Match(strings.TrimPrefix(pattern, typ+"/"), name); ok {
			return true
		}
	}
	return false
}

// CheckPatterns returns an error that names the first malformed pattern of the setting
// exclude_kinds, or nil. The error contains example as a valid pattern, such as "backup_job or
// firewall_*".
func CheckPatterns(patterns []string, example string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("setting exclude_kinds: pattern %q is malformed: want a kind such as %s", pattern, example)
		}
	}
	return nil
}
