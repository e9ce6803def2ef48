package audit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"
)

// Keys returns the key of the log, followed by its earlier keys, newest first, which signed the older heads
// that witnesses keep. It reads the earlier keys only from entries that the head covers. If Keys returns an
// error, which is a *TamperedError for an entry that the head does not cover, it also returns the keys in
// the other entries.
func (l *Log) Keys() ([]PublicKey, error) {
	keys := []PublicKey{l.key}
	h, err := l.current()
	if err != nil {
		return keys, err
	}
	var first error
	for i := h.Size - 1; i >= 0; i-- {
		b := l.records.Get(indexKey(entryRecord, i))
		if b == nil {
			continue
		}
		older, err := l.olderKeys(h, i, b)
		first = cmp.Or(first, err)
		for _, k := range older {
			if !slices.ContainsFunc(keys, func(have PublicKey) bool { return have.text == k.text }) {
				keys = append(keys, k)
			}
		}
	}
	return keys, first
}

// olderKeys returns the keys that an entry names as those before: one if it records a new key, and
// all if it records that entries were dropped.
func (l *Log) olderKeys(h Head, index int64, b []byte) ([]PublicKey, error) {
	if !ofKind(b, KindKey) && !ofKind(b, KindDrop) {
		return nil, nil
	}
	if !l.signs(&h, index, b) {
		return nil, tampered("entry %d was edited", index)
	}
	e, err := parseEntry(index, b)
	if err != nil {
		return nil, err
	}
	var d struct {
		Rotation
		Drop
	}
	raw, ok := e.Data.(json.RawMessage)
	if !ok || json.Unmarshal(raw, &d) != nil {
		return nil, fmt.Errorf("entry %d: %w", index, errForm)
	}
	if e.Kind == KindKey {
		d.Keys = []string{d.Old}
	}
	keys := make([]PublicKey, len(d.Keys))
	for i, text := range d.Keys {
		if keys[i], err = ParsePublicKey(text); err != nil {
			return nil, fmt.Errorf("entry %d: %w", index, err)
		}
	}
	return keys, nil
}

// olderTexts returns the text forms of the older keys that are certain.
func (l *Log) olderTexts() ([]string, error) {
	keys, err := l.Keys()
	if changed := (*TamperedError)(nil); errors.As(err, &changed) {
		err = nil
	}
	texts := make([]string, 0, len(keys))
	for _, k := range keys[1:] {
		texts = append(texts, k.text)
	}
	return texts, err
}

// ParseHeadBy parses a checkpoint that at least one of the keys, as returned by Keys, has signed. It
// ignores signatures of other keys.
func ParseHeadBy(signed []byte, keys ...PublicKey) (Head, error) {
	if len(signed) > maxHead {
		return Head{}, fmt.Errorf("the head has %d bytes; the limit is %d", len(signed), maxHead)
	}
	n, err := note.Open(signed, verifiers(keys))
	if unsigned := (*note.UnverifiedNoteError)(nil); errors.As(err, &unsigned) {
		return Head{}, notSigned(keys)
	}
	if err != nil {
		return Head{}, fmt.Errorf("read head: %w", err)
	}
	h, err := parseBody(n.Text)
	if err == nil && h.Origin != n.Sigs[0].Name {
		err = fmt.Errorf("the head is of the log %s, not of %s", h.Origin, n.Sigs[0].Name)
	}
	h.Note = signed
	return h, err
}

// ParseUnverified parses a checkpoint without verifying its signatures. The head is marked as Unsigned.
func ParseUnverified(signed []byte) (Head, error) {
	if len(signed) > maxHead {
		return Head{}, fmt.Errorf("the head has %d bytes; the limit is %d", len(signed), maxHead)
	}
	_, err := note.Open(signed, note.VerifierList())
	unsigned := (*note.UnverifiedNoteError)(nil)
	if !errors.As(err, &unsigned) {
		return Head{}, fmt.Errorf("read head: %w", err)
	}
	h, err := parseBody(unsigned.Note.Text)
	h.Note, h.Unsigned = signed, true
	return h, err
}

// verifiers returns the verifiers of the keys, each once.
func verifiers(keys []PublicKey) note.Verifiers {
	var list []note.Verifier
	var seen []string
	for _, k := range keys {
		if k.verifier != nil && !slices.Contains(seen, k.text) {
			list, seen = append(list, k.verifier), append(seen, k.text)
		}
	}
	return note.VerifierList(list...)
}

func notSigned(keys []PublicKey) error {
	switch len(keys) {
	case 0:
		return errors.New("no key to verify the head with")
	case 1:
		return fmt.Errorf("the head is not signed by the key %s", keys[0].text)
	}
	return fmt.Errorf("the head is signed by none of the %d keys of the log; the current one is %s", len(keys), keys[0].text)
}
