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

// maxName is the length in bytes from which on a name is not its own key: the keys of a database
// are bounded.
const maxName = 1 << 10

func personKey(kind byte, text string) []byte {
	if len(text) > maxName {
		sum := sha256.Sum256([]byte(text))
		text = "sha256:" + base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return append([]byte{kind}, text...)
}

func ref(salt []byte, name string) string {
	sum := sha256.Sum256(append(append([]byte(personDomain), salt...), name...))
	return refPrefix + base64.RawURLEncoding.EncodeToString(sum[:15])
}

// personFields returns the fields at the top of the data of an entry that hold references. Other
// texts may look like one: a reason, or a file name.
func personFields() []string { return []string{"by", "owner", "person"} }

// refs returns the references in the data of an entry.
func refs(data []byte) (found []string) {
	if !bytes.Contains(data, []byte(`"`+refPrefix)) {
		return nil
	}
	for _, p := range persons(data) {
		found = append(found, p.Reference)
	}
	return found
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
// people to read. Names that were erased or edited stay references.
func (l *Log) Named(e Entry) (Entry, error) {
	raw, ok := e.Data.(json.RawMessage)
	if !ok || !strings.Contains(string(raw), refPrefix) {
		return e, nil
	}
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return e, nil //nolint:nilerr // the data of a newer version is shown as it is
	}
	for _, field := range personFields() {
		text, ok := fields[field].(string)
		if !ok {
			continue
		}
		// A name that was edited stays the reference, and Verify reports it.
		fields[field], _ = l.Name(text)
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return e, fmt.Errorf("entry %d: %w", e.Index, err)
	}
	e.Data = raw
	return e, nil
}
