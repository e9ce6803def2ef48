package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"

	"go.etcd.io/bbolt"
)

// The layout of bbolt's pages, as in its internal/common: a page begins with its id, flags, number
// of elements and number of overflow pages. Elements follow, which point to their keys and values
// in the same page.
const (
	pageHeader  = 16
	elementSize = 16
	metaSize    = 64

	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10
	bucketFlag   = 0x01
	// manyFree in place of the number of elements means that the first id is the number.
	manyFree = 0xffff
	// maxDepth bounds the depth of a tree. A tree of small pages has at most ten levels.
	maxDepth = 64
)

// A metaPage is one of the two meta pages of the file.
type metaPage struct{ pageSize, root, freelist, end, txid uint64 }

// readMeta reads a meta page; ok is false if its checksum does not match.
func readMeta(file *os.File, at int64) (m metaPage, ok bool) {
	page := make([]byte, pageHeader+metaSize)
	if _, err := file.ReadAt(page, at); err != nil {
		return m, false
	}
	b := page[pageHeader:]
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	number := func(i int) uint64 { return binary.NativeEndian.Uint64(b[i:]) }
	m = metaPage{pageSize: uint64(binary.NativeEndian.Uint32(b[8:])), root: number(16), freelist: number(32), end: number(40), txid: number(48)}
	return m, sum.Sum64() == number(metaSize-8)
}

// A walker reads the pages of one state of the file. Unlike bbolt's own check it reads the file and
// not the mapped memory, where a damaged reference is a fault that ends the process.
type walker struct {
	file *os.File
	meta metaPage
	// used are the pages that are referred to.
	used []bool
	errs []error
}

// checkPages verifies the pages that a transaction reads: that each is well formed, that keys are
// in order, and that each page is either in use or free.
func (h *handle) checkPages(tx *bbolt.Tx) []error {
	size := int64(h.db.Info().PageSize)
	for page := range int64(2) {
		m, ok := readMeta(h.file, page*size)
		if ok && m.txid == uint64(tx.ID()) && m.pageSize == uint64(size) && m.end <= uint64(tx.Size()/size) {
			w := &walker{file: h.file, meta: m, used: make([]bool, m.end)}
			w.walk()
			return w.errs
		}
	}
	return []error{fmt.Errorf("%w: neither meta page of the file is that of its last transaction", errCorrupt)}
}

func (w *walker) walk() {
	w.used[0], w.used[1] = true, true
	w.tree("", w.meta.root, nil, nil, maxDepth)
	free, ok := w.freelist()
	if !ok || len(w.errs) > 0 {
		return // the pages in use are not known
	}
	for _, id := range free {
		switch {
		case id < 2 || id >= w.meta.end:
			w.fail("", id, "it is listed as free but is not in the file")
		case w.used[id]:
			w.fail("", id, "it is listed as free but is in use, or is listed twice")
		default:
			w.used[id] = true
		}
	}
	for id, used := range w.used {
		if !used {
			w.fail("", uint64(id), "it is neither in use nor free")
		}
	}
}

func (w *walker) fail(bucket string, id uint64, format string, args ...any) {
	w.errs = append(w.errs, &RecordError{Bucket: bucket, What: fmt.Sprintf("page %d: ", id) + fmt.Sprintf(format, args...)})
}

// page reads a page with its overflow pages and marks them as used.
func (w *walker) page(bucket string, id uint64) []byte {
	if id < 2 || id >= w.meta.end {
		w.fail(bucket, id, "it is not in the file")
		return nil
	}
	head := make([]byte, pageHeader)
	if _, err := w.file.ReadAt(head, int64(id*w.meta.pageSize)); err != nil {
		w.fail(bucket, id, "%v", err)
		return nil
	}
	pages := uint64(binary.NativeEndian.Uint32(head[12:])) + 1
	if got := binary.NativeEndian.Uint64(head); got != id || pages > w.meta.end-id {
		w.fail(bucket, id, "its header is that of page %d with %d overflow pages", got, pages-1)
		return nil
	}
	for i := id; i < id+pages; i++ {
		if w.used[i] {
			w.fail(bucket, i, "it is referred to twice")
			return nil
		}
		w.used[i] = true
	}
	page := make([]byte, pages*w.meta.pageSize)
	if _, err := w.file.ReadAt(page, int64(id*w.meta.pageSize)); err != nil {
		w.fail(bucket, id, "%v", err)
		return nil
	}
	return page
}

// An element is a key of a page with its value or child page.
type element struct {
	flags      uint32
	key, value []byte
	child      uint64
}

