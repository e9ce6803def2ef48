package slack

import (
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/phrase"
)

// The bounds of foreign text in a message, in characters.
const (
	maxTitle  = 200
	maxName   = 120
	maxWord   = 60
	maxValue  = 80
	maxReason = 300
	maxSaid   = 120
)

// A prose is a text of our words and foreign ones. It is structure, not
// markup, so that no foreign word can be taken for a mark.
type prose struct {
	elements []slack.RichTextSectionElement
	// struck crosses out what is said from now on.
	struck bool
}

// say says words of ours.
func (p *prose) say(words string) *prose { return p.add(words, slack.RichTextSectionTextStyle{}) }

// stress says words of ours in bold.
func (p *prose) stress(words string) *prose {
	return p.add(words, slack.RichTextSectionTextStyle{Bold: true})
}

// name says a foreign name in bold.
func (p *prose) name(text string, limit int) *prose {
	return p.add(literal(text, limit), slack.RichTextSectionTextStyle{Bold: true})
}

// quote says foreign words.
func (p *prose) quote(text string, limit int) *prose {
	return p.add(literal(text, limit), slack.RichTextSectionTextStyle{})
}

// code says something that is to be typed.
func (p *prose) code(text string) *prose {
	return p.add(clean(text, maxName), slack.RichTextSectionTextStyle{Code: true})
}

func (p *prose) add(text string, style slack.RichTextSectionTextStyle) *prose {
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
	said := slack.NewRichTextSectionTextElement(text, nil)
	if style != (slack.RichTextSectionTextStyle{}) {
		said.Style = &style
	}
	p.elements = append(p.elements, said)
	return p
}

func styleOf(e *slack.RichTextSectionTextElement) slack.RichTextSectionTextStyle {
	if e.Style == nil {
		return slack.RichTextSectionTextStyle{}
	}
	return *e.Style
}

// maxData bounds all foreign data of one phrase, in columns.
const maxData = 300

// phrase adds a phrase: names in bold, times in the reader's time zone.
func (p *prose) phrase(words phrase.Phrase) *prose {
	for _, s := range words.Bound(maxData) {
		switch {
		case !s.At.IsZero():
			p.at(s.At)
		case s.Strong:
			p.name(s.Text, maxName)
		case s.Data:
			p.quote(s.Text, maxReason)
		default:
			p.say(s.Text)
		}
	}
	return p
}

// at says a moment, in the reader's own time.
func (p *prose) at(t time.Time) {
	words := phrase.Stamp(t)
	p.elements = append(p.elements, slack.NewRichTextSectionDateElement(t.Unix(), "{date_short_pretty} {time}", nil, &words))
}

// link says words of ours that lead to an address of ours.
func (p *prose) link(address, words string) {
	p.elements = append(p.elements, slack.NewRichTextSectionLinkElement(address, words, nil))
}

// member and group name somebody of the workspace.
func (p *prose) member(id string) {
	p.elements = append(p.elements, slack.NewRichTextSectionUserElement(id, nil))
}

func (p *prose) group(id string) {
	p.elements = append(p.elements, slack.NewRichTextSectionUserGroupElement(id))
}

// section makes the prose a paragraph.
func (p *prose) section() slack.RichTextElement { return slack.NewRichTextSection(p.elements...) }

// lines makes a paragraph of clean lines in a fixed width.
func lines(text string) slack.RichTextElement {
	return &slack.RichTextPreformatted{Type: slack.RTEPreformatted,
		Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(text, nil)}}
}

// block makes a block of paragraphs.
func block(paragraphs ...slack.RichTextElement) *slack.RichTextBlock {
	return slack.NewRichTextBlock("", paragraphs...)
}
