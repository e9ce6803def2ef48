package audit

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// refPrefix begins the reference of a person in an entry.
	refPrefix = "person:"
	// personDomain begins the text that a reference is the hash of.
	personDomain = "driftd/v1 person\n"
	saltSize     = 16
)

// ErrNoPerson is returned for a name that the log does not have.
var ErrNoPerson = errors.New("the log has no such person")

// Ref returns the reference under which entries name a person: a salted hash. The salt and the
// name are stored apart from the entries, so that they can be erased without changing an entry.
// The reference of the empty name is "".
func (l *Log) Ref(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	salt := l.records.Get(personKey(nameRecord, name))
	if salt == nil {
		salt = make([]byte, saltSize)
		if _, err := rand.Read(salt); err != nil {
			return "", fmt.Errorf("make a reference: %w", err)
		}
		if err := l.records.Put(personKey(nameRecord, name), salt); err != nil {
			return "", fmt.Errorf("write the reference of a person: %w", err)
		}
		if err := l.records.Put(personKey(personRecord, ref(salt, name)), []byte(name)); err != nil {
			return "", fmt.Errorf("write the name of a person: %w", err)
		}
	}
	return ref(salt, name), nil
}

// Matches reports whether a reference in an entry is that of a name. A reference whose name was
// erased matches every name.
func (l *Log) Matches(reference, name string) bool {
	if reference == "" || name == "" {
		return reference == name
	}
	salt := l.records.Get(personKey(nameRecord, name))
	return salt != nil && ref(salt, name) == reference || l.records.Get(personKey(personRecord, reference)) == nil
}

func personKey(kind byte, text string) []byte { return append([]byte{kind}, text...) }

func ref(salt []byte, name string) string {
	sum := sha256.Sum256(append(append([]byte(personDomain), salt...), name...))
	return refPrefix + base64.RawURLEncoding.EncodeToString(sum[:15])
}

// refs returns the references in the bytes of an entry.
func refs(entry []byte) []string {
	var found []string
	for {
		_, rest, ok := bytes.Cut(entry, []byte(`"`+refPrefix))
		if !ok {
			return found
		}
		id, _, _ := bytes.Cut(rest, []byte(`"`))
		found = append(found, refPrefix+string(id))
		entry = rest
	}
}

// Name returns the name behind a reference, and the reference itself if it was erased. Other texts
// are returned as they are. A name that does not match its reference is an edit.
func (l *Log) Name(text string) (string, error) {
	if !strings.HasPrefix(text, refPrefix) {
		return text, nil
	}
	name := string(l.records.Get(personKey(personRecord, text)))
	if name == "" {
		return text, nil
	}
	if salt := l.records.Get(personKey(nameRecord, name)); ref(salt, name) != text {
		return text, tampered("the name of %s was edited", text)
	}
	return name, nil
}

// Erase removes the name and the salt of a person, and appends an entry that records it with the
// reference that remains in other entries. by is the reference of the person who asked for it. The
// error is ErrNoPerson for an unknown name.
func (l *Log) Erase(keys []Key, name, by string, now time.Time) error {
	salt := l.records.Get(personKey(nameRecord, name))
	if salt == nil {
		return fmt.Errorf("%w: %s", ErrNoPerson, name)
	}
	person := ref(salt, name)
	if _, err := l.Append(keys, Entry{Kind: KindErase, Time: now, Data: Erase{person, by}}); err != nil {
		return err
	}
	if err := l.records.Remove(personKey(personRecord, person)); err != nil {
		return fmt.Errorf("erase the name of a person: %w", err)
	}
	if err := l.records.Remove(personKey(nameRecord, name)); err != nil {
		return fmt.Errorf("erase the name of a person: %w", err)
	}
	return nil
}

// Named returns an entry in whose data the references of persons are replaced by their names, for
// people to read. Names that were erased stay references.
func (l *Log) Named(e Entry) (Entry, error) {
	raw, ok := e.Data.(json.RawMessage)
	if !ok || !strings.Contains(string(raw), refPrefix) {
		return e, nil
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return e, fmt.Errorf("entry %d: %w", e.Index, err)
	}
	named, err := l.name(tree)
	if err != nil {
		return e, err
	}
	if raw, err = json.Marshal(named); err != nil {
		return e, fmt.Errorf("entry %d: %w", e.Index, err)
	}
	e.Data = raw
	return e, nil
}

func (l *Log) name(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return l.Name(v)
	case []any:
		for i := range v {
			if v[i], err = l.name(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = l.name(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
