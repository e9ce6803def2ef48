package slack

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/web"
)

// A block is one of Block Kit, or an element of one: those that messages are
// made of have these fields.
// https://docs.slack.dev/reference/block-kit/blocks
type block struct {
	Type string `json:"type"`
	// Text is a text object, or the plain text of an element.
	Text text `json:"text"`
	// Elements are those of rich text, of a context and of actions; Fields those
	// of a section.
	Elements []block `json:"elements"`
	Fields   []text  `json:"fields"`
	// Placeholder is what a menu shows.
	Placeholder text   `json:"placeholder"`
	Style       style  `json:"style"`
	URL         string `json:"url"`
	Fallback    string `json:"fallback"`
	UserID      string `json:"user_id"`
	GroupID     string `json:"usergroup_id"`
}

// A text is a text object of Block Kit, or just a text.
type text struct{ kind, text string }

// UnmarshalJSON reads either form.
func (t *text) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &t.text); err == nil {
		return nil
	}
	var object struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	t.kind, t.text = object.Type, object.Text
	return nil
}

// mrkdwn is the text in Slack's marks.
func (t text) mrkdwn() string {
	if t.kind == "mrkdwn" {
		return t.text
	}
	return escape(t.text)
}

// A style is how a piece of rich text looks. Buttons have a word in its place.
type style struct{ bold, italic, strike, code bool }

// UnmarshalJSON reads the style of rich text, and nothing of a button's.
func (s *style) UnmarshalJSON(data []byte) error {
	var set map[string]bool
	if json.Unmarshal(data, &set) == nil {
		*s = style{set["bold"], set["italic"], set["strike"], set["code"]}
	}
	return nil
}

func readBlocks(list string) ([]block, error) {
	if list == "" {
		return nil, nil
	}
	var blocks []block
	if err := json.Unmarshal([]byte(list), &blocks); err != nil {
		return nil, fmt.Errorf("decode blocks: %w", err)
	}
	return blocks, nil
}

// parts are the blocks as a page shows them.
func parts(blocks []block) []web.Part {
	var list []web.Part
	for _, b := range blocks {
		switch b.Type {
		case "header":
			list = append(list, web.Part{Kind: web.Header, Text: b.Text.text})
		case "divider":
			list = append(list, web.Part{Kind: web.Divider})
		case "section":
			lines := []string{b.Text.mrkdwn()}
			for _, field := range b.Fields {
				lines = append(lines, field.mrkdwn())
			}
			list = append(list, web.Part{Kind: web.Section, Text: strings.TrimSpace(strings.Join(lines, "\n"))})
		case "context":
			var words []string
			for _, e := range b.Elements {
				words = append(words, text{e.Type, e.Text.text}.mrkdwn())
			}
			list = append(list, web.Part{Kind: web.Context, Text: strings.Join(words, " ")})
		case "actions":
			var words []string
			for _, e := range b.Elements {
				words = append(words, e.Text.text+e.Placeholder.text)
			}
			list = append(list, web.Part{Kind: web.Buttons, Buttons: words})
		case "rich_text":
			for _, e := range b.Elements {
				list = append(list, web.Part{Kind: web.Section, Text: e.rich()})
			}
		}
	}
	return list
}

// rich is a paragraph of rich text in Slack's marks.
func (b block) rich() string {
	var s strings.Builder
	for _, e := range b.Elements {
		s.WriteString(e.word())
	}
	if b.Type == "rich_text_preformatted" {
		return "```\n" + s.String() + "\n```"
	}
	return s.String()
}

// word is a piece of rich text.
func (b block) word() string {
	switch b.Type {
	case "text":
		return b.Style.mark(escape(b.Text.text))
	case "link":
		if b.Text.text == "" {
			return "<" + b.URL + ">"
		}
		return "<" + b.URL + "|" + escape(b.Text.text) + ">"
	case "date":
		return escape(b.Fallback)
	case "user":
		return "<@" + b.UserID + ">"
	case "usergroup":
		return "<!subteam^" + b.GroupID + ">"
	}
	return ""
}

// mark puts marks around a text, inside of the spaces and lines around it: marks
// stand at words.
func (s style) mark(text string) string {
	bare := strings.TrimSpace(text)
	if bare == "" {
		return text
	}
	before, after, _ := strings.Cut(text, bare)
	for _, m := range []struct {
		set  bool
		sign string
	}{{s.code, "`"}, {s.bold, "*"}, {s.italic, "_"}, {s.strike, "~"}} {
		if m.set {
			bare = m.sign + bare + m.sign
		}
	}
	return before + bare + after
}

// escape is a text without marks of links and mentions.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
