package model

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"sort"
	"strings"
)

// An ObjectSample has, of each object that a declaration of Terraform records, a hash of the address
// and one of the identity, so that a plan can be compared with the objects of a scan. Of more than
// maxSampled objects it has those with the smallest hashes.
//
// Each object takes eight bytes, in ascending order: the hash of the address, then that of the
// identity, both big endian.
type ObjectSample []byte

// maxSampled bounds a sample: 16 KiB of a run record.
const maxSampled = 2048

// sampledSize is the number of bytes of an object in a sample.
const sampledSize = 8

// ofLive is the bit of an identity's hash that is set if it is the ID of a live kind, and not the
// attribute id of a Terraform type. anyLive is the hash of an unknown ID of a live kind.
const (
	ofLive  = 1
	anyLive = ofLive
)

// SampleObjects returns the sample of the objects of claims.
func SampleObjects(claims []Claim) ObjectSample {
	entries := make([]uint64, 0, len(claims))
	for i := range claims {
		c := &claims[i]
		entries = append(entries, uint64(hash32(c.Address))<<32|uint64(claimIdentity(c)))
	}
	slices.Sort(entries)
	entries = slices.Compact(entries)
	entries = entries[:min(len(entries), maxSampled)]
	sample := make(ObjectSample, 0, len(entries)*sampledSize)
	for _, e := range entries {
		sample = binary.BigEndian.AppendUint64(sample, e)
	}
	return sample
}

// claimIdentity returns the hash of what identifies the object of a claim. The loader gives a claim
// without a live kind the attribute id as its name. Of a claim that is not compared it is unknown.
func claimIdentity(c *Claim) uint32 {
	switch {
	case c.Unchecked != "", c.ByIdentity:
		return anyLive
	case IsTerraformKind(c.Kind):
		return hash32(c.Name) &^ ofLive
	}
	return hash32(c.ID) | ofLive
}

// IsTerraformKind reports whether a kind is that of a Terraform type without a live source.
func IsTerraformKind(kind string) bool { return strings.HasPrefix(kind, "terraform/") }

func hash32(text string) uint32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash returns no error
	sum := h.Sum64()
	return uint32(sum>>32) ^ uint32(sum)
}

// A Sampled is what a sample has about an object.
type Sampled int

// The answers of a sample: the address is not in it, it has another object at the address, or it
// has the object. Beyond means that the sample was full before the address.
const (
	Absent Sampled = iota
	Other
	Same
	Beyond
)

// Find returns whether a sample has an object with an address, an attribute id (or a name, if it has
// none), and an ID in the live system; "" for one that is not known.
func (s ObjectSample) Find(address, id, live string) Sampled {
	at := hash32(address)
	n := len(s) / sampledSize
	first := sort.Search(n, func(i int) bool { return s.entry(i)>>32 >= uint64(at) })
	found := Absent
	if first == n && n >= maxSampled {
		found = Beyond
	}
	for i := first; i < n && s.entry(i)>>32 == uint64(at); i++ {
		found = max(found, Other)
		if sameIdentity(uint32(s.entry(i)), id, live) {
			return Same
		}
	}
	return found
}

func (s ObjectSample) entry(i int) uint64 { return binary.BigEndian.Uint64(s[i*sampledSize:]) }

func sameIdentity(known uint32, id, live string) bool {
	if known&ofLive == 0 {
		return id == "" || known == hash32(id)&^ofLive
	}
	return known == anyLive || live == "" || known == hash32(live)|ofLive
}

// Declaration returns the record of a declaration in the run; nil if it has none.
func (r *Run) Declaration(name string) *DeclarationRun {
	i := slices.IndexFunc(r.Declarations, func(d DeclarationRun) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Declarations[i]
}

// IsPlanned reports whether a declaration is a Terraform root that a plan reads, and not the states of
// one.
func (d *DeclarationRun) IsPlanned() bool { return d.Type == "terraform" && len(d.States) == 0 }

// Samples returns the samples of the run's declarations that have one, by name.
func (r *Run) Samples() map[string]ObjectSample {
	samples := map[string]ObjectSample{}
	for i := range r.Declarations {
		if d := &r.Declarations[i]; len(d.Objects) > 0 {
			samples[d.Name] = d.Objects
		}
	}
	return samples
}
