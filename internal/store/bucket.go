package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"
)

// checksumSize is the length in bytes of the checksum at the end of every stored value.
const checksumSize = 4

// A RecordError reports a damaged record, or a bucket with missing or additional records.
type RecordError struct {
	// Bucket is the name of the bucket; "" for the file as a whole.
	Bucket string
	// Key is the key of the record in readable form; "" for the bucket as a whole.
	Key  string
	What string
}

// Error returns the bucket, the record and the damage.
func (e *RecordError) Error() string {
	switch {
	case e.Bucket == "":
		return e.What
	case e.Key == "":
		return fmt.Sprintf("bucket %s: %s", e.Bucket, e.What)
	}
	return fmt.Sprintf("bucket %s, record %s: %s", e.Bucket, e.Key, e.What)
}

// Is reports whether target is errCorrupt.
func (e *RecordError) Is(target error) bool { return target == errCorrupt }

// A total is a summary of all records of a bucket: their number, the sum of their checksums, and
// the bucket's sequence. It changes if a record is lost or is replaced by an older version of
// itself.
type total struct{ records, sum, sequence uint64 }

const totalSize = 24

func (t total) encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, totalSize+checksumSize), t.records)
	b = binary.BigEndian.AppendUint64(b, t.sum)
	return binary.BigEndian.AppendUint64(b, t.sequence)
}

func parseTotal(b []byte) (total, error) {
	if len(b) != totalSize {
		return total{}, fmt.Errorf("%w: total of %d bytes", errCorrupt, len(b))
	}
	return total{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])}, nil
}

func (t *total) add(sum uint32)    { t.records++; t.sum += uint64(sum) }
func (t *total) remove(sum uint32) { t.records--; t.sum -= uint64(sum) }

// A bucket contains records whose values end with a checksum. Its methods verify the checksum of
// each record that they read and panic with a *RecordError if it does not match, as bbolt panics on
// a damaged page. guard converts both panics to errors. A transaction therefore cannot skip the
// check.
type bucket struct {
	name string
	raw  *bbolt.Bucket
	// seed is the checksum of the bucket's name.
	seed uint32
	// was is the total at the start of the transaction, now the current one.
	was, now total
	// changed is called before a record changes, with its former and its next value; nil for none.
	changed func(k, was, now []byte) error
	// authentic is set for records that prove themselves: those of the audit log. A wrong checksum
	// must not keep it from naming the edit.
	authentic bool
}

// castagnoli returns the table of CRC-32C, which detects every flip of up to three bits in a
// record.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func newBucket(name string, raw *bbolt.Bucket) *bucket {
	return &bucket{name: name, raw: raw, seed: crc32.Checksum([]byte(name), castagnoli())}
}

// checksum returns the checksum of the bucket's name, the length of the key, the key and the value.
func (b *bucket) checksum(k, v []byte) uint32 {
	table := castagnoli()
	sum := crc32.Update(b.seed, table, binary.BigEndian.AppendUint32(make([]byte, 0, 4), uint32(len(k))))
	return crc32.Update(crc32.Update(sum, table, k), table, v)
}

func (b *bucket) seal(k, v []byte) (sealed []byte, sum uint32) {
	sum = b.checksum(k, v)
	sealed = append(make([]byte, 0, len(v)+checksumSize), v...)
	return binary.BigEndian.AppendUint32(sealed, sum), sum
}

// unseal returns a stored value without its checksum, and the checksum; both also with the error of
// a checksum that does not match. The value has no spare capacity, so that append copies it.
func (b *bucket) unseal(k, stored []byte) (v []byte, sum uint32, err error) {
	n := len(stored) - checksumSize
	if n < 0 {
		return nil, 0, b.damage(k, fmt.Sprintf("a value of %d bytes has no checksum", len(stored)))
	}
	v, sum = stored[:n:n], binary.BigEndian.Uint32(stored[n:])
	if sum != b.checksum(k, v) {
		return v, sum, b.damage(k, "the checksum does not match")
	}
	return v, sum, nil
}

func (b *bucket) damage(k []byte, what string) *RecordError {
	return &RecordError{Bucket: b.name, Key: keyText(b.name, k), What: what}
}

func (b *bucket) mustUnseal(k, stored []byte) ([]byte, uint32) {
	v, sum, err := b.unseal(k, stored)
	if err != nil && !b.authentic {
		panic(err)
	}
	return v, sum
}

