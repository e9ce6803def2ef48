package slack

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/web"
)

// A block is a Block Kit block or an element of one, with the fields that driftd's messages
// use.
// https://docs.slack.dev/reference/block-kit/blocks
type block struct {
	Type string `json:"type"`
	// Text is a text object, or the plain text of an element.
	Text text `json:"text"`
	// Elements are the elements of rich text, a context or actions. Fields are the fields of a
	// section.
	Elements []block `json:"elements"`
	Fields   []text  `json:"fields"`
	// Placeholder is the placeholder of a menu.
	Placeholder text   `json:"placeholder"`
	Style       style  `json:"style"`
	URL         string `json:"url"`
	Fallback    string `json:"fallback"`
	UserID      string `json:"user_id"`
	GroupID     string `json:"usergroup_id"`
}

// A text is a Block Kit text object or a string.
type text struct{ kind, text string }

// UnmarshalJSON decodes a text object or a string.
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

// mrkdwn returns t in Slack's mrkdwn format.
func (t text) mrkdwn() string {
	if t.kind == "mrkdwn" {
		return t.text
	}
	return escape(t.text)
}

// A style is the style of a rich text element. For buttons, the JSON field is a string.
type style struct{ bold, italic, strike, code bool }

// UnmarshalJSON decodes the style of rich text and ignores that of a button.
func (s *style) UnmarshalJSON(data []byte) error {
	var set map[string]bool
	if json.Unmarshal(data, &set) == nil {
		*s = style{set["bold"], set["italic"], set["strike"], set["code"]}
	}
	return nil
}

// readBlocks decodes a JSON list of blocks. It returns nil if list is "".
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

// parts converts blocks to the parts of a message on the page.
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
				list = append(list, web.Part{Kind: web.Section, Text: e.paragraph()})
			}
		}
	}
	return list
}

// paragraph returns a paragraph of rich text in mrkdwn.
func (b block) paragraph() string {
	var s strings.Builder
	for _, e := range b.Elements {
		s.WriteString(e.element())
	}
	if b.Type == "rich_text_preformatted" {
		return "```\n" + s.String() + "\n```"
	}
	return s.String()
}

// element returns an element of rich text in mrkdwn. It returns "" for an unknown type.
func (b block) element() string {
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

// mark adds formatting marks around text. White space around it stays outside, because marks must
// be adjacent to words.
func (s style) mark(text string) string {
	word := strings.TrimSpace(text)
	if word == "" {
		return text
	}
	before, after, _ := strings.Cut(text, word)
	for _, m := range []struct {
		set  bool
		sign string
	}{{s.code, "`"}, {s.bold, "*"}, {s.italic, "_"}, {s.strike, "~"}} {
		if m.set {
			word = m.sign + word + m.sign
		}
	}
	return before + word + after
}

// escape escapes the characters that begin and end links and mentions.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
