package model

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"sort"
	"strings"
)

// An ObjectSample contains, for each object that a Terraform declaration records, a hash of the
// address and a hash of the identity, so that a plan can be compared with the objects of a scan. If
// there are too many objects, it contains those with the smallest hashes.
//
// Each object occupies eight bytes, the hash of the address followed by that of the identity, both
// big endian. Objects are in ascending order.
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

// SampleObjects returns the sample of the objects that the claims describe.
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

// IsTerraformKind reports whether kind is the kind of a Terraform type without a live source.
func IsTerraformKind(kind string) bool { return strings.HasPrefix(kind, "terraform/") }

func hash32(text string) uint32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash returns no error
	sum := h.Sum64()
	return uint32(sum>>32) ^ uint32(sum)
}

// A Sampled is the result of looking up an object in a sample.
type Sampled int

// The results of ObjectSample.Find. Absent means that the sample does not contain the address,
// Other that it contains another object at the address, and Same that it contains the object.
// Beyond means that the sample was full before it reached the address.
const (
	Absent Sampled = iota
	Other
	Same
	Beyond
)

// Find looks up an object by its address and compares its identity. The argument id is the
// attribute id of the object, or its name if it has none, and live is its ID in the live system. An
// empty id or live is unknown and matches any.
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

// Declaration returns the record of the named declaration in the run, or nil if the run has none.
func (r *Run) Declaration(name string) *DeclarationRun {
	i := slices.IndexFunc(r.Declarations, func(d DeclarationRun) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Declarations[i]
}

// IsPlanned reports whether the declaration is a Terraform root that is read through a plan, and
// not through its states alone. A root without a record of a state counts as planned.
func (d *DeclarationRun) IsPlanned() bool {
	return d.Type == "terraform" && (len(d.States) == 0 || slices.Contains(d.Governs, LiveSource(d.Name)))
}

// Samples returns the object samples of the run by the name of the declaration. It omits
// declarations without a sample.
func (r *Run) Samples() map[string]ObjectSample {
	samples := map[string]ObjectSample{}
	for i := range r.Declarations {
		if d := &r.Declarations[i]; len(d.Objects) > 0 {
			samples[d.Name] = d.Objects
		}
	}
	return samples
}
