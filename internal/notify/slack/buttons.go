package slack

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// The IDs of the buttons and of the modal.
const (
	acknowledgeAction = "driftd_acknowledge"
	snoozeAction      = "driftd_snooze"
	acceptAction      = "driftd_accept"
	acceptModal       = "driftd_accept_form"
)

// maxOption is Slack's limit for the value of a menu option, in characters.
const maxOption = 150

// A span is a choice of a duration: the value in the format of decide.ParseUntil, and the label.
type span struct{ value, label string }

// snoozes returns the choices for a snooze.
func snoozes() []span {
	return []span{{"1h", "1 hour"}, {"4h", "4 hours"}, {"1d", "1 day"}, {"1w", "1 week"}}
}

// A ref identifies the message of a button.
type ref struct {
	receiver, thread string
	sequence         int
}

func (r ref) String() string { return r.receiver + "/" + r.thread + "." + strconv.Itoa(r.sequence) }

// readRef parses the result of String.
func readRef(text string) (ref, bool) {
	slash, dot := strings.LastIndexByte(text, '/'), strings.LastIndexByte(text, '.')
	if slash <= 0 || dot <= slash+1 {
		return ref{}, false
	}
	sequence, err := strconv.Atoi(text[dot+1:])
	return ref{text[:slash], text[slash+1 : dot], sequence}, err == nil
}

// buttons adds the buttons for decisions on the open findings of the thread. If there are more
// findings than the message shows, the buttons ask for confirmation. There are no buttons if
// the thread does not fit into a button's value.
func (s *messageBuilder) buttons(m model.Message) {
	value := ref{m.Receiver, m.Thread, m.Sequence}.String()
	if _, ok := readRef(value); !ok || utf8.RuneCountInString(value)+len("1w:") > maxOption {
		return
	}
	options := make([]*slack.OptionBlockObject, 0, len(snoozes()))
	for _, o := range snoozes() {
		options = append(options, slack.NewOptionBlockObject(o.value+":"+value, plainText(o.label), nil))
	}
	acknowledge := slack.NewButtonBlockElement(acknowledgeAction, value, plainText("Acknowledge"))
	snooze := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, plainText("Snooze"), snoozeAction, options...)
	count := countDecidable(m)
	if m.OpenCount > s.shown {
		acknowledge.Confirm = confirm("Acknowledge", "acknowledges", m.OpenCount)
	}
	if count > s.shown {
		snooze.Confirm = confirm("Snooze", "snoozes", count)
	}
	s.blocks = append(s.blocks, slack.NewActionBlock("", acknowledge, snooze,
		slack.NewButtonBlockElement(acceptAction, strconv.Itoa(count)+":"+value, plainText("Accept…"))))
}

// confirm returns a confirmation dialog with the number of findings.
func confirm(action, does string, count int) *slack.ConfirmationBlockObject {
	return slack.NewConfirmationBlockObject(plainText(action+" all?"), plainText(decisionText(does, count)), plainText(action), plainText("Cancel"))
}

// decisionText returns the text about the number of findings that a button decides on.
func decisionText(does string, count int) string {
	if count == 1 {
		return "This " + does + " 1 finding."
	}
	return "This " + does + " all " + phrase.Number(count) + " findings of this message."
}

// plainText returns a plain text object.
func plainText(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, text, false, false)
}
