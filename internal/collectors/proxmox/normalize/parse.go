package normalize

import (
	"math"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Size returns the bytes that a size stands for ("32G", "528K", "1.5T",
// "1048576"), the units being powers of 1024; ok is false when text is none.
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

// maxParts bounds what it costs to see whether a name comes twice; real
// property strings have some dozens of parts.
const maxParts = 1000

// Properties parses a property string ("virtio=…,bridge=vmbr0,firewall=1")
// into its parts, in their order and with their values as text. A part without
// a name gets the default one. ok is false when there is none, when a name comes
// twice, and beyond a thousand parts.
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

// at returns the position of the named part, or -1.
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

// isMAC tells a MAC address with colons.
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
