package audit

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// namesLine begins the names that may follow a proof, after an empty line. Each is a line: the reference,
// the salt in base64, and the name as a JSON string.
const namesLine = "driftd/v1 names\n"

// maxNames bounds the names after a proof, in bytes.
const maxNames = 64 << 10

// MaxDisclosed is the maximum size of a proof with names, in bytes.
const MaxDisclosed = MaxProof + len("\n"+namesLine) + maxNames

// A Person is the name of a person to whom a field in the data of an entry refers.
type Person struct {
	// Field is "by", "owner" or "person".
	Field     string
	Reference string
	Name      string
}

// Disclose returns the text that discloses the names of the persons in an entry, with their salts, when it
// is appended to the proof of the entry. It also returns the references of persons whose names were erased.
// names is empty if the entry refers to no person.
func (l *Log) Disclose(index int64) (names []byte, erased []string, err error) {
	e, err := l.Entry(index)
	if err != nil {
		return nil, nil, err
	}
	raw, ok := e.Data.(json.RawMessage)
	if !ok {
		return nil, nil, nil
	}
	var b bytes.Buffer
	for _, p := range persons(raw) {
		name, err := l.Name(p.Reference)
		if err != nil {
			return nil, nil, err
		}
		if name == p.Reference {
			erased = append(erased, p.Reference)
			continue
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, nil, fmt.Errorf("encode a name: %w", err)
		}
		line := fmt.Sprintf("%s %s %s\n", p.Reference, base64.StdEncoding.EncodeToString(l.records.Get(personKey(nameRecord, name))), quoted)
		if !strings.Contains(b.String(), line) {
			b.WriteString(line)
		}
	}
	switch {
	case b.Len() > maxNames:
		return nil, nil, fmt.Errorf("disclose the names of entry %d: they have %d bytes; the limit is %d", index, b.Len(), maxNames)
	case b.Len() == 0:
		return nil, erased, nil
	}
	return append([]byte("\n"+namesLine), b.Bytes()...), erased, nil
}

// persons returns the fields in the data of an entry that hold references, without the names.
func persons(data []byte) (list []Person) {
	var fields map[string]any
	if json.Unmarshal(data, &fields) != nil {
		return nil
	}
	for _, field := range personFields() {
		if text, ok := fields[field].(string); ok && strings.HasPrefix(text, refPrefix) {
			list = append(list, Person{Field: field, Reference: text})
		}
	}
	return list
}

// CheckDisclosed is like Check, but for a proof that may be followed by names. It returns the persons of
// the entry whose names are disclosed, and an error if a name does not match the reference in the entry.
func CheckDisclosed(text []byte, key PublicKey) (Entry, Head, []Person, error) {
	proof, names, disclosed := bytes.Cut(text, []byte("\n\n"+namesLine))
	if disclosed {
		proof = append(bytes.Clone(proof), '\n')
	}
	e, h, err := Check(proof, key)
	if err != nil || !disclosed {
		return e, h, nil, err
	}
	found, err := parseNames(names)
	if err != nil {
		return Entry{}, Head{}, nil, err
	}
	raw, _ := e.Data.(json.RawMessage)
	var list []Person
	for _, p := range persons(raw) {
		if name, ok := found[p.Reference]; ok {
			p.Name = name
			list = append(list, p)
		}
	}
	used := map[string]bool{}
	for _, p := range list {
		used[p.Reference] = true
	}
	if len(used) != len(found) {
		return Entry{}, Head{}, nil, errors.New("read names: they are not those of the entry")
	}
	return e, h, list, nil
}

// parseNames returns the names by their references, which it recomputes.
func parseNames(text []byte) (map[string]string, error) {
	bad := errors.New("read names: they are not as `driftd audit prove --names` writes them")
	lines, whole := strings.CutSuffix(string(text), "\n")
	if !whole || len(text) > maxNames {
		return nil, bad
	}
	found := map[string]string{}
	for line := range strings.SplitSeq(lines, "\n") {
		part := strings.SplitN(line, " ", 3)
		if len(part) != 3 {
			return nil, bad
		}
		salt, err := base64.StdEncoding.DecodeString(part[1])
		var name string
		if err != nil || json.Unmarshal([]byte(part[2]), &name) != nil {
			return nil, bad
		}
		if ref(salt, name) != part[0] {
			return nil, fmt.Errorf("read names: the name and the salt of %s are not those that it was made of", part[0])
		}
		found[part[0]] = name
	}
	return found, nil
}
