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
)

const (
	// refPrefix begins the reference of a person in an entry.
	refPrefix = "person:"
	// personDomain begins the text that a reference is the hash of.
	personDomain = "driftd/v1 person\n"
	saltSize     = 16
)

// ErrNoPerson is returned for a name to which the log has no reference.
var ErrNoPerson = errors.New("the log has no such person")

// Ref returns the reference that represents the name of a person in entries, which is a salted hash. If
// there is none, Ref stores the salt and the name, separately from the entries, so that they can be erased
// without changing an entry. The reference of "" is "". The reference of an erased name is returned
// unchanged.
func (l *Log) Ref(name string) (string, error) {
	if reference, ok := l.Known(name); ok {
		return reference, nil
	}
	salt := make([]byte, saltSize)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("make a reference: %w", err)
	}
	if err := l.records.Put(personKey(nameRecord, name), salt); err != nil {
		return "", fmt.Errorf("write the reference of a person: %w", err)
	}
	if err := l.records.Put(personKey(personRecord, ref(salt, name)), []byte(name)); err != nil {
		return "", fmt.Errorf("write the name of a person: %w", err)
	}
	return ref(salt, name), nil
}

// Known is like Ref, but stores nothing. ok is false if the name has no reference.
func (l *Log) Known(name string) (reference string, ok bool) {
	if name == "" || l.isErased(name) {
		return name, true
	}
	salt := l.records.Get(personKey(nameRecord, name))
	return ref(salt, name), salt != nil
}

// Matches reports whether a stored text corresponds to a reference: it is the name or, if the name was
// erased, the reference itself. See Report.Erased.
func (l *Log) Matches(reference, text string, erased bool) bool {
	if reference == "" || text == "" || erased {
		return reference == text
	}
	name, err := l.Name(reference)
	return err == nil && name == text && name != reference
}

// isErased reports whether a text is the reference of a name that was erased. The record of the name is
// then empty.
func (l *Log) isErased(text string) bool {
	name := l.records.Get(personKey(personRecord, text))
	return name != nil && len(name) == 0
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

// Name returns the name behind a reference, or the reference itself if the name was erased. It returns
// other texts unchanged. If a name does not match its reference, Name returns a *TamperedError.
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

// Erase deletes the name and the salt of a person, and returns the reference, which remains in entries. The
// caller must replace the name by the reference in stored records, and append an entry of KindErase. Erase
// returns ErrNoPerson for an unknown name.
func (l *Log) Erase(name string) (reference string, err error) {
	salt := l.records.Get(personKey(nameRecord, name))
	if salt == nil {
		return "", fmt.Errorf("%w: %s", ErrNoPerson, name)
	}
	reference = ref(salt, name)
	if err := l.records.Put(personKey(personRecord, reference), []byte{}); err != nil {
		return "", fmt.Errorf("erase the name of a person: %w", err)
	}
	if err := l.records.Remove(personKey(nameRecord, name)); err != nil {
		return "", fmt.Errorf("erase the name of a person: %w", err)
	}
	return reference, nil
}

// Named returns a copy of an entry in whose data the references of persons are replaced by their names, for
// display. References whose names were erased or edited are not replaced.
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
