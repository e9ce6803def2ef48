package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/model"
)

// everything creates a closed store with records in every bucket.
func everything(t *testing.T, dir string) {
	t.Helper()
	s, err := Open(dir, Options{Audit: auditKey(t)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		findings := []model.Finding{finding("a", i, reason(fmt.Sprint(i)))}
		resources := []model.Resource{resource("shop/a", fmt.Sprint(i))}
		if i < 2 {
			resources = append(resources, resource("shop/b", "b"))
			findings = append(findings, finding("b", i))
		} else {
			findings = append(findings, finding("b", 1, resolvedAt(2)))
		}
		rec := scan(i, findings, snapshotAt(i, resources...))
		rec.Run.Sources = []model.SourceRun{{Name: "prod", Type: "kubernetes", Kinds: map[string]int{"kubernetes/ConfigMap": 2}}}
		rec.Run.Declarations = []model.DeclarationRun{{Name: "infra", States: []model.StateRead{{Address: "a", Serial: 3}}}}
		rec.FirstReads = []model.FirstRead{{Source: "prod", Newest: minute(0)}}
		rec.Notices = notices(i, 2)
		rec.Decisions = map[string][]model.Decision{"git": {decision("d", "a")}}
		save(t, s, rec)
	}
	deliver(t, s, "slack", "receipt")
	addActing(t, s)
	if err := s.Reseal(Seal{Rules: "r", Value: func(_ string, v model.Value) model.Value { return v }, Finding: func(*model.Finding) {}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A place is the location of a record in the file.
type place struct{ at, size int }

// placesOf returns the locations of the key and the value of the smallest record of each bucket.
func placesOf(t *testing.T, path string) map[string][]place {
	t.Helper()
	places := map[string][]place{}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	size := os.Getpagesize()
	meta, _ := readMeta(file, 0)
	if other, _ := readMeta(file, int64(size)); other.txid > meta.txid {
		meta = other
	}
	whole, err := os.ReadFile(path)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	where := func(b []byte) place {
		return place{int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(whole)))), len(b)}
	}
	var visit func(bucket string, page []byte)
	at := func(id uint64) []byte { return whole[int(id)*size:] }
	visit = func(bucket string, page []byte) {
		leaf := binary.NativeEndian.Uint16(page[8:]) == leafFlag
		list, _ := elements(page, leaf)
		for _, e := range list {
			switch {
			case !leaf:
				visit(bucket, at(e.child))
			case bucket != "":
				if p := places[bucket]; p == nil || p[1].size > len(e.value) {
					places[bucket] = []place{where(e.key), where(e.value)}
				}
			case binary.NativeEndian.Uint64(e.value) == 0:
				visit(string(e.key), e.value[16:])
			default:
				visit(string(e.key), at(binary.NativeEndian.Uint64(e.value)))
			}
		}
	}
	visit("", at(meta.root))
	return places
}

// flipBit inverts a bit of a file.
func flipBit(t *testing.T, path string, at int, bit uint) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	if _, err := f.ReadAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1 << bit
	if _, err := f.WriteAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestEveryFlippedBitOfARecordIsFound flips each bit of one record of each bucket. Of a long value
// it flips only some bits, unless DRIFTD_TEST_FLIPS is "all".
func TestEveryFlippedBitOfARecordIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	everything(t, dir)
	places := placesOf(t, Path(dir))
	for _, name := range append([]string{metaBucket, totalBucket}, bucketNames()...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(places[name]) == 0 {
				t.Fatal("the bucket has no record")
			}
			path := Path(t.TempDir())
			copyFile(t, Path(dir), path)
			c := mustCodec(t)
			for _, p := range places[name] {
				step := 1 + p.size/40
				if os.Getenv("DRIFTD_TEST_FLIPS") == "all" {
					step = 1
				}
				for i := 0; i < p.size*8; i += step {
					at, bit := p.at+i/8, uint(i%8)
					flipBit(t, path, at, bit)
					health, err := verifyFile(path, c)
					if err != nil || health.Whole() {
						t.Fatalf("byte %d, bit %d: got %+v, %v", at, bit, health, err)
					}
					flipBit(t, path, at, bit)
				}
			}
			if health, err := verifyFile(path, c); err != nil || !health.Whole() || health.Records == 0 {
				t.Errorf("the file is unchanged, got %+v, %v", health, err)
			}
		})
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFlippedBitsAnywhere flips bits anywhere in the file. Each is reported, or changes no stored
// data.
//
//nolint:paralleltest // A flipped length may lead bbolt to memory of another test, which is a data race.
func TestFlippedBitsAnywhere(t *testing.T) {
	const seed = 18
	flips := 600
	if testing.Short() {
		flips = 200
	}
	dir := t.TempDir()
	everything(t, dir)
	whole, err := os.ReadFile(Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	before := dump(t, Path(dir))
	random := rand.New(rand.NewPCG(seed, 1))
	c := mustCodec(t)
	named := 0
	for range flips {
		at, bit := random.IntN(len(whole)), uint(random.IntN(8))
		flipBit(t, Path(dir), at, bit)
		health, err := verifyFile(Path(dir), c)
		if err != nil {
			t.Fatalf("byte %d, bit %d: %v", at, bit, err)
		}
		if health.Whole() {
			if diff := cmp.Diff(before, dump(t, Path(dir))); diff != "" {
				t.Fatalf("byte %d, bit %d is not named: %s", at, bit, diff)
			}
		} else {
			named++
		}
		flipBit(t, Path(dir), at, bit)
	}
	if named == 0 {
		t.Error("no flip was ever named")
	}
	t.Logf("named %d of %d flips; the others are in free pages and padding", named, flips)
}

// dump returns every record of a file.
func dump(t *testing.T, path string) string {
	t.Helper()
	var out strings.Builder
	db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			fmt.Fprintf(&out, "%s %d\n", name, b.Sequence())
			return b.ForEach(func(k, v []byte) error {
				fmt.Fprintf(&out, "%x %x\n", k, v)
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLostAndMovedRecordsAreFound changes the file through bbolt, so that all pages are well
// formed.
func TestLostAndMovedRecordsAreFound(t *testing.T) {
	t.Parallel()
	first := func(tx *bbolt.Tx, name string) (b *bbolt.Bucket, k, v []byte) {
		b = tx.Bucket([]byte(name))
		k, v = b.Cursor().First()
		return b, bytes.Clone(k), bytes.Clone(v)
	}
	cases := map[string]struct {
		change    func(*bbolt.Tx) error
		wantTexts []string
	}{
		"lost": {func(tx *bbolt.Tx) error {
			b, k, _ := first(tx, openBucket)
			return b.Delete(k)
		}, []string{"bucket open", "has 0 records, but 1 were written"}},
		"under another key": {func(tx *bbolt.Tx) error {
			b, k, v := first(tx, resourceBucket)
			if err := b.Delete(k); err != nil {
				return err
			}
			return b.Put(append(k, 'x'), v)
		}, []string{"bucket resources, record prod/kubernetes/ConfigMap/shop/ax", "checksum"}},
		"in another bucket": {func(tx *bbolt.Tx) error {
			_, k, v := first(tx, openBucket)
			return tx.Bucket([]byte(resolvedBucket)).Put(k, v)
		}, []string{"bucket resolved, record a", "checksum"}},
		"an older version": {func(tx *bbolt.Tx) error {
			// The record is well formed, but is not the last one that was written.
			b := newBucket(seenBucket, tx.Bucket([]byte(seenBucket)))
			sealed, _ := b.seal(prefixOf("prod"), momentOf(minute(0)).append(nil))
			return b.raw.Put(prefixOf("prod"), sealed)
		}, []string{"bucket seen", "not the ones that were written"}},
		"sequence": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(versionBucket)).SetSequence(1)
		}, []string{"bucket versions", "sequence"}},
		"sequence of the schema": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(metaBucket)).SetSequence(1)
		}, []string{"bucket meta", "sequence"}},
		"sequence of the totals": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(totalBucket)).SetSequence(1)
		}, []string{"bucket totals", "sequence"}},
		"total": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(totalBucket)).Delete([]byte(runBucket))
		}, []string{"bucket runs", "total is missing"}},
		"schema version": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(metaBucket)).Put([]byte(schemaKey), []byte("2"))
		}, []string{"bucket meta, record schema", "it is 2", "written as 6"}},
		"no checksum": {func(tx *bbolt.Tx) error {
			b, k, _ := first(tx, contentBucket)
			return b.Put(k, []byte("abc"))
		}, []string{"bucket contents", "3 bytes has no checksum"}},
		"a bucket for a record": {func(tx *bbolt.Tx) error {
			_, err := tx.Bucket([]byte(openBucket)).CreateBucket([]byte("x"))
			return err
		}, []string{"bucket open", "key x is not a record"}},
		"unknown note": {func(tx *bbolt.Tx) error {
			b := newBucket(noteBucket, tx.Bucket([]byte(noteBucket)))
			return b.put([]byte("x"), nil)
		}, []string{"bucket notes, record x", "unknown note"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			everything(t, dir)
			setVersionIn(t, dir, c.change)
			health, err := VerifyFile(Path(dir))
			if err != nil || health.Whole() {
				t.Fatalf("got %+v, %v", health, err)
			}
			wantTexts(t, health.Err(), c.wantTexts...)
		})
	}
}
