package normalize

import (
	"fmt"
	"strconv"
	"strings"
)

// A Version is a release of NetBox, reduced to the parts that select the form of the API.
type Version struct{ Major, Minor int }

// ParseVersion parses a version in a form of NetBox: "4.6.8", "v4.6.0-Docker-3.2", or "4.6" in
// the header API-Version.
func ParseVersion(text string) (Version, bool) {
	major, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "v"), ".")
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(rest[:end])
	return Version{a, b}, ok && errA == nil && errB == nil && a >= 0
}

// Before reports whether v is older than w.
func (v Version) Before(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

// String returns "4.6".
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }
