package slack

import (
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/phrase"
)

// Limits of data from other systems in a message, in characters.
const (
	maxTitle  = 200
	maxName   = 120
	maxWord   = 60
	maxValue  = 80
	maxReason = 300
)

// A richText is a paragraph of fixed words and of data from other systems. It consists of
// elements, not of markup, so that data cannot contain marks.
type richText struct {
	elements []slack.RichTextSectionElement
	// struck is set to strike through all further text.
	struck bool
}

// words adds fixed words.
func (p *richText) words(text string) *richText { return p.add(text, slack.RichTextSectionTextStyle{}) }

// bold adds fixed words in bold.
func (p *richText) bold(words string) *richText {
	return p.add(words, slack.RichTextSectionTextStyle{Bold: true})
}

// name adds data in bold.
func (p *richText) name(text string, limit int) {
	p.add(literal(text, limit), slack.RichTextSectionTextStyle{Bold: true})
}

// data adds data.
func (p *richText) data(text string, limit int) *richText {
	return p.add(literal(text, limit), slack.RichTextSectionTextStyle{})
}

// code adds a command.
func (p *richText) code(text string) *richText {
	return p.add(clean(text, maxName), slack.RichTextSectionTextStyle{Code: true})
}

func (p *richText) add(text string, style slack.RichTextSectionTextStyle) *richText {
	if text == "" {
		return p
	}
	style.Strike = p.struck
	if n := len(p.elements); n > 0 {
		if last, ok := p.elements[n-1].(*slack.RichTextSectionTextElement); ok && styleOf(last) == style {
			last.Text += text
			return p
		}
	}
	element := slack.NewRichTextSectionTextElement(text, nil)
	if style != (slack.RichTextSectionTextStyle{}) {
		element.Style = &style
	}
	p.elements = append(p.elements, element)
	return p
}

func styleOf(e *slack.RichTextSectionTextElement) slack.RichTextSectionTextStyle {
	if e.Style == nil {
		return slack.RichTextSectionTextStyle{}
	}
	return *e.Style
}

// maxData is the maximum width of all data of one phrase, in columns.
const maxData = 300

// phrase adds a phrase, with names in bold and times in the reader's time zone.
func (p *richText) phrase(words phrase.Phrase) {
	for _, s := range words.Bound(maxData) {
		switch {
		case !s.At.IsZero():
			p.at(s.At)
		case s.Strong:
			p.name(s.Text, maxName)
		case s.Data:
			p.data(s.Text, maxReason)
		default:
			p.words(s.Text)
		}
	}
}

// at adds a time. Slack shows it in the reader's time zone.
func (p *richText) at(t time.Time) {
	words := phrase.Stamp(t)
	p.elements = append(p.elements, slack.NewRichTextSectionDateElement(t.Unix(), "{date_short_pretty} {time}", nil, &words))
}

// link adds a link to a page, with words as its text.
func (p *richText) link(address, words string) {
	p.elements = append(p.elements, slack.NewRichTextSectionLinkElement(address, words, nil))
}

// member adds a mention of a member of the workspace.
func (p *richText) member(id string) {
	p.elements = append(p.elements, slack.NewRichTextSectionUserElement(id, nil))
}

// group adds a mention of a user group.
func (p *richText) group(id string) {
	p.elements = append(p.elements, slack.NewRichTextSectionUserGroupElement(id))
}

// section returns the paragraph.
func (p *richText) section() slack.RichTextElement { return slack.NewRichTextSection(p.elements...) }

// lines returns a paragraph of preformatted lines. text must be clean.
func lines(text string) slack.RichTextElement {
	return &slack.RichTextPreformatted{Type: slack.RTEPreformatted,
		Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(text, nil)}}
}

// block returns a block of paragraphs.
func block(paragraphs ...slack.RichTextElement) *slack.RichTextBlock {
	return slack.NewRichTextBlock("", paragraphs...)
}
