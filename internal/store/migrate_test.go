package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// largeReceipts and receiptSize make a migration need several transactions.
const largeReceipts, receiptSize = 24, 256 << 10

// migrateLimit is less than the size of the file that a migration writes.
const migrateLimit = 6 << 20

// largeOld returns the content of a large database of an earlier version.
func largeOld(tb testing.TB, version string) []byte {
	tb.Helper()
	dir := tb.TempDir()
	writeFixture(tb, dir, version)
	c, err := newCodec()
	if err != nil {
		tb.Fatal(err)
	}
	defer c.dec.Close()
	setVersionIn(tb, dir, func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(receiptBucket))
		for i := range largeReceipts {
			err = errors.Join(err, b.Put(fmt.Appendf(nil, "r\x00%03d", i), largeReceipt(tb, c, i)))
		}
		return err
	})
	content, err := os.ReadFile(Path(dir))
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

// largeReceipt returns the record of a large receipt.
func largeReceipt(tb testing.TB, c codec, i int) []byte {
	tb.Helper()
	text := make([]byte, receiptSize)
	_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(text) // never returns an error
	packed, err := c.pack(fmt.Appendf(nil, "\"%x\"", text))
	if err != nil {
		tb.Fatal(err)
	}
	return packed
}

// checkMigrated opens a store and verifies that it has the records of the large one.
func checkMigrated(t *testing.T, dir string, runs int) {
	t.Helper()
	s := openAt(t, dir, Options{})
	if got, err := s.Runs(0); err != nil || len(got) != runs {
		t.Errorf("%d runs, %v; want %d", len(got), err, runs)
	}
	err := s.view("count", func(tx *txn) error {
		for i := range largeReceipts {
			if v := tx.receipts.get(fmt.Appendf(nil, "r\x00%03d", i)); !bytes.Equal(v, largeReceipt(t, s.codec, i)) {
				t.Errorf("receipt %d is another one, of %d bytes", i, len(v))
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestKilledWhileMigrating kills a process during a migration. Afterwards the file is the old one,
// unchanged, or the new one with a backup of the old one, and the next process can open either.
func TestKilledWhileMigrating(t *testing.T) {
	t.Parallel()
	for _, version := range []struct {
		name string
		runs int
	}{{"schema-1", 2}, {"schema-2", 4}} {
		t.Run(version.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(18, 3))
			content := largeOld(t, version.name)
			half, killed := 0, 0
			for range 8 {
				dir := t.TempDir()
				if err := os.WriteFile(Path(dir), content, 0o600); err != nil {
					t.Fatal(err)
				}
				if killAt(t, child(t, migrateOnce, dir), Path(dir)+".new", random.Int64N(int64(len(content)))) {
					killed++
				}
				backup := Path(dir) + "." + version.name
				if _, err := os.Stat(Path(dir) + ".new"); err == nil {
					half++
				}
				if now := hash(t, Path(dir)); now != sha256.Sum256(content) && hash(t, backup) != sha256.Sum256(content) {
					t.Fatal("the file is another one, and the old one is not beside it")
				}
				checkMigrated(t, dir, version.runs)
				if hash(t, backup) != sha256.Sum256(content) {
					t.Error("the old file is not as it was")
				}
				if slices.Contains(names(t, dir), fileName+".new") {
					t.Error("what the killed process wrote is left")
				}
			}
			t.Logf("%d killed, %d of them while they wrote", killed, half)
			if half == 0 {
				t.Error("no kill came while the new file was written; the test tests too little")
			}
		})
	}
}

// killAt runs a process and kills it when a file reaches a size. It returns false if the process
// had exited before.
func killAt(t *testing.T, cmd *exec.Cmd, path string, size int64) bool {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err != nil
		case <-tick.C:
			if info, err := os.Stat(path); err == nil && info.Size() >= size {
				_ = cmd.Process.Signal(syscall.SIGKILL) // the process may have exited
			}
		}
	}
}

// TestFullDiskWhileMigrating runs a migrating process into a limit on the file size. The old file
// remains unchanged, and no other file is left.
func TestFullDiskWhileMigrating(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"schema-1", "schema-2"} {
		dir := t.TempDir()
		content := largeOld(t, version)
		if err := os.WriteFile(Path(dir), content, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := child(t, migrateWhenFull, dir).Output()
		if err == nil {
			t.Fatalf("it was migrated: %s", out)
		}
		wantTexts(t, errors.New(string(out)), "migrate "+Path(dir), "too large", "free disk space", "the file is unchanged")
		if hash(t, Path(dir)) != sha256.Sum256(content) {
			t.Error("the file is another one")
		}
		if got := names(t, dir); slices.ContainsFunc(got, func(name string) bool { return name != fileName && name != pidName }) {
			t.Errorf("left behind: %v", got)
		}
		checkMigrated(t, dir, map[string]int{"schema-1": 2, "schema-2": 4}[version])
	}
}
