package model

import (
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A SeverityRule rates the drift that it fits.
type SeverityRule struct {
	// Verdicts that it fits; empty fits all.
	Verdicts []Verdict
	// IDs are globs of the IDs of the resources that it fits; empty fits all.
	IDs []string
	// Path is a prefix of the changed field's path with list keys left out:
	// spec.template.spec.containers.image, data["policy.default"]. The rule also fits
	// a change of something larger that has the field, such as a whole container.
	// "" fits every field. A finding about a whole resource has no field: the rule
	// fits it without a Path, or with Where.
	Path string
	// Where are conditions on the resource, all of which must hold; empty fits any.
	// Of a list that the change lies in, they see only the element that changed, and
	// of a changed list only the elements that were added. A change that only removes
	// fits if the conditions hold since. Of a missing resource they see what is
	// declared, in the form of the live kind.
	Where []Condition
	// Removed reports that the rule fits only a change that removes the field at Path,
	// or elements of it. Where then sees what was removed.
	Removed  bool
	Severity Severity
	// Reason is printed with the finding.
	Reason string
	// Show is the path of a text, or a list of texts, of the live resource that is
	// printed after Reason; "" for none.
	Show string
}

// A Condition is what a field of a resource must hold: one of In, World and Above, or
// else one of the others.
type Condition struct {
	// Path leads to the field, in the form of SeverityRule.Path. Of a list, one
	// element that fits is enough.
	Path string
	// In are the texts of the scalars that fit; "" stands for a field that is
	// absent or empty.
	In []string
	// World fits a text of networks that IsWorld.
	World bool
	// Above are paths of files. A path fits that is one of them, or a folder that
	// holds one.
	Above []string
	// NotIn are the texts that do not fit, while all others do.
	NotIn []string
	// Present matches every field that exists.
	Present bool
	// With fits a map that holds all these conditions.
	With []Condition
}

// Holds reports whether the value holds what the condition asks for.
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

// About reports whether the rule is about a verdict on a resource with the ID.
func (r *SeverityRule) About(v Verdict, id string) bool {
	return (len(r.Verdicts) == 0 || slices.Contains(r.Verdicts, v)) && oneFits(r.IDs, id)
}

// HoldsAll reports whether the value holds all conditions.
func HoldsAll(all []Condition, v Value) bool {
	return !slices.ContainsFunc(all, func(c Condition) bool { return !c.Holds(v) })
}

// CutName cuts the first field name off a path without list keys.
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

// IsWorld reports whether one of the networks in a text, separated by commas or
// blanks, holds an eighth of all addresses or more: 0.0.0.0/0, ::/0, 0/0,
// 128.0.0.0/1, 2000::/3, 0.0.0.0-255.255.255.255.
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
