package acceptances

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

const header = `# What was accepted, for a declaration of type acceptances. Each entry holds while
# the finding shows the values that are given, or, with a basis, exactly what it
# showed when this was written.
`

// Write writes a file of acceptances with the decisions of those findings that are accepted; it ignores the
// others. The order of the findings does not affect the output. When the file is read, each entry applies
// to the same findings. Write never writes a secret: a basis replaces values that are secret, absent, or
// changed by YAML. The findings may be Public.
func Write(w io.Writer, findings []model.Finding) error {
	var texts []string
	for i := range findings {
		if f := &findings[i]; f.Accepted() {
			text, err := entryText(f)
			if err != nil {
				return fmt.Errorf("write acceptance of %s: %w", f.ID, err)
			}
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	list := " []\n"
	if texts = slices.Compact(texts); len(texts) > 0 {
		list = "\n" + strings.Join(texts, "")
	}
	if _, err := fmt.Fprintf(w, "%sversion: %d\nacceptances:%s", header, version, list); err != nil {
		return fmt.Errorf("write acceptances: %w", err)
	}
	return nil
}

// entryText returns the text of one entry: with values if these identify the state
// completely, otherwise with a basis in addition to the values, or to the paths only.
func entryText(f *model.Finding) (string, error) {
	var values, paths []model.Change
	for i := range f.Changes {
		values = append(values, shown(&f.Changes[i]))
		paths = append(paths, model.Change{Path: f.Changes[i].Path})
	}
	type form struct {
		changes []model.Change
		basis   string
	}
	forms := []form{{values, f.Basis}, {paths, f.Basis}}
	if complete(f) {
		forms = append([]form{{values, ""}}, forms...)
	}
	for _, form := range forms {
		if text, err := encode(f, form.changes, form.basis); err == nil && holds(text, f) {
			return text, nil
		}
	}
	return "", errors.New("no form of the entry can be read back: make the decision again after the next scan")
}

// complete reports whether the values alone identify the state of a finding. An absent side
// matches any value, so no side that matters may be absent.
func complete(f *model.Finding) bool {
	for i := range f.Changes {
		c := &f.Changes[i]
		if hides(c) || c.Live == nil || c.Declared == nil && f.Verdict != model.Undeclared || c.Running != nil || len(c.Claims) > 0 {
			return false
		}
	}
	return len(f.Changes) > 0
}

// shown returns the part of a change that is written.
func shown(c *model.Change) model.Change {
	if hides(c) {
		return model.Change{Path: c.Path}
	}
	return model.Change{Path: c.Path, Declared: c.Declared, Recorded: c.Recorded, Live: c.Live}
}

// hides reports whether a change contains a secret, sealed or redacted.
func hides(c *model.Change) bool {
	for _, v := range []*model.Value{c.Declared, c.Recorded, c.Live, c.Running} {
		if v != nil && (v.HasSecret() || masked(*v)) {
			return true
		}
	}
	return c.Secret
}

func masked(v model.Value) bool {
	return v.Str() == model.SecretText || slices.ContainsFunc(v.Items(), masked) ||
		slices.ContainsFunc(v.Fields(), func(f model.Field) bool { return masked(f.Value) })
}

// holds reports whether an entry applies to a finding after it is parsed.
func holds(text string, f *model.Finding) bool {
	read, err := parse([]byte(fmt.Sprintf("version: %d\nacceptances:\n%s", version, text)))
	return err == nil && len(read.entries) == 1 && read.entries[0].decision.Holds(f, time.Time{})
}

// encode returns one entry as an element of a list.
func encode(f *model.Finding, changes []model.Change, basis string) (string, error) {
	d := f.Decision
	m := &yaml.Node{Kind: yaml.MappingNode}
	m.Content = append(m.Content, word("source"), word(f.Source)) // it may be empty
	add(m, "kind", word(f.Kind))
	add(m, "resource", word(f.Key.ID))
	add(m, "declaration", word(f.Declaration))
	add(m, "verdict", word(string(f.Verdict)))
	if f.Check != "" {
		add(m, "check", word(f.Check))
	}
	if len(f.Changes) == 0 {
		add(m, "severity", word(string(cmp.Or(d.Severity, f.Severity))))
	}
	if len(changes) > 0 {
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range changes {
			list.Content = append(list.Content, changeNode(&changes[i]))
		}
		add(m, "changes", list)
	}
	add(m, "basis", quoted(basis))
	add(m, "reason", word(d.Reason))
	add(m, "owner", word(d.Owner))
	add(m, "until", &yaml.Node{Kind: yaml.ScalarNode, Value: decide.FormatEnd(d.Until)})
	add(m, "by", word(d.By))
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	err := e.Encode(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{m}})
	return text.String(), cmp.Or(err, e.Close())
}

// add adds a field to a map, unless it is an empty text.
func add(m *yaml.Node, name string, v *yaml.Node) {
	if v.Kind != yaml.ScalarNode || v.Value != "" {
		m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, v)
	}
}

func changeNode(c *model.Change) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	add(m, "path", word(c.Path))
	for _, side := range []struct {
		name  string
		value *model.Value
	}{{"declared", c.Declared}, {"recorded", c.Recorded}, {"live", c.Live}} {
		if side.value != nil {
			m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: side.name}, valueNode(*side.value))
		}
	}
	return m
}

// word returns a node without quotes for a text that every YAML version parses as text, and
// with quotes for any other.
func word(s string) *yaml.Node {
	n := quoted(s)
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 ._/@()+=-]*$`).MatchString(s) {
		return n
	}
	if docs, err := decode.YAML(strings.NewReader(s)); err == nil && len(docs) == 1 && docs[0].Value.Equal(model.StringOf(s)) {
		n.Style = 0
	}
	return n
}

func quoted(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: strings.ToValidUTF8(s, "\ufffd")}
}

// valueNode returns a node whose type is unambiguous; maps and lists are on one line.
func valueNode(v model.Value) *yaml.Node {
	switch v.Kind() {
	case model.List:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range v.Items() {
			n.Content = append(n.Content, valueNode(item))
		}
		return n
	case model.Map:
		n := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, f := range v.Fields() {
			n.Content = append(n.Content, quoted(f.Name), valueNode(f.Value))
		}
		return n
	case model.String:
		return textNode(v.Str())
	case model.Null:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: "null"}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: v.Text()}
}

// textNode returns a literal block for a text with several lines of plain letters.
func textNode(s string) *yaml.Node {
	n := quoted(s)
	plain := !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !strconv.IsPrint(r) })
	if plain && strings.Contains(strings.TrimSuffix(s, "\n"), "\n") && !strings.HasPrefix(s, " ") && !strings.HasPrefix(s, "\n") {
		n.Style = yaml.LiteralStyle
	}
	return n
}
