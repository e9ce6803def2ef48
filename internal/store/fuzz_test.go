package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// A form is how the records of a bucket are decoded and encoded.
type form struct {
	bucket string
	// again decodes a record and encodes the result.
	again func(c codec, k, v []byte) ([]byte, error)
}

// packedForm is the form of records with a header and compressed JSON.
func packedForm[T any](head int) func(codec, []byte, []byte) ([]byte, error) {
	return func(c codec, _, v []byte) ([]byte, error) {
		var value T
		if len(v) < head {
			return nil, errCorrupt
		}
		if err := c.unpackJSON(v[head:], &value); err != nil {
			return nil, err
		}
		raw, err := c.packJSON(value)
		return append(bytes.Clone(v[:head]), raw...), err
	}
}

func forms() []form {
	return []form{
		{totalBucket, func(_ codec, _, v []byte) ([]byte, error) { x, err := parseTotal(v); return x.encode(), err }},
		{resourceBucket, func(_ codec, _, v []byte) ([]byte, error) { x, err := parseState(v); return x.encode(), err }},
		{openBucket, func(_ codec, _, v []byte) ([]byte, error) { x, err := parseHead(v); return x.encode(), err }},
		{resolvedBucket, func(_ codec, _, v []byte) ([]byte, error) { x, err := parseHead(v); return x.encode(), err }},
		{seenBucket, func(_ codec, k, v []byte) ([]byte, error) {
			if err := decodeSeen(k, v); err != nil {
				return nil, err
			}
			return momentAt(v).append(nil), nil
		}},
		{versionBucket, func(_ codec, k, v []byte) ([]byte, error) {
			if err := decodeVersion(k, v); err != nil || len(v) == 0 {
				return v, err
			}
			sum, err := versionSum(v)
			if err != nil || sum == (digest{}) {
				return v, err
			}
			actor, err := versionActor(v)
			if err != nil {
				return nil, err
			}
			name, err := json.Marshal(actor)
			return append(sum[:], name...), err
		}},
		{contentBucket, func(c codec, _, v []byte) ([]byte, error) {
			raw, err := c.unpack(v)
			if err != nil {
				return nil, err
			}
			return c.pack(raw)
		}},
		{outboxBucket, func(_ codec, _, v []byte) ([]byte, error) {
			x, err := parseQueued(v)
			return x.encode(), err
		}},
		{newestBucket, func(c codec, _, v []byte) ([]byte, error) {
			run, s, err := c.parseRun(v)
			if err != nil {
				return nil, err
			}
			s.packed, err = c.packJSON(run)
			return s.encode(), err
		}},
		{runBucket, func(c codec, _, v []byte) ([]byte, error) {
			s, err := parseSeries(v)
			if err != nil {
				return nil, err
			}
			next := []byte(`{"id":"run-2","sources":null}`)
			raw, err := c.rawRun(&s, next)
			if err != nil {
				return nil, err
			}
			if s.packed, err = c.pack(raw); s.next {
				s.packed, err = c.packWith(next, raw)
			}
			return s.encode(), err
		}},
		{findingBucket, packedForm[model.Finding](8)},
		{decisionBucket, packedForm[model.Decision](0)},
		{paceBucket, packedForm[model.Pace](0)},
		{receiptBucket, packedForm[string](0)},
		{actionBucket, func(c codec, k, v []byte) ([]byte, error) {
			record, err := c.parseActing(k, v)
			if err != nil {
				return nil, err
			}
			return c.packJSON(record)
		}},
		{auditBucket, func(c codec, k, v []byte) ([]byte, error) {
			if !audit.IsList(k) {
				return v, nil
			}
			raw, err := c.unpack(v)
			if err != nil {
				return nil, err
			}
			return c.pack(raw)
		}},
		{threadBucket, func(c codec, k, v []byte) ([]byte, error) {
			x, err := c.parseThreadOf(k, v)
			if err != nil {
				return nil, err
			}
			raw, err := c.packJSON(x)
			return append(prefixOf(x.Receiver), raw...), err
		}},
		{noteBucket, func(c codec, k, v []byte) ([]byte, error) {
			if err := (&txn{codec: c}).decodeNote(k, v); err != nil || !bytes.HasPrefix(k, []byte(lastNote)) {
				return v, err
			}
			return packedForm[model.SourceRun](8)(c, k, v)
		}},
	}
}

// parseThreadOf is parseThread outside of a transaction.
func (c codec) parseThreadOf(k, v []byte) (model.Thread, error) {
	return (&txn{codec: c}).parseThread(k, v)
}

