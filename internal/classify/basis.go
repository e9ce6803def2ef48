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

// Basis returns what Finding.Basis is for a finding with changes.
func Basis(f *model.Finding) string { return basis(f, nil) }

// basis returns a digest of what a finding shows: of each field every side, and
// where the verdict is on the whole resource, what is declared of it. Secrets
// go in as the digests that they already are.
func basis(f *model.Finding, claim *model.Claim) string {
	h := sha256.New()
	put(h, string(f.Verdict))
	for i := range f.Changes {
		c := &f.Changes[i]
		put(h, c.Path)
		for _, side := range []*model.Value{c.Declared, c.Recorded, c.Live, c.Running} {
			putValue(h, side)
		}
		for j := range c.Claims {
			put(h, c.Claims[j].Declaration)
			putValue(h, &c.Claims[j].Value)
		}
		if c.Declared == nil && c.Recorded == nil && c.Live == nil && c.Actor != nil {
			// All that is known of a secret which cannot be read is that somebody
			// set it.
			put(h, c.Actor.Name)
			put(h, c.Actor.At.UTC().Format(time.RFC3339Nano))
		}
	}
	switch {
	case len(f.Changes) > 0:
	case claim != nil && f.Verdict != model.Unchecked:
		put(h, claim.Pending)
		putValue(h, &claim.Value)
		putValue(h, claim.Recorded)
	case f.Verdict != model.Unchecked:
		put(h, f.Reason)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// worseBasis returns the basis that a finding would have under the worse verdict
// that the same values may get; "" where there is none. An acceptance of the worse
// verdict covers this one too.
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

// put writes a text so that no two lists of texts look alike.
func put(h hash.Hash, text string) {
	h.Write([]byte(text)) // a hash never fails
	h.Write([]byte{0})
}

func putValue(h hash.Hash, v *model.Value) {
	if v == nil {
		put(h, "-")
		return
	}
	h.Write(v.AppendJSON([]byte{'+'}))
	put(h, "")
}

// labels returns what people sort a resource by, live or else as declared. What a
// declaration holds as a secret is not shown as a label either.
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

// secrets returns the names of the fields that claims hold as secrets, wherever
// they stand: a claim may call what is around them otherwise.
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

// labelsOf reads labels in their forms: a map, a list, a text of tags.
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
