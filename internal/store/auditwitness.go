package store

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/driftd/driftd/internal/audit"
)

// A Published describes the heads of the audit log that were sent to a witness.
type Published struct {
	// Size and Root are those of the last head that was sent.
	Size int64  `json:"size"`
	Root string `json:"root"`
	// Heads is the number of different heads that were sent.
	Heads int `json:"heads"`
	// ComparedSize and ComparedRoot are those of the newest head up to which the witness was
	// compared with the log without a difference.
	ComparedSize int64  `json:"compared_size,omitempty"`
	ComparedRoot string `json:"compared_root,omitempty"`
}

// Published returns the heads that were sent to each witness, by the name of the witness.
func (s *Store) Published() (map[string]Published, error) {
	all := map[string]Published{}
	err := s.view("read the heads that witnesses have", func(t *txn) error {
		return each(t.notes, []byte(witnessNote), func(k, v []byte) error {
			var p Published
			err := parseJSON(v, &p)
			all[string(bytes.TrimPrefix(k, []byte(witnessNote)))] = p
			return err
		})
	})
	return all, err
}

// AddPublished records that the witness accepted the head.
func (s *Store) AddPublished(witness string, h *audit.Head) error {
	return s.update("remember the head that a witness took", func(t *txn) error {
		p, err := t.published(witness)
		if err != nil {
			return err
		}
		root := h.Root.String()
		if p.Size == h.Size && p.Root == root {
			return nil
		}
		p.Size, p.Root, p.Heads = h.Size, root, p.Heads+1
		return t.setPublished(witness, p)
	})
}

// SetCompared records the newest head up to which each witness was compared without a difference,
// by the name of the witness.
func (s *Store) SetCompared(heads map[string]audit.Head) error {
	if len(heads) == 0 {
		return nil
	}
	return s.update("remember the heads that were compared", func(t *txn) error {
		for witness, h := range heads {
			p, err := t.published(witness)
			if err != nil {
				return err
			}
			p.ComparedSize, p.ComparedRoot = h.Size, h.Root.String()
			if err := t.setPublished(witness, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetPublished replaces the heads that were sent to each witness, by the name of the witness. It is
// used after a person settled that witnesses lack heads. The compared heads remain. A witness with
// neither is removed.
func (s *Store) SetPublished(all map[string]Published) error {
	return s.update("remember the heads that witnesses have", func(t *txn) error {
		for witness, p := range all {
			was, err := t.published(witness)
			if err != nil {
				return err
			}
			p.ComparedSize, p.ComparedRoot = was.ComparedSize, was.ComparedRoot
			if err := t.setPublished(witness, p); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *txn) published(witness string) (p Published, err error) {
	if v := t.notes.get([]byte(witnessNote + witness)); v != nil {
		err = parseJSON(v, &p)
	}
	return p, err
}

func (t *txn) setPublished(witness string, p Published) error {
	key := []byte(witnessNote + witness)
	if p.Heads == 0 && p.ComparedSize == 0 {
		return t.notes.remove(key)
	}
	v, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode the last head of a witness: %w", err)
	}
	return t.notes.put(key, v)
}

// RecordDoubt puts the audit log in doubt as PutInDoubt does. If the log is already in doubt for
// another reason, RecordDoubt appends an entry with this reason. It is used before a person settles
// the doubt.
func (s *Store) RecordDoubt(what string) error {
	return s.updateAudit("record a doubt about the audit log", func(t *txn) error {
		before, err := t.readDoubt()
		now := s.o.Now()
		switch {
		case err != nil:
			return err
		case before == nil:
			return t.doubt(what, now)
		case before.What == what:
			return nil
		}
		return t.record(audit.Entry{Kind: audit.KindDoubt, Time: now, Data: doubtData{what}})
	})
}
