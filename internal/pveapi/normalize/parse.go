package normalize

import (
	"math"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Size parses a size ("32G", "528K", "1.5T", "1048576") and returns the number of bytes. The
// units are powers of 1024. ok is false if text is not a size.
func Size(text string) (bytes int64, ok bool) {
	digits := strings.TrimRight(text, "KMGT")
	unit := text[len(digits):]
	if digits == "" || len(unit) > 1 || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	shift := 10 * (1 + strings.Index("KMGT", unit))
	if unit == "" {
		shift = 0
	}
	if whole, err := strconv.ParseInt(digits, 10, 64); err == nil && whole <= math.MaxInt64>>shift {
		return whole << shift, true
	}
	n, err := strconv.ParseFloat(digits, 64)
	n *= float64(int64(1) << shift)
	return int64(n), err == nil && n < math.MaxInt64
}

// maxParts is the largest number of parts of a property string. It limits the cost of finding
// duplicate names; real property strings have a few dozen parts.
const maxParts = 1000

// Properties parses a property string ("virtio=…,bridge=vmbr0,firewall=1") and returns its
// parts in order, with their values as text. A part without a name gets the default name. ok
// is false if the default name is needed and empty, if a name occurs twice, or if there are
// more than maxParts parts.
func Properties(text, defaultName string) (parts []model.Field, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, value, named := strings.Cut(part, "=")
		if !named {
			name, value = defaultName, part
		}
		if name == "" || has(parts, name) || len(parts) == maxParts {
			return nil, false
		}
		parts = append(parts, model.Field{Name: name, Value: model.StringOf(value)})
	}
	return parts, true
}

func has(parts []model.Field, name string) bool { return at(parts, name) >= 0 }

// at returns the index of the named part, or -1.
func at(parts []model.Field, name string) int {
	for i := range parts {
		if parts[i].Name == name {
			return i
		}
	}
	return -1
}

// textOf returns the text of the named part, or "".
func textOf(parts []model.Field, name string) string {
	if i := at(parts, name); i >= 0 {
		return parts[i].Value.Text()
	}
	return ""
}

func textPart(name, value string) model.Field {
	return model.Field{Name: name, Value: model.StringOf(value)}
}

// isMAC reports whether s is a MAC address with colons.
func isMAC(s string) bool {
	if len(s) != len("00:00:00:00:00:00") {
		return false
	}
	for i := range len(s) {
		if i%3 == 2 {
			if s[i] != ':' {
				return false
			}
		} else if !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
