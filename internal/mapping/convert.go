package mapping

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A conversion brings the two sides of an attribute into one form: view makes
// of a live value what the attribute would hold, declared gives an attribute's
// value the same form. Either may be nil, which changes nothing; a value that
// has not the form that is expected stays as it is.
type conversion struct {
	view, declared func(model.Value) model.Value
}

// conversions are all that a table may name behind "as"; those whose name ends
// in "()" take text in the parentheses.
func conversions() map[string]func(argument string) conversion {
	plain := func(c conversion) func(string) conversion { return func(string) conversion { return c } }
	return map[string]func(string) conversion{
		"gib":        plain(conversion{view: inGiB}),
		"size":       plain(conversion{view: sizeText, declared: canonicalSize}),
		"time":       plain(conversion{view: instant}),
		"not":        plain(conversion{view: invert}),
		"number":     plain(conversion{declared: numeric}),
		"present":    plain(conversion{view: present}),
		"text":       plain(conversion{view: onTexts(trimLines), declared: onTexts(trimLines)}),
		"lines":      plain(conversion{view: joined("\n"), declared: onTexts(fullLines)}),
		"list":       plain(conversion{view: listed, declared: listed}),
		"join()":     func(by string) conversion { return conversion{view: joined(by), declared: onTexts(rejoined(by))} },
		"sorted()":   func(by string) conversion { return conversion{view: joinedSorted(by), declared: onTexts(sortedBy(by))} },
		"word()":     func(n string) conversion { return conversion{view: word(n)} },
		"property()": func(key string) conversion { return conversion{view: joined(";"), declared: property(key)} },
		"properties": plain(conversion{view: properties(""), declared: canonicalProperties("")}),
		"properties()": func(key string) conversion {
			return conversion{view: properties(key), declared: canonicalProperties(key)}
		},
	}
}

// parseConversion reads "gib" or "join(;)".
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

// A fraction of a gibibyte has no more decimals than it has halvings.
const (
	gibibyte       = 1 << gibibyteDigits
	gibibyteDigits = 30
)

// inGiB counts in GiB. Providers cut off what is no whole one, and so miss a
// disk that grew by less.
func inGiB(v model.Value) model.Value {
	n, ok := integer(v)
	if !ok {
		return v
	}
	gib := new(big.Rat).SetFrac(n, big.NewInt(gibibyte))
	counted, _ := model.NumberOf(gib.FloatString(gibibyteDigits))
	return counted
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

// sizeText writes bytes in the largest unit that loses nothing: 3G, 512M.
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

// sizeUnits are the units by powers of 1024; a blank is no unit.
const sizeUnits = " KMGT"

// canonicalSize gives a written size the form of sizeText; a bare number is
// bytes.
func canonicalSize(v model.Value) model.Value {
	text := strings.ToUpper(strings.TrimSpace(v.Str()))
	text = strings.TrimSuffix(strings.TrimSuffix(text, "B"), "I")
	if text == "" {
		return v
	}
	unit := strings.IndexByte(sizeUnits, text[len(text)-1])
	if unit > 0 {
		text = text[:len(text)-1]
	}
	number, ok := model.NumberOf(text)
	if !ok {
		return v
	}
	bytes, ok := new(big.Rat).SetString(number.Text())
	if !ok {
		return v
	}
	factor := new(big.Int).Exp(big.NewInt(1024), big.NewInt(int64(max(unit, 0))), nil)
	if bytes.Mul(bytes, new(big.Rat).SetInt(factor)); !bytes.IsInt() {
		return v
	}
	return sizeText(numberOf(bytes.Num()))
}

// instant writes seconds since 1970 as RFC 3339 in UTC.
func instant(v model.Value) model.Value {
	n, ok := integer(v)
	if !ok || !n.IsInt64() || n.Int64() < 0 || n.Int64() > maxEpoch {
		return v
	}
	return model.StringOf(time.Unix(n.Int64(), 0).UTC().Format(time.RFC3339))
}

// maxEpoch is the end of the year 9999, the last that RFC 3339 can write.
const maxEpoch = 253402300799

func invert(v model.Value) model.Value {
	if v.Kind() != model.Bool {
		return v
	}
	return model.BoolOf(v.Text() == "false")
}

// numeric reads a number that is written as text.
func numeric(v model.Value) model.Value {
	if n, ok := model.NumberOf(v.Str()); ok {
		return n
	}
	return v
}

// present tells that something is there.
func present(model.Value) model.Value { return model.BoolOf(true) }