func TestEveryBucketHasAForm(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, f := range forms() {
		known[f.bucket] = true
	}
	for _, name := range append(bucketNames(), totalBucket) {
		if !known[name] {
			t.Errorf("the fuzz target does not read records of %s", name)
		}
	}
}

// FuzzRecords decodes arbitrary bytes as a record of each bucket. That must not panic, and a
// decoded record must decode to the same value after it is encoded again.
func FuzzRecords(f *testing.F) {
	all := forms()
	for i, form := range all {
		for k, v := range fixtureRecords(f, form.bucket) {
			f.Add(uint8(i), []byte(k), v)
		}
	}
	f.Add(uint8(0), []byte(nil), []byte(nil))
	f.Fuzz(func(t *testing.T, which uint8, k, v []byte) {
		c := mustCodec(t)
		defer c.dec.Close()
		form := all[int(which)%len(all)]
		b := &bucket{name: form.bucket}
		if text := keyText(form.bucket, k); text == "" && len(k) > 1 {
			t.Errorf("key %q has no text", k)
		}
		if _, _, err := b.unseal(k, v); err != nil && !errors.Is(err, errCorrupt) {
			t.Errorf("unseal: %v", err)
		}
		sealed, _ := b.seal(k, v)
		if got, _, err := b.unseal(k, sealed); err != nil || !bytes.Equal(got, v) {
			t.Errorf("unseal what was sealed: %q, %v", got, err)
		}
		once, err := form.again(c, k, v)
		if err != nil {
			if !errors.Is(err, errCorrupt) {
				t.Errorf("%s: got %v, want an error of a damaged file", form.bucket, err)
			}
			return
		}
		twice, err := form.again(c, k, once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s: read and written twice: %v\n%q\n%q", form.bucket, err, once, twice)
		}
	})
}

// fixtureRecords returns the records of a bucket of a small store.
func fixtureRecords(tb testing.TB, name string) map[string][]byte {
	tb.Helper()
	dir := saved(tb)
	records := map[string][]byte{}
	s := openAt(tb, dir, Options{})
	for i := range 3 {
		rec := scan(i, []model.Finding{finding("a", i, reason(minute(i).String()))}, snapshotAt(i, resource("shop/a", minute(i).String())))
		rec.Notices = notices(i, 1)
		rec.Decisions = map[string][]model.Decision{"git": {decision("d", "a")}}
		save(tb, s, rec)
	}
	addActing(tb, s)
	err := s.view("read", func(t *txn) error {
		for _, b := range append(t.all, t.totals) {
			if b.name != name {
				continue
			}
			c := b.cursor()
			for k, v := c.first(); k != nil; k, v = c.next() {
				records[string(k)] = bytes.Clone(v)
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return records
}

// TestClaimedLengthAllocatesNothing decompresses a few bytes whose header states a large size.
func TestClaimedLengthAllocatesNothing(t *testing.T) { //nolint:paralleltest // it measures the allocations of the process
	c := mustCodec(t)
	for name, size := range map[string]uint64{"200 MB": 200 << 20, "an exabyte": 1 << 60} {
		// A frame of one segment with an eight-byte length, and an empty block.
		b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0}
		b = append(binary.LittleEndian.AppendUint64(b, size), 1, 0, 0)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.unpack(b)
		_, errWith := c.unpackWith([]byte("another content"), b)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, errCorrupt) || !errors.Is(errWith, errCorrupt) {
			t.Errorf("%s: got %v and %v", name, err, errWith)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
			t.Errorf("%s: allocated %d bytes", name, n)
		}
	}
}

// FuzzFile verifies files with changed bytes. That must not panic, and must not accept a file that
// cannot be used.
func FuzzFile(f *testing.F) {
	dir := f.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		f.Fatal(err)
	}
	save(f, s, scan(0, []model.Finding{finding("a", 0)}, snapshotAt(0, resource("shop/a", "1"))))
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(Path(dir))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte{0})
	f.Add(uint32(4096*3+10), []byte{0xff, 0xff})
	f.Fuzz(func(t *testing.T, at uint32, change []byte) {
		b := bytes.Clone(whole)
		for i, x := range change {
			b[(int(at)+i)%len(b)] ^= x
		}
		path := Path(t.TempDir())
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		health, err := VerifyFile(path)
		if err != nil || !health.Whole() {
			return
		}
		db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true})
		if err != nil {
			t.Fatalf("it is called whole, and cannot be opened: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
