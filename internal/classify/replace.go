package classify

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// The reasons of findings on resources that the next apply replaces or destroys.
const (
	replacedReason  = "the next apply replaces it"
	destroyedReason = "the next apply destroys it"
)

// markReplaced sets Replaces if the next apply destroys the resource of a finding and creates it
// again, and Destroys if it only destroys it. It raises the finding, and the changes that require
// the replacement, to at least high; a destroyed resource only if something was changed.
func markReplaced(f *model.Finding, s *model.Subject, claim *model.Claim) {
	if s.Live == nil || !changedByApply(f.Verdict) {
		return
	}
	claims := []*model.Claim{claim}
	if f.Verdict == model.Disputed {
		claims = s.Claims
	}
	for _, c := range claims {
		if c == nil {
			continue
		}
		f.Replaces, f.Destroys = f.Replaces || c.Replaced, f.Destroys || c.Destroyed
		for i := range f.Changes {
			if path, differs := claimedPath(f.Verdict, &f.Changes[i], c); differs && replacesAt(c, path, &f.Changes[i]) {
				f.Replaces, f.Changes[i].Severity = true, worse(model.High, cmp.Or(f.Changes[i].Severity, model.High))
			}
		}
	}
	switch {
	case f.Replaces:
		raise(f, replacedReason)
	case f.Destroys && len(f.Changes) > 0:
		raise(f, destroyedReason)
	}
}

// raise rates a finding and its worst change at least high, for a reason.
func raise(f *model.Finding, reason string) {
	if f.Severity = worse(f.Severity, model.High); len(f.Changes) > 0 {
		c := worstOf(f, f.SeverityOf)
		c.Severity = worse(model.High, f.SeverityOf(c))
	}
	if !strings.Contains(f.Reason, reason) {
		f.Reason = strings.TrimSuffix(reason+"; "+f.Reason, "; ")
	}
}

// changedByApply reports whether the next apply changes a resource with the verdict. It
// does not if the live side is as declared, will be so, or is not declared.
func changedByApply(v model.Verdict) bool {
	switch v {
	case model.Codified, model.PendingRestart, model.Unmanaged, model.Unchecked, model.Missing, model.Violated, model.Nondeterministic:
		return false
	}
	return true
}

// claimedPath returns the path of a change in the form of a claim. differs reports whether
// the live value differs from the declared one.
func claimedPath(verdict model.Verdict, change *model.Change, c *model.Claim) (path string, differs bool) {
	if verdict != model.Disputed {
		return change.Path, true
	}
	i := slices.IndexFunc(change.Claims, func(v model.ClaimedValue) bool {
		return v.Declaration == c.Declaration && v.Address == c.Address
	})
	if i < 0 {
		return "", false
	}
	claimed := &change.Claims[i]
	return cmp.Or(claimed.Path, change.Path), change.Live == nil || !claimed.Value.Equal(*change.Live)
}

// replacesAt reports whether a claim requires the replacement for a change of the field
// at a path, of one above or of one below it.
func replacesAt(c *model.Claim, path string, change *model.Change) bool {
	path = model.WithoutKeys(path)
	return slices.ContainsFunc(c.Replaces, func(r model.Replacement) bool {
		if r.Larger {
			return r.Path == path && isLarger(change)
		}
		return model.Overlap(path, r.Path)
	})
}

// isLarger reports whether the live value is a larger number than the declared, or else
// the recorded one.
func isLarger(change *model.Change) bool {
	number := func(v *model.Value) *big.Rat {
		if v == nil || v.Kind() != model.Number {
			return nil
		}
		n, ok := new(big.Rat).SetString(v.Text())
		if !ok {
			return nil
		}
		return n
	}
	before, live := number(cmp.Or(change.Declared, change.Recorded)), number(change.Live)
	return before != nil && live != nil && live.Cmp(before) > 0
}

// worse returns the worse of two severities.
func worse(a, b model.Severity) model.Severity {
	if a.Rank() <= b.Rank() {
		return a
	}
	return b
}
