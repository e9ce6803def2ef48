package model

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// A Sealer replaces sensitive texts by keyed digests. Within one installation, equal texts have
// equal digests, and a text cannot be guessed from its digest without the key. The zero Sealer has
// no key and panics when it is used.
type Sealer struct {
	key []byte
	// parts replaces the secret parts of a text; nil for none.
	parts func(string) string
	// marks reports whether a text is a placeholder of the secret with a digest.
	marks func(text, digest string) bool
}

// NewSealer returns a Sealer with the key, which must remain secret and the same for the
// installation.
func NewSealer(key []byte) Sealer { return Sealer{key: key} }

// WithParts returns a copy of the Sealer with two functions. SealTree digests the result of parts,
// which replaces the secret parts of a text, so that the digest does not depend on whether they
// were replaced before. The function marks reports whether a text is a placeholder for the secret
// with the digest.
func (s Sealer) WithParts(parts func(string) string, marks func(text, digest string) bool) Sealer {
	s.parts, s.marks = parts, marks
	return s
}

// Seal returns the digest of text as a secret. It panics if the Sealer has no key.
func (s Sealer) Seal(text string) Value {
	if len(s.key) == 0 {
		panic("model: sealer without a key")
	}
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return DigestOf(hex.EncodeToString(mac.Sum(nil)[:16]))
}

// SealTree returns a copy of the tree in which digests replace all scalars except null.
func (s Sealer) SealTree(v Value) Value {
	switch v.kind {
	case String:
		if s.parts != nil {
			return s.Seal(s.parts(v.text))
		}
		return s.Seal(v.text)
	case Bool, Number:
		return s.Seal(v.text)
	case List:
		items := make([]Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = s.SealTree(item)
		}
		return ListOf(items...)
	case Map:
		fields := make([]Field, len(v.Fields()))
		for i, f := range v.Fields() {
			fields[i] = Field{f.Name, s.SealTree(f.Value)}
		}
		return Value{kind: Map, node: &node{fields: fields}}
	}
	return v
}

// SealLike returns a copy of v in which digests replace the values that are secrets in like. If any
// element of a list in like is a secret, all elements of the list in v are replaced, because the
// order may differ.
func (s Sealer) SealLike(v, like Value) Value {
	switch {
	case like.kind == Secret && v.kind == String && s.marks != nil && s.marks(v.text, like.text):
		return like
	case like.kind == Secret:
		return s.SealTree(v)
	case !like.HasSecret():
		return v
	case v.kind == Map:
		for _, f := range like.Fields() {
			if held, ok := v.Get(f.Name); ok {
				v = v.With(f.Name, s.SealLike(held, f.Value))
			}
		}
		return v
	case v.kind == List:
		items := slices.Clone(v.Items())
		for _, l := range like.Items() {
			for i := range items {
				items[i] = s.SealLike(items[i], l)
			}
		}
		return ListOf(items...)
	}
	return v
}
