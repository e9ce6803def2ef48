package acceptances

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// version is the version of the file's format.
const version = 1

// A file is the parsed content of a file.
type file struct {
	entries []entry
	wrong   []fault
}

// An entry is one acceptance with its line.
type entry struct {
	line     int
	decision model.Decision
}

// A fault is an invalid entry.
type fault struct {
	line   int
	reason string
}

// parse parses a file. It returns an error if the file as a whole is invalid.
func parse(data []byte) (file, error) {
	docs, err := decode.YAML(bytes.NewReader(data))
	switch {
	case err != nil:
		return file{}, err
	case len(docs) != 1:
		return file{}, fmt.Errorf("it holds %d documents, want one that begins with version: %d", len(docs), version)
	}
	list, err := acceptancesOf(docs[0].Value)
	if err != nil {
		return file{}, err
	}
	return readEntries(list, lines(data, docs[0].Line, len(list))), nil
}

// acceptancesOf returns the entries of a document.
func acceptancesOf(doc model.Value) ([]model.Value, error) {
	if doc.Kind() != model.Map {
		return nil, fmt.Errorf("it is not a map: want version: %d and acceptances", version)
	}
	r := reader{value: doc}
	r.keys("version", "acceptances")
	if v := doc.At("version"); !v.Equal(model.IntOf(version)) {
		r.fail("version: want %d", version)
	}
	list := r.list("acceptances")
	return list, r.err()
}

// lines returns the line of each of n entries. If the parsers of lines and of values
// disagree, all entries have the document's line.
func lines(data []byte, first, n int) []int {
	found := make([]int, n)
	for i := range found {
		found[i] = first
	}
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) != 1 {
		return found
	}
	top := doc.Content[0]
	for i := 0; i+1 < len(top.Content); i += 2 {
		list := top.Content[i+1]
		if top.Content[i].Value != "acceptances" || len(list.Content) != n {
			continue
		}
		for k, item := range list.Content {
			found[k] = item.Line
		}
	}
	return found
}

func readEntries(list []model.Value, lines []int) file {
	var f file
	at := map[string]int{}
	for i, v := range list {
		d, err := readEntry(v)
		if err != nil {
			f.wrong = append(f.wrong, fault{lines[i], err.Error()})
			continue
		}
		text := contentOf(&d)
		if earlier, twice := at[text]; twice {
			f.wrong = append(f.wrong, fault{lines[i], fmt.Sprintf("line %d has the same acceptance: remove one of them", earlier)})
			continue
		}
		at[text] = lines[i]
		f.entries = append(f.entries, entry{lines[i], d})
	}
	return f
}

func readEntry(v model.Value) (model.Decision, error) {
	if v.Kind() != model.Map {
		return model.Decision{}, errors.New("not an acceptance: want source, kind, resource, reason, owner and until")
	}
	r := reader{value: v}
	r.keys("source", "kind", "resource", "declaration", "verdict", "check", "severity", "changes", "basis", "reason", "owner", "until", "by")
	d := model.Decision{Kind: model.Accept,
		Subject: model.Target{
			Key:         model.Key{Source: r.given("source"), Kind: r.required("kind"), ID: r.required("resource")},
			Declaration: r.text("declaration"), Verdict: r.verdict("verdict"), Check: r.text("check"),
		},
		Severity: r.severity("severity"), Changes: r.changes("changes"), Basis: r.text("basis"),
		Reason: r.short("reason"), Owner: r.short("owner"), Until: r.end("until"), By: r.text("by")}
	return d, r.err()
}

// contentOf returns the content of a decision, without its place.
func contentOf(d *model.Decision) string {
	content := *d
	content.ID, content.Via, content.At, content.From = "", "", time.Time{}, ""
	text, err := json.Marshal(&content)
	if err != nil {
		panic("acceptances: a decision is not JSON: " + err.Error()) // a decision has only values that JSON supports
	}
	return string(text)
}

// decisions returns the file's decisions for a declaration.
func (f *file) decisions(from, address string, at time.Time) []model.Decision {
	decisions := make([]model.Decision, 0, len(f.entries))
	for _, e := range f.entries {
		d := e.decision
		sum := sha256.Sum256([]byte(from + "\x00" + contentOf(&d)))
		d.ID, d.From, d.At = hex.EncodeToString(sum[:6]), from, at
		d.Via = fmt.Sprintf("%s:%d", address, e.line)
		if d.By == "" {
			d.By = d.Via
		}
		decisions = append(decisions, d)
	}
	return decisions
}

func (f *file) problems(address string) []model.Problem {
	problems := make([]model.Problem, 0, len(f.wrong))
	for _, w := range f.wrong {
		problems = append(problems, model.Problem{Address: fmt.Sprintf("%s:%d", address, w.line), Reason: w.reason})
	}
	return problems
}
