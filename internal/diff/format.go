package diff

import (
	"errors"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

var errSpelling = errors.New("no such spelling")

// quantitySuffix returns the multiplier of a suffix of a Kubernetes quantity (k8s.io/apimachinery,
// resource.Quantity) as a power of ten or two. If the suffix is unknown, ok is false.
func quantitySuffix(suffix string) (base, exponent int64, ok bool) {
	const decimal, binary = "numkMGTPE", "KMGTPE"
	if suffix == "" {
		return 10, 0, true
	}
	if name, isBinary := strings.CutSuffix(suffix, "i"); isBinary && len(name) == 1 {
		i := strings.Index(binary, name)
		return 2, int64(10 * (i + 1)), i >= 0
	}
	if len(suffix) != 1 {
		return 0, 0, false
	}
	i := int64(strings.Index(decimal, suffix))
	switch {
	case i < 0:
		return 0, 0, false
	case i < 3:
		return 10, 3*i - 9, true
	}
	return 10, 3 * (i - 2), true
}

// parseQuantity parses a Kubernetes quantity: a number with a decimal exponent or a suffix.
func parseQuantity(s string) (*big.Rat, error) {
	end := strings.LastIndexAny(s, "0123456789.") + 1
	number, suffix := s[:end], s[end:]
	literal, ok := model.NumberOf(strings.TrimPrefix(trimPoint(number), "+"))
	base, exponent, known := quantitySuffix(suffix)
	if !ok || !known {
		return nil, errSpelling
	}
	rat, ok := new(big.Rat).SetString(literal.Text())
	if !ok {
		return nil, errSpelling
	}
	factor := new(big.Int).Exp(big.NewInt(base), big.NewInt(max(exponent, -exponent)), nil)
	if exponent < 0 {
		return rat.Quo(rat, new(big.Rat).SetInt(factor)), nil
	}
	return rat.Mul(rat, new(big.Rat).SetInt(factor)), nil
}

// milli parses a quantity that is an integer with or without a suffix, in thousandths. It returns
// false for other spellings, and for values that are too large. It is much faster than
// parseQuantity: most quantities are integers, and many are declared in another spelling than that
// of the live object.
func milli(s string) (thousandths int64, ok bool) {
	end := strings.LastIndexAny(s, "0123456789") + 1
	n, err := strconv.ParseInt(s[:end], 10, 64)
	base, exponent, known := quantitySuffix(s[end:])
	if err != nil || !known || strconv.FormatInt(n, 10) != s[:end] {
		return 0, false
	}
	if base == 10 {
		return scaled(n, base, exponent+3)
	}
	if n, ok = scaled(n, base, exponent); !ok {
		return 0, false
	}
	return scaled(n, 1000, 1)
}

// scaled returns n times a power of a base, if that is an integer of 64 bits.
func scaled(n, base, exponent int64) (_ int64, ok bool) {
	if exponent < 0 {
		return 0, false
	}
	for range exponent {
		if n > math.MaxInt64/base || n < math.MinInt64/base {
			return 0, false
		}
		n *= base
	}
	return n, true
}

// trimPoint makes "1." and ".5" numbers that everybody reads.
func trimPoint(s string) string {
	s = strings.TrimSuffix(s, ".")
	if len(s) > 1 && s[0] == '.' {
		return "0" + s
	}
	return s
}

func parseBoolean(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "1", "yes", "on", "true":
		return true, nil
	case "0", "no", "off", "false", "":
		return false, nil
	}
	return false, errSpelling
}

func parseJSON(s string) (model.Value, error) {
	var v model.Value
	err := v.UnmarshalJSON([]byte(s))
	return v, err
}

// parseProperties parses "a=1,b=2". A part without a name is the value of the first of the schema's
// keys, if it has any. A repeated name is an error.
func parseProperties(schema *model.Schema, s string) (model.Value, error) {
	var fields []model.Field
	seen := map[string]bool{}
	for part := range strings.SplitSeq(s, ",") {
		name, value, named := strings.Cut(part, "=")
		if !named {
			if len(schema.Keys) == 0 {
				return model.Value{}, errSpelling
			}
			name, value = schema.Keys[0], part
		}
		if seen[name] {
			return model.Value{}, errSpelling
		}
		seen[name] = true
		fields = append(fields, model.Field{Name: name, Value: model.StringOf(value)})
	}
	return model.MapOf(fields...), nil
}

// withoutSpace drops what base64 does not count.
func withoutSpace(s string) string { return strings.Join(strings.Fields(s), "") }

func parseInstant(s string) (time.Time, error) { return time.Parse(time.RFC3339Nano, s) }

// parseAddress reads an IP address, as the prefix that holds only it, or a
// prefix.
func parseAddress(s string) (netip.Prefix, error) {
	if strings.Contains(s, "/") {
		return netip.ParsePrefix(s)
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Prefix{}, err
	}
	return netip.PrefixFrom(addr, addr.BitLen()), nil
}
