package audit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	// tileHeight is the height of the tiles of c2sp.org/tlog-tiles, and tileWidth the number of
	// hashes in a full one.
	tileHeight = 8
	tileWidth  = 1 << tileHeight
)

// A Range is a half-open range of entries: From is included, To is not.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// A LeftOutError lists the entries that an export does not contain. It matches ErrDropped with errors.Is.
type LeftOutError struct {
	// Ranges are the entries of the bundles that were omitted, in order.
	Ranges []Range
	// Unproved reports whether entries were omitted because they differ from the signed ones.
	Unproved bool
}

// Error lists the ranges.
func (e *LeftOutError) Error() string {
	list := make([]string, len(e.Ranges))
	for i, r := range e.Ranges {
		list[i] = fmt.Sprintf("%d to %d", r.From, r.To-1)
	}
	why := "the retention dropped some of their entries, only the hashes are kept"
	if e.Unproved {
		why = "some of their entries were dropped by the retention, or edited, only the hashes are kept: driftd audit list shows which"
	}
	return "the bundles of the entries " + strings.Join(list, ", ") + " are left out: " + why
}

// Is reports whether target is ErrDropped.
func (e *LeftOutError) Is(target error) bool { return target == ErrDropped }

// Export writes the log in the format of c2sp.org/tlog-tiles: tiles of hashes, bundles of entries, and the
// head as "checkpoint". It calls write once for each file, with the name relative to the folder of the log.
// The checkpoint is written last, so that a reader of the checkpoint finds the other files.
//
// Export omits a bundle with an entry that was dropped, or that was edited and settled by a person. After
// the export is complete, it then returns a *LeftOutError. If the entries and hashes do not match the head,
// it returns a *TamperedError and does not write the checkpoint.
func (l *Log) Export(write func(name string, b []byte) error) error {
	h, err := l.current()
	switch {
	case err != nil:
	case h.Size == 0:
		err = ErrEmpty
	default:
		err = l.export(h, write)
	}
	if err != nil && !errors.Is(err, ErrDropped) {
		return fmt.Errorf("export the audit log: %w", err)
	}
	return err
}

func (l *Log) export(h Head, write func(name string, b []byte) error) error {
	for _, t := range tlog.NewTiles(tileHeight, 0, h.Size) {
		b, err := tlog.ReadTileData(t, l)
		if err != nil {
			return err
		}
		if err := write(fmt.Sprintf("tile/%d/%s", t.L, tilePath(t.N, t.W)), b); err != nil {
			return err
		}
	}
	left, err := l.exportEntries(h, write)
	if err != nil {
		return err
	}
	if err := write("checkpoint", h.Note); err != nil {
		return err
	}
	if len(left.Ranges) > 0 {
		return left
	}
	return nil
}

// exportEntries writes the bundles of entries, and returns the ranges that it leaves out. It checks
// that the leaves of the tiles lead to the head.
func (l *Log) exportEntries(h Head, write func(name string, b []byte) error) (*LeftOutError, error) {
	v := verifier{Log: l}
	left := &LeftOutError{}
	for from := int64(0); from < h.Size; from += tileWidth {
		to := min(from+tileWidth, h.Size)
		b, complete, err := v.bundle(from, to)
		if err != nil {
			return nil, err
		}
		if complete {
			if err := write("tile/entries/"+tilePath(from/tileWidth, int(to-from)), b); err != nil {
				return nil, err
			}
			continue
		}
		if n := len(left.Ranges); n > 0 && left.Ranges[n-1].To == from {
			left.Ranges[n-1].To = to
			continue
		}
		left.Ranges = append(left.Ranges, Range{from, to})
	}
	if open := v.open(); len(open) > 0 {
		return nil, tampered("%s", open[0].text)
	}
	left.Unproved = len(v.unproved) > 0
	if v.root(h.Size) != h.Root {
		return nil, tampered("the tree of %d entries is not the one that was signed", h.Size)
	}
	return left, nil
}

// bundle returns the entries of a range, each after its length. It adds their hashes to the
// subtrees and compares those that they complete with the stored ones.
func (v *verifier) bundle(from, to int64) (b []byte, complete bool, err error) {
	complete = true
	for i := from; i < to; i++ {
		leaf, ok := v.hash(tlog.StoredHashIndex(0, i))
		entry := v.records.Get(indexKey(entryRecord, i))
		switch {
		case !ok:
			return nil, false, tampered("the hash of entry %d is gone", i)
		case entry == nil:
			complete = false
		case tlog.RecordHash(entry) != leaf:
			complete = false
			if f := v.differs(i, leaf, entry); !v.settlements().covers(f) {
				return nil, false, tampered("%s", f.text)
			}
		case len(entry) > maxEntry:
			return nil, false, tampered("entry %d has %d bytes", i, len(entry))
		}
		v.grow(i, leaf)
		if complete {
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(entry))), entry...)
		}
	}
	return b, complete, nil
}

// settlements returns what persons settled, which it reads at the first call.
func (v *verifier) settlements() *settlement {
	if v.settled.faults == nil {
		all := v.Log.verify(nil, nil)
		v.settled = all.settled
	}
	return &v.settled
}

// tilePath returns the end of the name of a tile: its index in groups of three digits, all but the
// last after an "x", and for a tile that is not full its width.
func tilePath(n int64, width int) string {
	path := fmt.Sprintf("%03d", n%1000)
	for n >= 1000 {
		n /= 1000
		path = fmt.Sprintf("x%03d/%s", n%1000, path)
	}
	if width < tileWidth {
		path += fmt.Sprintf(".p/%d", width)
	}
	return path
}
