package store

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// TestOutlinesOfALostPage verifies that a page that cannot be read is an error also in the goroutines that decode
// outlines.
func TestOutlinesOfALostPage(t *testing.T) {
	t.Parallel()
	const size = 1 << 16
	f, err := os.Create(filepath.Join(t.TempDir(), "pages"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	pages, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	c := &chunk{heads: []entry{{pages[:16], pages[16:400]}}}
	var group sync.WaitGroup
	group.Go(func() { newOutlineReader(Filter{}).finish(c) })
	group.Wait()
	if fault := (*panicError)(nil); !errors.As(c.err, &fault) {
		t.Errorf("a lost page: %v", c.err)
	}
	if err := errors.Join(syscall.Munmap(pages), f.Close()); err != nil {
		t.Error(err)
	}
}
