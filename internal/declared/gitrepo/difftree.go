package gitrepo

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// A tree is the content of a tree object. Each entry is "mode name", a zero byte and a hash of
// 20 bytes. Entries are sorted by name; the name of a folder sorts as if it ended with "/"
// (gitformat-pack(5) and git's Documentation/technical).
type tree []byte

// An item is the mode and the hash of an entry of a tree, as in the tree; "" if there is no
// entry.
type item string

const hashSize = len(plumbing.ZeroHash)

// folderMode is the mode of a folder.
const folderMode = "40000"

func (i item) hash() (h plumbing.Hash) {
	copy(h[:], i[max(0, len(i)-hashSize):])
	return h
}

func (i item) isFolder() bool {
	return len(i) == len(folderMode)+hashSize && i[:len(folderMode)] == folderMode
}

// next returns the first entry of t, and the rest of t.
func (t tree) next() (name, mode, hash []byte, rest tree, err error) {
	space := bytes.IndexByte(t, ' ')
	if space < 0 {
		return nil, nil, nil, nil, errors.New("malformed tree")
	}
	end := bytes.IndexByte(t[space:], 0) + space
	if end < space || len(t) < end+1+hashSize {
		return nil, nil, nil, nil, errors.New("malformed tree")
	}
	return t[space+1 : end], t[:space], t[end+1 : end+1+hashSize], t[end+1+hashSize:], nil
}

// forEachChange calls visit for each name of t whose item in u differs or is absent.
func (t tree) forEachChange(u tree, visit func(name string, of, in item) error) error {
	for len(t) > 0 {
		name, mode, hash, rest, err := t.next()
		if err != nil {
			return err
		}
		entry := t[:len(t)-len(rest)]
		if bytes.HasPrefix(u, entry) {
			t, u = rest, u[len(entry):]
			continue
		}
		var there item
		if there, u, err = u.find(name, string(mode) == folderMode); err != nil {
			return err
		}
		is := item(mode) + item(hash)
		if t = rest; is == there {
			continue
		}
		if err := visit(string(name), is, there); err != nil {
			return err
		}
	}
	return nil
}

// find returns the item of name, or "", and the rest of the tree after it.
func (t tree) find(name []byte, isFolder bool) (item, tree, error) {
	for len(t) > 0 {
		n, mode, hash, rest, err := t.next()
		if err != nil {
			return "", nil, err
		}
		order := compareNames(n, string(mode) == folderMode, name, isFolder)
		if order == 0 {
			return item(mode) + item(hash), rest, nil
		}
		if order > 0 {
			break
		}
		t = rest
	}
	return "", t, nil
}

// compareNames compares names in the order of trees.
func compareNames(a []byte, aFolder bool, b []byte, bFolder bool) int {
	n := min(len(a), len(b))
	if order := bytes.Compare(a[:n], b[:n]); order != 0 {
		return order
	}
	return int(after(a, n, aFolder)) - int(after(b, n, bFolder))
}

// after returns the byte of name at position n, for compareNames.
func after(name []byte, n int, isFolder bool) byte {
	switch {
	case n < len(name):
		return name[n]
	case isFolder:
		return '/'
	}
	return 0
}

// readTree returns the content of the tree object with the given hash.
func readTree(s storer.EncodedObjectStorer, hash plumbing.Hash) (_ tree, err error) {
	o, err := s.EncodedObject(plumbing.TreeObject, hash)
	if err != nil {
		return nil, damage("tree", hash, err)
	}
	r, err := o.Reader()
	if err != nil {
		return nil, damage("tree", hash, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	content := make(tree, o.Size())
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, damage("tree", hash, err)
	}
	return content, nil
}
