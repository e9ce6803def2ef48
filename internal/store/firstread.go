package store

import (
	"bytes"
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

// FirstReads returns the stored first complete reads of sources, sorted by source, kind and place.
// Prune does not remove them.
func (s *Store) FirstReads() ([]model.FirstRead, error) {
	var reads []model.FirstRead
	err := s.view("read first reads", func(t *txn) error {
		return each(t.notes, []byte(firstNote), func(k, v []byte) error {
			read, err := parseFirstRead(k, v)
			reads = append(reads, read)
			return err
		})
	})
	return reads, err
}

func parseFirstRead(k, v []byte) (model.FirstRead, error) {
	key, err := parseKey(bytes.TrimPrefix(k, []byte(firstNote)))
	if err == nil && len(v) != 8 {
		err = fmt.Errorf("%w: first read of %d bytes", errCorrupt, len(v))
	}
	if err != nil {
		return model.FirstRead{}, err
	}
	return model.FirstRead{Source: key.Source, Scope: model.Scope{Kind: key.Kind, Place: key.ID}, Newest: momentAt(v).time()}, nil
}

// saveFirstReads stores first reads. It does not overwrite existing ones.
func (t *txn) saveFirstReads(reads []model.FirstRead) error {
	for _, read := range reads {
		key := model.Key{Source: read.Source, Kind: read.Kind, ID: read.Place}
		if err := validKey(key); err != nil {
			return err
		}
		k := appendKey([]byte(firstNote), key)
		if t.notes.get(k) != nil {
			continue
		}
		if err := t.notes.put(k, momentOf(read.Newest).append(nil)); err != nil {
			return fmt.Errorf("write first read: %w", err)
		}
	}
	return nil
}