// find returns the value of a record and its checksum; nil if there is no such record.
func (b *bucket) find(k []byte) (v []byte, sum uint32) {
	found, stored := b.raw.Cursor().Seek(k)
	if found == nil || !bytes.Equal(found, k) {
		return nil, 0
	}
	return b.mustUnseal(found, stored)
}

// get returns the value of a record, nil if there is none. It is valid until the transaction ends.
func (b *bucket) get(k []byte) []byte {
	v, _ := b.find(k)
	return v
}

// holds reports whether the record has the value and a checksum that matches.
func (b *bucket) holds(k, v []byte) bool {
	sealed, _ := b.seal(k, v)
	return bytes.Equal(b.raw.Get(k), sealed)
}

// put writes a record and replaces an existing one.
func (b *bucket) put(k, v []byte) error {
	was, sum := b.find(k)
	if was != nil {
		b.now.remove(sum)
	}
	if b.changed != nil {
		if err := b.changed(k, was, v); err != nil {
			return err
		}
	}
	sealed, sum := b.seal(k, v)
	b.now.add(sum)
	return b.raw.Put(k, sealed)
}

// remove removes a record. It returns nil if there is none.
func (b *bucket) remove(k []byte) error {
	was, sum := b.find(k)
	if was == nil {
		return nil
	}
	b.now.remove(sum)
	if b.changed != nil {
		if err := b.changed(k, was, nil); err != nil {
			return err
		}
	}
	return b.raw.Delete(k)
}

// next increments the bucket's sequence and returns it.
func (b *bucket) next() (uint64, error) {
	n, err := b.raw.NextSequence()
	b.now.sequence = n
	return n, err
}

// continueAt sets the bucket's sequence to n.
func (b *bucket) continueAt(n uint64) error {
	b.now.sequence = n
	return b.raw.SetSequence(n)
}

func (b *bucket) cursor() cursor { return cursor{b, b.raw.Cursor()} }

// A cursor iterates over the records of a bucket in key order. A nil key marks the end.
type cursor struct {
	b   *bucket
	raw *bbolt.Cursor
}

func (c cursor) first() (k, v []byte)             { return c.at(c.raw.First()) }
func (c cursor) last() (k, v []byte)              { return c.at(c.raw.Last()) }
func (c cursor) next() (k, v []byte)              { return c.at(c.raw.Next()) }
func (c cursor) prev() (k, v []byte)              { return c.at(c.raw.Prev()) }
func (c cursor) seek(to []byte) (key, val []byte) { return c.at(c.raw.Seek(to)) }

func (c cursor) at(k, stored []byte) (key, v []byte) {
	if k == nil {
		return nil, nil
	}
	v, _ = c.b.mustUnseal(k, stored)
	return k, v
}

// each calls fn for the records of b whose keys begin with prefix, in the order of keys. fn must
// not modify b. If prefix is empty, each also verifies that no record is missing.
func each(b *bucket, prefix []byte, fn func(k, v []byte) error) error {
	counted := total{sequence: b.now.sequence}
	c := b.raw.Cursor()
	for k, stored := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, stored = c.Next() {
		v, sum := b.mustUnseal(k, stored)
		counted.add(sum)
		if err := fn(k, v); err != nil {
			return err
		}
	}
	if len(prefix) == 0 {
		return b.compare(counted)
	}
	return nil
}

// compare returns an error if the counted records differ from those written to the bucket.
func (b *bucket) compare(counted total) error {
	if counted == b.now {
		return nil
	}
	what := fmt.Sprintf("it has %d records, but %d were written", counted.records, b.now.records)
	if counted.records == b.now.records {
		what = "its records are not the ones that were written"
	}
	return &RecordError{Bucket: b.name, What: what}
}

// An entry is a record of a bucket, such as one to be written after the iteration over it has ended.
type entry struct{ key, value []byte }

func putAll(b *bucket, entries []entry) error {
	for _, e := range entries {
		if err := b.put(e.key, e.value); err != nil {
			return fmt.Errorf("write %q: %w", e.key, err)
		}
	}
	return nil
}

// removeAll removes records. The iteration over the bucket must have ended.
func removeAll(b *bucket, keys [][]byte) error {
	for _, k := range keys {
		if err := b.remove(k); err != nil {
			return err
		}
	}
	return nil
}
