package mapping

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A conversion converts the two sides of an attribute to one form: view converts a live value
// to that of the attribute, declared normalizes the attribute's value. Either may be nil,
// which changes nothing. A value of an unexpected form stays unchanged. back is the inverse
// of view, where it exists; without view it is not needed.
type conversion struct {
	view, declared func(model.Value) model.Value
	back           func(model.Value) (model.Value, bool)
}

// conversions returns the conversions that a table can refer to under "as". Those with a name that
// ends in "()" have an argument in the parentheses.
func conversions() map[string]func(argument string) conversion {
	plain := func(c conversion) func(string) conversion { return func(string) conversion { return c } }
	return map[string]func(string) conversion{
		"gib":     plain(scaled(big.NewInt(gibibyte))),
		"per()":   func(n string) conversion { return scaled(unitOf(n)) },
		"size":    plain(conversion{view: sizeText, declared: canonicalSize, back: bytesOf}),
		"time":    plain(conversion{view: instant}),
		"not":     plain(conversion{view: invert, back: always(invert)}),
		"number":  plain(conversion{declared: numeric}),
		"present": plain(conversion{view: present}),
		"text":    plain(conversion{view: onTexts(trimLines), declared: onTexts(trimLines), back: always(onTexts(trimLines))}),
		"lines":   plain(conversion{view: joined("\n"), declared: onTexts(fullLines)}),
		"list":    plain(conversion{view: listed, declared: listed, back: always(listed)}),
		"json":    plain(conversion{view: jsonText, declared: jsonText}),
		"policy":  plain(conversion{view: policy, declared: policy}),
		"address()": func(version string) conversion {
			return conversion{view: addressOf(version), declared: onTexts(bare)}
		},
		"fields()": func(names string) conversion { return conversion{view: fieldsOf(names)} },
		"only":     plain(conversion{view: only("")}),
		"only()":   func(name string) conversion { return conversion{view: only(name)} },
		"has()":    func(text string) conversion { return conversion{view: has(text)} },
		"each()":   func(name string) conversion { return conversion{declared: each(name)} },
		"join()":   func(by string) conversion { return conversion{view: joined(by), declared: onTexts(rejoined(by))} },
		"sorted()": func(by string) conversion {
			return conversion{view: joinedSorted(by), declared: onTexts(sortedBy(by)), back: always(listed)}
		},
		"word()":     func(n string) conversion { return conversion{view: word(n)} },
		"property()": func(key string) conversion { return conversion{view: joined(";"), declared: property(key)} },
		"properties": plain(conversion{view: properties(""), declared: canonicalProperties("")}),
		"properties()": func(key string) conversion {
			return conversion{view: properties(key), declared: canonicalProperties(key)}
		},
	}
}

// parseConversion parses "gib" or "join(;)".
func parseConversion(text string) (conversion, error) {
	name, argument := text, ""
	if open := strings.IndexByte(text, '('); open > 0 && strings.HasSuffix(text, ")") {
		name, argument = text[:open]+"()", text[open+1:len(text)-1]
	}
	known := conversions()
	with, ok := known[name]
	if !ok || strings.HasSuffix(name, "()") && argument == "" {
		return conversion{}, fmt.Errorf("no conversion %q; want %s", text, words(known))
	}
	return with(argument), nil
}

const gibibyte = 1 << 30

// unitOf parses the argument of per; text that is not a positive number gives one.
func unitOf(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || n.Sign() <= 0 {
		return big.NewInt(1)
	}
	return n
}

// scaled divides by a unit and rounds down, as providers do. Providers do not detect a change of a
// disk by less than a unit.
func scaled(unit *big.Int) conversion {
	view := func(v model.Value) model.Value {
		n, ok := integer(v)
		if !ok {
			return v
		}
		ratio := new(big.Rat).SetFrac(n, unit)
		digits, _ := ratio.FloatPrec()
		counted, _ := model.NumberOf(ratio.FloatString(digits))
		return counted
	}
	back := func(v model.Value) (model.Value, bool) {
		ratio, ok := new(big.Rat).SetString(v.Text())
		if v.Kind() != model.Number || !ok {
			return v, false
		}
		if ratio.Mul(ratio, new(big.Rat).SetInt(unit)); !ratio.IsInt() {
			return v, false
		}
		return numberOf(ratio.Num()), true
	}
	return conversion{view: view, back: back}
}

// always returns the inverse function of a conversion that is always invertible.
func always(f func(model.Value) model.Value) func(model.Value) (model.Value, bool) {
	return func(v model.Value) (model.Value, bool) { return f(v), true }
}

func integer(v model.Value) (*big.Int, bool) {
	if v.Kind() != model.Number {
		return nil, false
	}
	return new(big.Int).SetString(v.Text(), 10)
}

func numberOf(n *big.Int) model.Value {
	v, _ := model.NumberOf(n.String())
	return v
}

// sizeText formats bytes in the largest unit without a remainder: 3G, 512M.
func sizeText(v model.Value) model.Value {
	n, ok := integer(v)
	if !ok {
		return v
	}
	unit := 0
	for divisor := big.NewInt(1024); unit < len(sizeUnits)-1 && n.Sign() > 0; unit++ {
		quotient, rest := new(big.Int).QuoRem(n, divisor, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		n = quotient
	}
	return model.StringOf(n.String() + strings.TrimSpace(sizeUnits[unit:unit+1]))
}

// sizeUnits are the units by powers of 1024; the blank stands for bytes.
const sizeUnits = " KMGT"

// canonicalSize converts a size text to the form of sizeText; a number without a unit is
// bytes.
func canonicalSize(v model.Value) model.Value {
	if bytes, ok := bytesOf(v); ok {
		return sizeText(bytes)
	}
	return v
}

// bytesOf parses a size text.
func bytesOf(v model.Value) (model.Value, bool) {
	text := strings.ToUpper(strings.TrimSpace(v.Str()))
	text = strings.TrimSuffix(strings.TrimSuffix(text, "B"), "I")
	if text == "" {
		return v, false
	}
	unit := strings.IndexByte(sizeUnits, text[len(text)-1])
	if unit > 0 {
		text = text[:len(text)-1]
	}
	number, ok := model.NumberOf(text)
	if !ok {
		return v, false
	}
	bytes, ok := new(big.Rat).SetString(number.Text())
	if !ok {
		return v, false
	}
	factor := new(big.Int).Exp(big.NewInt(1024), big.NewInt(int64(max(unit, 0))), nil)
	if bytes.Mul(bytes, new(big.Rat).SetInt(factor)); !bytes.IsInt() {
		return v, false
	}
	return numberOf(bytes.Num()), true
}

// instant formats seconds since 1970 as RFC 3339 in UTC.
func instant(v model.Value) model.Value {
	n, ok := integer(v)
	if !ok || !n.IsInt64() || n.Int64() < 0 || n.Int64() > maxEpoch {
		return v
	}
	return model.StringOf(time.Unix(n.Int64(), 0).UTC().Format(time.RFC3339))
}

// maxEpoch is the end of the year 9999, the last year of RFC 3339.
const maxEpoch = 253402300799

func invert(v model.Value) model.Value {
	if v.Kind() != model.Bool {
		return v
	}
	return model.BoolOf(v.Text() == "false")
}

// numeric parses a number in a text.
func numeric(v model.Value) model.Value {
	if n, ok := model.NumberOf(v.Str()); ok {
		return n
	}
	return v
}

// present returns true for any value.
func present(model.Value) model.Value { return model.BoolOf(true) }
