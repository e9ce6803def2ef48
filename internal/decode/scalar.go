package decode

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// The meaning of a plain scalar follows go.yaml.in/yaml/v2, with which kubectl reads
// manifests: YAML 1.1 with the octals of 1.2, without base 60.

// A meaning is what a scalar stands for: the short tag of its type and its
// value.
type meaning struct {
	tag   string
	value model.Value
}

const (
	nullTag   = "!!null"
	boolTag   = "!!bool"
	intTag    = "!!int"
	floatTag  = "!!float"
	strTag    = "!!str"
	binaryTag = "!!binary"
)

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

var errRange = errors.New("a number that is infinite or not a number; JSON has none")

// scalar returns the meaning of a scalar node.
func scalar(n *yaml.Node) (meaning, error) {
	tag := ""
	if n.Style&yaml.TaggedStyle != 0 {
		tag = n.Tag
	}
	switch tag {
	case "":
		if n.Style&quoted != 0 {
			return textOf(n.Value), nil
		}
		return resolve(n.Value)
	case binaryTag:
		return binary(n.Value)
	case nullTag, boolTag, intTag, floatTag:
		return tagged(tag, n.Value)
	}
	return textOf(n.Value), nil
}

func textOf(s string) meaning { return meaning{strTag, model.StringOf(s)} }

func tagged(tag, text string) (meaning, error) {
	m, err := resolve(text)
	if err != nil {
		return meaning{}, err
	}
	if m.tag != tag && (tag != floatTag || m.tag != intTag) {
		return meaning{}, fmt.Errorf("tagged %s, and is %s", tag, m.tag)
	}
	return meaning{tag, m.value}, nil
}

// binary decodes base64. Invalid UTF-8 becomes U+FFFD, as in kubectl.
func binary(text string) (meaning, error) {
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return meaning{}, errors.New("tagged !!binary, and is not base64")
	}
	return textOf(string([]rune(string(content)))), nil
}

// keyName returns a key as text: booleans and numbers become strings, as in
// kubectl.
func keyName(key *yaml.Node) (string, error) {
	key = target(key)
	if key.Kind != yaml.ScalarNode {
		return "", errors.New("a list or map stands where a key belongs (a template that was not rendered?)")
	}
	m, err := scalar(key)
	switch {
	case err != nil:
		return "", err
	case m.tag == nullTag:
		return "", errors.New("a key is null")
	case m.tag == floatTag:
		return floatKey(key.Value)
	}
	return m.value.Text(), nil
}

// floatKey keeps what a float32 keeps, as kubectl does.
func floatKey(text string) (string, error) {
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil || math.Abs(f) > math.MaxFloat32 {
		return "", errors.New("a key is a number out of range; quote it")
	}
	return strconv.FormatFloat(f, 'g', -1, 32), nil
}

// resolve returns the meaning of a plain scalar.
func resolve(text string) (meaning, error) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return meaning{nullTag, model.Value{}}, nil
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return meaning{boolTag, model.BoolOf(true)}, nil
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return meaning{boolTag, model.BoolOf(false)}, nil
	case ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF":
		return meaning{}, errRange
	}
	switch c := text[0]; {
	case c == '.':
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return float(f)
		}
	case c == '+' || c == '-' || '0' <= c && c <= '9':
		return number(text)
	}
	return textOf(text), nil
}

var decimal = lazyregexp.New(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// number returns the meaning of a scalar that begins like a number.
func number(text string) (meaning, error) {
	plain := strings.ReplaceAll(text, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return meaning{intTag, model.IntOf(i)}, nil
	}
	if u, err := strconv.ParseUint(plain, 0, 64); err == nil {
		v, _ := model.NumberOf(strconv.FormatUint(u, 10))
		return meaning{intTag, v}, nil
	}
	if decimal().MatchString(plain) {
		if f, err := strconv.ParseFloat(plain, 64); err == nil {
			return float(f)
		}
	}
	return textOf(text), nil
}

// float keeps what a float64 keeps, as kubectl does.
func float(f float64) (meaning, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return meaning{}, errRange
	}
	v, _ := model.NumberOf(strconv.FormatFloat(f, 'g', -1, 64))
	return meaning{floatTag, v}, nil
}
