package model

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// A Sealer turns sensitive text into keyed digests: equal text gives equal
// digests within one installation, and nobody can guess the text without the
// key. The zero Sealer is unusable on purpose: it has no key.
type Sealer struct{ key []byte }

// NewSealer returns a Sealer. The key stays with the installation.
func NewSealer(key []byte) Sealer { return Sealer{key: key} }

// Seal returns the digest of text.
func (s Sealer) Seal(text string) Value {
	if len(s.key) == 0 {
		panic("model: sealer without a key")
	}
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return DigestOf(hex.EncodeToString(mac.Sum(nil)[:16]))
}

// SealTree replaces every scalar of the tree, other than null, by its digest.
func (s Sealer) SealTree(v Value) Value {
	switch v.kind {
	case Bool, Number, String:
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
