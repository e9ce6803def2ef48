package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// maxFresh bounds the new contents in one transaction, in bytes before compression.
const maxFresh = 8 << 20

// errManyContents is the error of a transaction with more than maxFresh bytes of new contents.
var errManyContents = errors.New("too many new contents for one transaction")

// appendContent appends the content of a resource to b: the JSON of its value without the volatile fields of its kind.
func appendContent(b []byte, r *model.Resource, volatile map[string][]string) []byte {
	return r.Value.Without(volatile[r.Kind]...).AppendJSON(b)
}

// A contentOf is the digest of the content of a resource, by the indexes of its snapshot and in it.
type contentOf struct {
	sum                digest
	snapshot, resource int32
}

// saveContents stores the contents of snapshots that are not stored yet. It writes them in the order of their digests,
// so that each of its transactions changes few pages.
func (s *Store) saveContents(snapshots []model.Snapshot) error {
	volatile := make([]map[string][]string, len(snapshots))
	var all []contentOf
	var buffer []byte
	for i := range snapshots {
		volatile[i] = volatileFields(snapshots[i].Kinds)
		all = slices.Grow(all, len(snapshots[i].Resources))
		for k := range snapshots[i].Resources {
			buffer = appendContent(buffer[:0], &snapshots[i].Resources[k], volatile[i])
			all = append(all, contentOf{sha256.Sum256(buffer), int32(i), int32(k)})
		}
	}
	slices.SortFunc(all, func(a, b contentOf) int { return compareDigests(a.sum, b.sum) })
	all = slices.CompactFunc(all, func(a, b contentOf) bool { return a.sum == b.sum })
	for len(all) > 0 {
		err := s.update("save contents", func(t *txn) error {
			for size := 0; len(all) > 0 && size <= maxFresh; all = all[1:] {
				c := &all[0]
				if t.contents.get(c.sum[:]) != nil {
					continue
				}
				r := &snapshots[c.snapshot].Resources[c.resource]
				buffer = appendContent(buffer[:0], r, volatile[c.snapshot])
				size += len(buffer)
				packed, err := t.pack(buffer)
				if err == nil {
					err = t.contents.put(c.sum[:], packed)
				}
				if err != nil {
					return fmt.Errorf("resource %s: %w", r.Key, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
