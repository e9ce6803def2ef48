package setup

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/phrase"
)

// header is the comment at the top of a configuration.
const header = `Configuration of driftd, written by driftd init. docs/configuration.md has every key.
Check it with driftd config check, and its sources with driftd sources test.
Secrets never stand in this file: a token_file names the file with the token.`

// Text returns the configuration as YAML. Equal configurations have equal texts.
func (c *Configuration) Text() ([]byte, error) {
	var top mapping
	if c.stateDir != "" {
		top.add("The database. Remove this line for the systemd service, which uses /var/lib/driftd.", "state_dir", scalar(c.stateDir))
	}
	top.add("The live systems.\nschedule: {every: 10m} # how often they are read", "sources", entries(c.sources))
	top.add("Where they are declared.", "declarations", entries(c.declarations))
	if c.channel != "" {
		top.add("Who is notified: docs/notifications.md.", "notify", c.notify())
	}
	document := &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{top.node()}, HeadComment: comment(header), FootComment: comment(c.rest())}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	return b.Bytes(), encoder.Close()
}

// notify returns the section with the receiver.
func (c *Configuration) notify() *yaml.Node {
	settings := mapping{flow: true}
	settings.add("", "token_file", scalar(c.slackToken))
	settings.add("", "channel", scalar(c.channel))
	var receiver, notify mapping
	receiver.add("", "name", scalar("slack"))
	receiver.add("", "type", scalar("slack"))
	receiver.add("", "settings", settings.node())
	notify.add("", "receivers", sequence(receiver.node()))
	return notify.node()
}

// rest returns the comment at the end.
func (c *Configuration) rest() string {
	lines := make([]string, 0, len(c.notes)+1)
	for _, note := range c.notes {
		lines = append(lines, phrase.Visible(note))
	}
	if c.channel == "" {
		lines = append(lines, "notify: {receivers: [{name: slack, type: slack, settings: {token_file: slack-token, channel: C0123456789}}]} # docs/slack.md")
	}
	return strings.Join(lines, "\n")
}

// entries returns the list of sources or declarations.
func entries(list []entry) *yaml.Node {
	var items []*yaml.Node
	for _, e := range list {
		item := mapping{comment: e.note}
		item.add("", "name", scalar(e.name))
		item.add("", "type", scalar(e.typ))
		if len(e.governs) > 0 {
			item.add("", "governs", texts(e.governs))
		}
		settings := mapping{flow: !slices.ContainsFunc(e.settings, func(s setting) bool { return s.note != "" })}
		for _, s := range e.settings {
			value := scalar("")
			switch v := s.value.(type) {
			case string:
				value = scalar(v)
			case []string:
				value = texts(v)
			}
			settings.add(s.note, s.key, value)
		}
		if len(e.settings) > 0 {
			item.add("", "settings", settings.node())
		}
		items = append(items, item.node())
	}
	return sequence(items...)
}

// A mapping is a YAML mapping that is being made.
type mapping struct {
	comment string
	flow    bool
	content []*yaml.Node
}

// add adds a key with a comment before it.
func (m *mapping) add(note, key string, value *yaml.Node) {
	name := scalar(key)
	name.HeadComment = comment(note)
	m.content = append(m.content, name, value)
}

func (m *mapping) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: m.content, HeadComment: comment(m.comment)}
	if m.flow {
		n.Style = yaml.FlowStyle
	}
	return n
}

func sequence(items ...*yaml.Node) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
	if len(items) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

func texts(list []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, text := range list {
		n.Content = append(n.Content, scalar(text))
	}
	return n
}

// scalar returns a text. The encoder quotes one that would be read as something else.
func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	if strings.Contains(text, "\n") {
		n.Style = yaml.DoubleQuotedStyle // SetString selects a block, which no flow list may have
	}
	return n
}

// comment returns lines as a comment. Each line is one line of the comment.
func comment(lines string) string {
	if lines == "" {
		return ""
	}
	var all []string
	for line := range strings.SplitSeq(lines, "\n") {
		all = append(all, "# "+phrase.Visible(line))
	}
	return strings.Join(all, "\n")
}
