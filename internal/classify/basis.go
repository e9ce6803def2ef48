package classify

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// Basis returns the Finding.Basis of a finding with changes.
func Basis(f *model.Finding) string { return basis(f, nil) }

// basis returns a digest of a finding: of every side of each field or, if the verdict is on the
// whole resource, of the claim. contents contains the contents of Finding.Objects, or what an unmanaged
// resource exposes. Secrets are digests already.
func basis(f *model.Finding, claim *model.Claim, contents ...model.Value) string {
	h := sha256.New()
	writeText(h, string(f.Verdict))
	if f.Check != "" {
		writeText(h, f.Check)
	}
	for i := range f.Changes {
		c := &f.Changes[i]
		writeText(h, c.Path)
		for _, side := range []*model.Value{c.Declared, c.Recorded, c.Live, c.Running} {
			writeValue(h, side)
		}
		for j := range c.Claims {
			writeText(h, c.Claims[j].Declaration)
			writeValue(h, &c.Claims[j].Value)
		}
		if c.Declared == nil && c.Recorded == nil && c.Live == nil && c.Actor != nil {
			// Only the edit is known of a secret that cannot be read.
			writeText(h, c.Actor.Name)
			writeText(h, c.Actor.At.UTC().Format(time.RFC3339Nano))
		}
	}
	switch {
	case len(f.Changes) > 0:
	case f.Check != "":
		writeText(h, f.Reason)
	case claim != nil && f.Verdict != model.Unchecked:
		writeText(h, claim.Pending)
		writeValue(h, &claim.Value)
		writeValue(h, claim.Recorded)
	case f.Verdict != model.Unchecked:
		writeText(h, f.Reason)
	}
	writeObjects(h, f.Objects, contents)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func writeObjects(h hash.Hash, objects []string, contents []model.Value) {
	for _, object := range objects {
		writeText(h, object)
	}
	for i := range contents {
		writeValue(h, &contents[i])
	}
}

// worseBasis returns the basis that a finding would have under the worse verdict that the same
// values may get; "" if there is none. An acceptance of the worse verdict includes this one.
func worseBasis(s *model.Subject, f model.Finding, claim *model.Claim) string {
	switch f.Verdict {
	case model.Pending:
		f.Verdict = model.Bypassed
	case model.Moved:
		f.Verdict = model.Changed
	default:
		return ""
	}
	if len(f.Changes) == 0 {
		return ""
	}
	if severity, _ := rate(s, claim, f.Verdict, slices.Clone(f.Changes)); severity.Rank() > f.Severity.Rank() {
		return ""
	}
	return basis(&f, claim)
}

// writeText writes a text with a terminator, so that different lists of texts have
// different digests.
func writeText(h hash.Hash, text string) {
	h.Write([]byte(text)) // a hash never fails
	h.Write([]byte{0})
}

func writeValue(h hash.Hash, v *model.Value) {
	if v == nil {
		writeText(h, "-")
		return
	}
	h.Write(v.AppendJSON([]byte{'+'}))
	writeText(h, "")
}

// labels returns the live labels of a resource, or else the declared ones. It omits labels that are
// secret in a declaration.
func labels(s *model.Subject, claim *model.Claim) map[string]string {
	if s.Kind == nil || s.Kind.Labels == "" {
		return nil
	}
	names := strings.Split(s.Kind.Labels, ".")
	switch {
	case s.Live != nil:
		hidden := secrets(s.Claims)
		if hidden[names[len(names)-1]] {
			return nil
		}
		found := labelsOf(s.Live.Value.At(names...))
		maps.DeleteFunc(found, func(name, _ string) bool { return hidden[name] })
		return found
	case claim != nil && claim.Lens == nil:
		return labelsOf(claim.Value.At(names...))
	}
	return nil
}

// secrets returns the names of the fields that are secret in a claim, at any path, since the paths
// of a claim may differ from those of the live resource.
func secrets(claims []*model.Claim) map[string]bool {
	names := map[string]bool{}
	var walk func(name string, v model.Value)
	walk = func(name string, v model.Value) {
		names[name] = names[name] || v.Kind() == model.Secret
		for _, item := range v.Items() {
			walk(name, item)
		}
		for _, f := range v.Fields() {
			walk(f.Name, f.Value)
		}
	}
	for _, c := range claims {
		if c.Value.HasSecret() {
			walk("", c.Value)
		}
		if c.Recorded != nil && c.Recorded.HasSecret() {
			walk("", *c.Recorded)
		}
	}
	return names
}

// labelsOf returns the labels in a map, a list, or a text of tags.
func labelsOf(v model.Value) map[string]string {
	found := map[string]string{}
	switch v.Kind() {
	case model.Map:
		for _, f := range v.Fields() {
			found[f.Name] = f.Value.Str()
		}
	case model.List:
		for _, item := range v.Items() {
			found[item.Str()] = ""
		}
	case model.String:
		for tag := range strings.SplitSeq(v.Str(), ";") {
			found[strings.TrimSpace(tag)] = ""
		}
	default:
		return nil
	}
	delete(found, "")
	if len(found) == 0 {
		return nil
	}
	return found
}
