package store

import (
	"bytes"
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

// FirstLooks returns the saved first complete looks at sources, sorted by source, kind
// and place. They are never pruned.
func (s *Store) FirstLooks() ([]model.FirstRead, error) {
	var looks []model.FirstRead
	err := s.view("read first looks", func(t *txn) error {
		return each(t.notes, []byte(firstNote), func(k, v []byte) error {
			look, err := parseFirstLook(k, v)
			looks = append(looks, look)
			return err
		})
	})
	return looks, err
}

func parseFirstLook(k, v []byte) (model.FirstRead, error) {
	key, err := parseKey(bytes.TrimPrefix(k, []byte(firstNote)))
	if err == nil && len(v) != 8 {
		err = fmt.Errorf("%w: first look of %d bytes", errCorrupt, len(v))
	}
	if err != nil {
		return model.FirstRead{}, err
	}
	return model.FirstRead{Source: key.Source, Scope: model.Scope{Kind: key.Kind, Place: key.ID}, Newest: momentAt(v).time()}, nil
}

// saveFirstLooks saves first looks. It does not overwrite existing ones.
func (t *txn) saveFirstLooks(looks []model.FirstRead) error {
	for _, look := range looks {
		key := model.Key{Source: look.Source, Kind: look.Kind, ID: look.Place}
		if err := validKey(key); err != nil {
			return err
		}
		k := appendKey([]byte(firstNote), key)
		if t.notes.get(k) != nil {
			continue
		}
		if err := t.notes.put(k, momentOf(look.Newest).append(nil)); err != nil {
			return fmt.Errorf("write first look: %w", err)
		}
	}
	return nil
}
