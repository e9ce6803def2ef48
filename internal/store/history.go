package store

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Version is one value of a resource, from At until the next version.
type Version struct {
	At time.Time
	// Value is nil if the resource was gone.
	Value *model.Value
	// Actor is the last writer that the source reported at that time.
	Actor model.Actor
}

// A ResourceChange is a resource that differs between two times.
type ResourceChange struct {
	Key model.Key
	// Before and After are the values at the two times; nil if the resource did not exist.
	Before, After *model.Value
	// At and Actor are the time and the actor of the last change.
	At    time.Time
	Actor model.Actor
}

// History returns all stored versions of the resource, oldest first. It returns ErrNotFound if no
// scan has read the resource.
func (s *Store) History(key model.Key) ([]Version, error) {
	var versions []Version
	err := s.view("read history of "+key.String(), func(t *txn) error {
		v := t.resources.get(appendKey(nil, key))
		if v == nil {
			return fmt.Errorf("%w: no scan has read this resource", ErrNotFound)
		}
		st, err := parseState(v)
		if err != nil {
			return err
		}
		return each(t.versions, runKey(st.num), func(k, v []byte) error {
			version, err := t.version(momentAt(k[8:]), v)
			versions = append(versions, version)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return versions, nil
}

// Latest returns the last stored value of the resource, or nil if the resource was gone in the last
// scan. It returns ErrNotFound if no scan has read the resource.
func (s *Store) Latest(key model.Key) (latest *model.Value, err error) {
	err = s.view("read the last value of "+key.String(), func(t *txn) error {
		known := t.resources.get(appendKey(nil, key))
		if known == nil {
			return fmt.Errorf("%w: no scan has read this resource", ErrNotFound)
		}
		st, err := parseState(known)
		if err != nil {
			return err
		}
		k, v := t.versions.cursor().seek(versionKey(st.num, st.at))
		if !bytes.HasPrefix(k, runKey(st.num)) {
			return nil
		}
		sum, err := versionSum(v)
		if err == nil {
			latest, err = t.value(sum)
		}
		return err
	})
	return latest, err
}

// maxObservations bounds the number of values of one resource that Observations returns.
const maxObservations = 200

// Observations returns, for each key, the values of the resource that scans read, newest first. The
// list is empty for a resource that no scan has read.
func (s *Store) Observations(keys []model.Key) ([][]model.Observation, error) {
	found := make([][]model.Observation, len(keys))
	err := s.view("read observations", func(t *txn) (err error) {
		for i, key := range keys {
			if found[i], err = t.observations(key); err != nil {
				return fmt.Errorf("resource %s: %w", key, err)
			}
		}
		return nil
	})
	return found, err
}

func (t *txn) observations(key model.Key) ([]model.Observation, error) {
	known := t.resources.get(appendKey(nil, key))
	if known == nil {
		return nil, nil
	}
	st, err := parseState(known)
	if err != nil {
		return nil, err
	}
	var list []model.Observation
	prefix := runKey(st.num)
	c := t.versions.cursor()
	k, v := c.seek(versionKey(st.num, st.at))
	for ; bytes.HasPrefix(k, prefix) && len(list) < maxObservations; k, v = c.prev() {
		sum, err := versionSum(v)
		if err != nil {
			return nil, err
		}
		value, err := t.value(sum)
		if err != nil {
			return nil, err
		}
		list = append(list, model.Observation{At: momentAt(k[8:]).time(), Value: value})
	}
	return list, nil
}

// version decodes a stored version and reads its value.
func (t *txn) version(at moment, v []byte) (Version, error) {
	sum, err := versionSum(v)
	if err != nil {
		return Version{}, err
	}
	value, err := t.value(sum)
	if err != nil {
		return Version{}, err
	}
	actor, err := versionActor(v)
	return Version{At: at.time(), Value: value, Actor: actor}, err
}

func versionActor(v []byte) (model.Actor, error) {
	if len(v) == 0 {
		return model.UnknownActor("the source does not record who removed it"), nil
	}
	var actor model.Actor
	err := parseJSON(v[sha256.Size:], &actor)
	return actor, err
}

// value returns the value with this digest; nil for the zero digest.
func (t *txn) value(sum digest) (*model.Value, error) {
	if (sum == digest{}) {
		return nil, nil
	}
	raw, err := t.content(sum)
	if err != nil {
		return nil, err
	}
	value := new(model.Value)
	return value, parseJSON(raw, value)
}

// content returns the JSON with this digest.
func (t *txn) content(sum digest) ([]byte, error) {
	packed := t.contents.get(sum[:])
	if packed == nil {
		return nil, fmt.Errorf("%w: content %x is missing", errCorrupt, sum)
	}
	return t.parseContent(sum, packed)
}

func (c codec) parseContent(sum digest, packed []byte) ([]byte, error) {
	raw, err := c.unpack(packed)
	if err != nil {
		return nil, err
	}
	if sha256.Sum256(raw) != sum {
		return nil, fmt.Errorf("%w: content %x does not match its digest", errCorrupt, sum)
	}
	return raw, nil
}

// Keys returns the keys of the resources that match text, sorted. A resource matches if Key.String
// returns text, or a string that ends with "/" and text. Keys includes resources that are gone and
// excludes declared values.
func (s *Store) Keys(text string) ([]model.Key, error) {
	var keys []model.Key
	// Comparing the last bytes rules out most keys before they are parsed.
	end := []byte(text[strings.LastIndex(text, "/")+1:])
	err := s.view(fmt.Sprintf("find resource %q", text), func(t *txn) error {
		return each(t.resources, nil, func(k, _ []byte) error {
			if !bytes.HasSuffix(k, end) {
				return nil
			}
			key, err := parseKey(k)
			if err != nil || model.IsDeclared(key.Source) {
				return err
			}
			if name := key.String(); name == text || strings.HasSuffix(name, "/"+text) && text != "" {
				keys = append(keys, key)
			}
			return nil
		})
	})
	return keys, err
}

// Changes returns the resources that differ between the times from and to, sorted by key. If source
// is "", it returns those of all live sources. It omits resources that changed and changed back. It
// returns an error if from is after to.
func (s *Store) Changes(source string, from, to time.Time) ([]ResourceChange, error) {
	if from.After(to) {
		return nil, fmt.Errorf("compare two times: %s is after %s", from.Format(time.RFC3339), to.Format(time.RFC3339))
	}
	var prefix []byte
	if source != "" {
		prefix = prefixOf(source)
	}
	var changes []ResourceChange
	err := s.view("compare two times", func(t *txn) error {
		return each(t.resources, prefix, func(k, v []byte) error {
			st, err := parseState(v)
			if err != nil || st.at <= momentOf(from) || source == "" && model.IsDeclared(string(k[:bytes.IndexByte(k, 0)])) {
				return err
			}
			change, err := t.change(st.num, momentOf(from), momentOf(to))
			if err != nil || change == nil {
				return err
			}
			change.Key, err = parseKey(k)
			changes = append(changes, *change)
			return err
		})
	})
	return changes, err
}

// OldestRead returns the time at which the oldest stored value of the source was read; zero if
// there is none. Changes before that time are unknown.
func (s *Store) OldestRead(source string) (time.Time, error) {
	first := never
	err := s.view("read the oldest value of "+source, func(t *txn) error {
		return each(t.resources, prefixOf(source), func(_, v []byte) error {
			st, err := parseState(v)
			if err != nil {
				return err
			}
			k, _ := t.versions.cursor().seek(runKey(st.num))
			if at := momentAt(k[8:]); first == never || at < first {
				first = at
			}
			return nil
		})
	})
	if first == never {
		return time.Time{}, err
	}
	return first.time(), err
}

// change compares the values of a resource at two times. It returns nil if they are equal.
func (t *txn) change(num uint64, from, to moment) (*ResourceChange, error) {
	_, was := versionAt(t.versions, num, from)
	at, is := versionAt(t.versions, num, to)
	before, err := versionSum(was)
	if err != nil {
		return nil, err
	}
	after, err := versionSum(is)
	if err != nil || before == after {
		return nil, err
	}
	c := &ResourceChange{At: at.time()}
	if c.Before, err = t.value(before); err != nil {
		return nil, err
	}
	if c.After, err = t.value(after); err != nil {
		return nil, err
	}
	c.Actor, err = versionActor(is)
	return c, err
}

// versionAt returns the version of a resource that was current at a moment; nil if there was none
// yet, or if the resource was gone.
func versionAt(versions *bucket, num uint64, at moment) (moment, []byte) {
	key := versionKey(num, at)
	c := versions.cursor()
	k, v := c.seek(key)
	if k == nil {
		k, v = c.last()
	} else if !bytes.Equal(k, key) {
		k, v = c.prev()
	}
	if !bytes.HasPrefix(k, key[:8]) {
		return never, nil
	}
	return momentAt(k[8:]), v
}
