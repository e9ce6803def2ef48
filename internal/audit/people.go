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

// ErrNoPerson is returned for a name that the log does not have.
var ErrNoPerson = errors.New("the log has no such person")

// Ref returns the reference under which entries name a person: a salted hash. The salt and the
// name are stored apart from the entries, so that they can be erased without changing an entry.
// The reference of the empty name is "", and that of the reference of an erased name is itself.
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

// Known is Ref for a name that may have no reference; ok is false then, and nothing is written.
func (l *Log) Known(name string) (reference string, ok bool) {
	if name == "" || l.isErased(name) {
		return name, true
	}
	salt := l.records.Get(personKey(nameRecord, name))
	return ref(salt, name), salt != nil
}

// Matches reports whether a stored text is what a reference stands for: the name, or the reference
// itself if the name was erased, see Report.Erased.
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

// Erase removes the name and the salt of a person, and returns the reference that remains in entries.
// From then on it stands for itself: stored records must have it in the place of the name. An entry of
// KindErase must record it. The error is ErrNoPerson for an unknown name.
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
