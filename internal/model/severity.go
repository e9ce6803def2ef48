package model

import (
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A SeverityRule rates the drift that it matches.
type SeverityRule struct {
	// Verdicts lists the verdicts that the rule matches; empty means all.
	Verdicts []Verdict
	// IDs lists globs of the IDs of the resources that the rule matches; empty means all.
	IDs []string
	// Path is a prefix of the path of the changed field, without list keys:
	// spec.template.spec.containers.image, data["policy.default"]. The rule also matches a change
	// of a larger value that contains the field, such as a whole container. "" matches every field.
	// A finding about a whole resource has no field; it matches only if Path is empty or Where is
	// set.
	Path string
	// Where lists conditions on the resource, all of which must be met. If the change is within a
	// list, they apply only to the element that changed; if the list itself changed, only to the
	// added elements. A change that only removes matches if the conditions are met after it. For a
	// missing resource, they apply to the declared value in the form of the live kind.
	Where []Condition
	// Removed reports whether the rule matches only changes that remove the field at Path or
	// elements of it. Where then applies to the removed value.
	Removed  bool
	Severity Severity
	// Reason is printed with the finding.
	Reason string
	// Show is the path of a text, or of a list of texts, in the live resource that is printed after
	// Reason; "" for none.
	Show string
}

// A Condition is a condition on one field of a resource. One of In, World and Above is set, or else
// one of the other fields.
type Condition struct {
	// Path is the path of the field, in the form of SeverityRule.Path. One matching element of a
	// list is sufficient.
	Path string
	// In lists the texts that a scalar may have; "" matches a field that is absent or empty.
	In []string
	// World matches a text for which IsWorld returns true.
	World bool
	// Above lists paths of files. It matches a path that is one of them or a folder that contains
	// one.
	Above []string
	// NotIn lists the texts that a scalar must not have.
	NotIn []string
	// Present matches every field that exists.
	Present bool
	// With matches a map that meets all of these conditions.
	With []Condition
}

// Holds reports whether the value meets the condition.
func (c *Condition) Holds(v Value) bool { return c.holds(v, c.Path) }

func (c *Condition) holds(v Value, at string) bool {
	if v.Kind() == List && !v.IsEmpty() {
		return slices.ContainsFunc(v.Items(), func(item Value) bool { return c.holds(item, at) })
	}
	if at != "" {
		name, rest := CutName(at)
		return c.holds(v.At(name), rest)
	}
	switch {
	case len(c.With) > 0:
		return v.Kind() == Map && HoldsAll(c.With, v)
	case c.Present:
		return !v.IsNull()
	case len(c.NotIn) > 0:
		return !slices.Contains(c.NotIn, v.Text())
	case v.Kind() == Map && !v.IsEmpty():
		return false
	}
	return slices.Contains(c.In, v.Text()) || c.World && IsWorld(v.Text()) || leadsTo(v.Text(), c.Above)
}

// About reports whether the rule applies to the verdict and to a resource with the ID. It does not
// check Path and Where.
func (r *SeverityRule) About(v Verdict, id string) bool {
	return (len(r.Verdicts) == 0 || slices.Contains(r.Verdicts, v)) && oneFits(r.IDs, id)
}

// HoldsAll reports whether the value meets all conditions.
func HoldsAll(all []Condition, v Value) bool {
	return !slices.ContainsFunc(all, func(c Condition) bool { return !c.Holds(v) })
}

// CutName cuts the first field name off a path without list keys. The name is unquoted, and rest
// does not begin with a dot.
func CutName(at string) (name, rest string) {
	if strings.HasPrefix(at, "[") {
		if quoted, err := strconv.QuotedPrefix(at[1:]); err == nil {
			name, _ = strconv.Unquote(quoted) // QuotedPrefix has checked it.
			rest = strings.TrimPrefix(at[1+len(quoted):], "]")
			return name, strings.TrimPrefix(rest, ".")
		}
	}
	end := strings.IndexAny(at, ".[")
	switch {
	case end < 0:
		return at, ""
	case at[end] == '.':
		return at[:end], at[end+1:]
	case end == 0: // A bracket that is not quoted.
		return at, ""
	}
	return at[:end], at[end:]
}

// worldBits is the length of the prefix that holds an eighth of all addresses.
// 2000::/3 are the IPv6 addresses of the internet.
const worldBits = 3

// IsWorld reports whether one of the networks in text, which are separated by commas or spaces,
// contains at least an eighth of all addresses: 0.0.0.0/0, ::/0, 0/0, 128.0.0.0/1, 2000::/3,
// 0.0.0.0-255.255.255.255.
func IsWorld(text string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), isWorld)
}

func isWorld(network string) bool {
	if prefix, err := netip.ParsePrefix(network); err == nil {
		bits := prefix.Bits()
		if prefix.Addr().Is4In6() && bits >= 96 {
			bits -= 96
		}
		return bits <= worldBits
	}
	if from, to, ok := strings.Cut(network, "-"); ok {
		first, errFirst := netip.ParseAddr(from)
		last, errLast := netip.ParseAddr(to)
		return errFirst == nil && errLast == nil && first.BitLen() == last.BitLen() &&
			int(last.AsSlice()[0])-int(first.AsSlice()[0]) >= 1<<(8-worldBits)-1
	}
	_, mask, ok := strings.Cut(network, "/")
	return ok && (mask == "0.0.0.0" || strings.Trim(mask, "0") == "" && mask != "")
}

// leadsTo reports whether a path of a file is one of files, or a folder that holds one.
func leadsTo(text string, files []string) bool {
	if !path.IsAbs(text) {
		return false
	}
	folder := strings.TrimSuffix(path.Clean(text), "/")
	return slices.ContainsFunc(files, func(file string) bool { return file == folder || strings.HasPrefix(file, folder+"/") })
}
