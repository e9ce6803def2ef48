package gitrepo

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// FuzzTree proves that reading arbitrary bytes as a tree does not panic or hang.
func FuzzTree(f *testing.F) {
	whole := "100644 a\x0001234567890123456789" + "40000 b\x0001234567890123456789"
	f.Add([]byte(whole), []byte(whole[:30]))
	f.Add([]byte(""), []byte("100644 "))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		visits := 0
		err := tree(a).forEachChange(b, func(name string, is, was item) error {
			visits++
			if is == was {
				t.Errorf("%q is the same", name)
			}
			_, _, _ = is.hash(), is.isFolder(), was.isFolder()
			return nil
		})
		if err == nil && visits > len(a)/hashSize {
			t.Errorf("%d visits of %d bytes", visits, len(a))
		}
		if err := tree(a).forEachChange(a, func(name string, _, _ item) error { return fmt.Errorf("%q differs from itself", name) }); err != nil && err.Error() != "malformed tree" {
			t.Error(err)
		}
	})
}

// TestForEachChange compares random trees as git writes them.
func TestForEachChange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		trees := rapid.MapOf(rapid.StringMatching(`[a.\-0/]{1,3}`).Filter(func(s string) bool { return s[0] != '/' }), rapid.IntRange(1, 5))
		a, b := trees.Draw(t, "a"), trees.Draw(t, "b")
		of, in := encoded(t, a), encoded(t, b)
		var got []string
		if err := of.forEachChange(in, func(name string, is, was item) error {
			got = append(got, fmt.Sprint(name, " ", is.isFolder(), " ", was == ""))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		want := expectedChanges(entriesOf(a), entriesOf(b))
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v in %v (-want +got):\n%s", a, b, diff)
		}
	})
}

// expectedChanges compares trees by name. A name whose entry was of another kind, folder or
// file, counts as absent before.
func expectedChanges(a, b map[string]object.TreeEntry) []string {
	var want []string
	for name, is := range a {
		was, there := b[name]
		there = there && (is.Mode == filemode.Dir) == (was.Mode == filemode.Dir)
		if !there || is != was {
			want = append(want, fmt.Sprint(name, " ", is.Mode == filemode.Dir, " ", !there))
		}
	}
	slices.Sort(want)
	return want
}

// entriesOf returns the entries of a tree: a name with "/" is a folder.
func entriesOf(of map[string]int) map[string]object.TreeEntry {
	entries := map[string]object.TreeEntry{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		e := object.TreeEntry{Name: name, Mode: filemode.Regular, Hash: plumbing.NewHash(fmt.Sprintf("%040d", of[name]))}
		for i, c := range name {
			if c == '/' {
				e.Name, e.Mode = name[:i], filemode.Dir
				break
			}
		}
		if of[name] == 5 && e.Mode == filemode.Regular {
			e.Mode = filemode.Executable
		}
		entries[e.Name] = e
	}
	return entries
}

// encoded returns a tree in git's encoding.
func encoded(t *rapid.T, of map[string]int) tree {
	written := object.Tree{Entries: slices.Collect(maps.Values(entriesOf(of)))}
	slices.SortFunc(written.Entries, func(a, b object.TreeEntry) int {
		return compareNames([]byte(a.Name), a.Mode == filemode.Dir, []byte(b.Name), b.Mode == filemode.Dir)
	})
	s := memory.NewStorage()
	o := s.NewEncodedObject()
	if err := written.Encode(o); err != nil {
		t.Fatal(err)
	}
	hash, err := s.SetEncodedObject(o)
	if err != nil {
		t.Fatal(err)
	}
	content, err := readTree(s, hash)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
