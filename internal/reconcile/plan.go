package reconcile

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// Equal reports whether both plans do the same.
func (p *Plan) Equal(o *Plan) bool {
	same := func(a, b FieldChange) bool {
		return a.Path == b.Path && equal(a.Old, b.Old) && equal(a.New, b.New)
	}
	return p.UID == o.UID && p.Creates == o.Creates && p.Endpoint == o.Endpoint && p.Identity == o.Identity &&
		p.HandBack == o.HandBack && p.Restarts == o.Restarts && slices.EqualFunc(p.Changes, o.Changes, same)
}

func equal(a, b *model.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// digestDomain begins everything that is digested, so that a digest has no other meaning.
const digestDomain = "driftd/action/v1\n"

// Digest returns a keyed digest of what is done to the subject for a finding: approvals name it.
// Equal plans have equal digests.
func (p *Plan) Digest(key []byte, f *model.Finding) string {
	text, err := json.Marshal(struct {
		Finding, Basis string
		Subject        model.Key
		Plan           *Plan
	}{f.ID, f.Basis, f.Key, p})
	if err != nil {
		panic(fmt.Sprintf("reconcile: encode plan: %v", err)) // it consists of texts and values
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(digestDomain))
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