// elements decodes the elements of a branch or a leaf page. If an element is outside of the page,
// ok is false.
func elements(page []byte, leaf bool) (list []element, ok bool) {
	n := int(binary.NativeEndian.Uint16(page[10:]))
	if pageHeader+n*elementSize > len(page) {
		return nil, false
	}
	for i := range n {
		at := pageHeader + i*elementSize
		b := page[at:]
		number := func(i int) uint64 { return uint64(binary.NativeEndian.Uint32(b[i:])) }
		var e element
		var pos, keySize, valueSize uint64
		if leaf {
			e.flags, pos, keySize, valueSize = uint32(number(0)), number(4), number(8), number(12)
		} else {
			pos, keySize, e.child = number(0), number(4), binary.NativeEndian.Uint64(b[8:])
		}
		if pos+keySize+valueSize > uint64(len(b)) {
			return nil, false
		}
		e.key, e.value = b[pos:pos+keySize], b[pos+keySize:pos+keySize+valueSize]
		list = append(list, e)
	}
	return list, true
}

// tree verifies a tree whose keys are at least low, and below high if high is not nil. bucket is ""
// for the tree of buckets.
func (w *walker) tree(bucket string, id uint64, low, high []byte, depth int) {
	page := w.page(bucket, id)
	if page == nil {
		return
	}
	if depth == 0 {
		w.fail(bucket, id, "the tree is too deep")
		return
	}
	w.content(bucket, id, page, low, high, depth)
}

// content verifies the contents of a page.
func (w *walker) content(bucket string, id uint64, page, low, high []byte, depth int) {
	flags := binary.NativeEndian.Uint16(page[8:])
	list, ok := elements(page, flags == leafFlag)
	switch {
	case flags != leafFlag && flags != branchFlag:
		w.fail(bucket, id, "it is neither a branch nor a leaf")
		return
	case !ok:
		w.fail(bucket, id, "a key or value lies outside of it")
		return
	case flags == branchFlag && len(list) == 0:
		w.fail(bucket, id, "it is a branch without keys")
		return
	}
	if flags == branchFlag {
		// The subtree of a branch's first key may hold smaller keys.
		list[0].key = low
	}
	for i, e := range list {
		next := high
		if i+1 < len(list) {
			next = list[i+1].key
		}
		if bytes.Compare(e.key, low) < 0 || next != nil && bytes.Compare(e.key, next) >= 0 {
			w.fail(bucket, id, "key %s is out of order", keyText(bucket, e.key))
			return
		}
		if flags == branchFlag {
			w.tree(bucket, e.child, e.key, next, depth-1)
		} else {
			w.leaf(bucket, id, e, depth)
		}
	}
}

// leaf verifies an element of a leaf page: a bucket, or a record.
func (w *walker) leaf(bucket string, id uint64, e element, depth int) {
	switch {
	case bucket == "":
		w.bucket(id, e, depth)
	case e.flags != 0:
		w.fail(bucket, id, "key %s is not a record", keyText(bucket, e.key))
	}
}

// bucket verifies a bucket. A small bucket contains its only page inline and has root 0.
func (w *walker) bucket(id uint64, e element, depth int) {
	const head = 16
	name := printable(string(e.key))
	if e.flags != bucketFlag || len(e.value) < head || name == "" {
		w.fail("", id, "%s is not a bucket", name)
		return
	}
	switch root := binary.NativeEndian.Uint64(e.value); {
	case root != 0:
		w.tree(name, root, nil, nil, depth-1)
	case len(e.value) < head+pageHeader:
		w.fail(name, id, "the bucket is truncated")
	default:
		w.content(name, id, e.value[head:], nil, nil, depth-1)
	}
}

// freelist reads the IDs of the free pages.
func (w *walker) freelist() (ids []uint64, ok bool) {
	page := w.page("", w.meta.freelist)
	if page == nil {
		return nil, false
	}
	n, at := uint64(binary.NativeEndian.Uint16(page[10:])), uint64(pageHeader)
	if n == manyFree {
		n, at = binary.NativeEndian.Uint64(page[at:]), at+8
	}
	if binary.NativeEndian.Uint16(page[8:]) != freelistFlag || n > (uint64(len(page))-at)/8 {
		w.fail("", w.meta.freelist, "it is not the list of free pages")
		return nil, false
	}
	for i := range n {
		ids = append(ids, binary.NativeEndian.Uint64(page[at+i*8:]))
	}
	return ids, true
}
