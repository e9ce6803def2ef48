package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
)

// The names of the form's inputs, and the choices of until when that are no
// spans.
const (
	reasonInput = "reason"
	ownerInput  = "owner"
	untilInput  = "until"
	dateInput   = "date"
	inputAction = "value"

	untilDate    = "date"
	untilForever = "forever"
)

// maxInput bounds what may be written into the form, in characters.
const maxInput = 500

func acceptances() []span {
	return []span{{"1d", "1 day", day}, {"1w", "1 week", 7 * day}, {"30d", "30 days", 30 * day}, {"90d", "90 days", 90 * day}}
}

// readOption reads a choice and what it is about.
func readOption(value string) (choice, rest string) {
	choice, rest, _ = strings.Cut(value, ":")
	return choice, rest
}

// An origin is the message from which a form was opened.
type origin struct {
	Ref     string `json:"ref"`
	Channel string `json:"channel"`
	TS      string `json:"ts"`
}

// showForm asks for what an acceptance needs.
func (e *ear) showForm(ctx context.Context, heard *press) {
	from, err := json.Marshal(origin{heard.ref.String(), heard.channel, heard.ts})
	if err == nil {
		err = e.wire.call(ctx, "open form", func() error {
			_, err := e.api.OpenViewContext(ctx, heard.trigger, form(string(from), heard.name))
			return err
		})
	}
	if err != nil {
		e.env.Log.Warn("a form is not shown", "err", err)
		e.whisper(ctx, heard, (&prose{}).say("The form could not be shown: ").quote(err.Error(), maxReason))
	}
}

func form(from, owner string) slack.ModalViewRequest {
	reason := slack.NewPlainTextInputBlockElement(caption("Why may it stay as it is?"), inputAction)
	reason.Multiline, reason.MaxLength = true, maxInput
	who := slack.NewPlainTextInputBlockElement(caption("A person or a team"), inputAction)
	who.MaxLength, who.InitialValue = maxInput, clean(owner, maxWord)
	var choices []*slack.OptionBlockObject
	for _, a := range acceptances() {
		choices = append(choices, slack.NewOptionBlockObject(a.value, caption("for "+a.words), nil))
	}
	choices = append(choices, slack.NewOptionBlockObject(untilDate, caption("until the end of a day, below"), nil),
		slack.NewOptionBlockObject(untilForever, caption("for ever"), nil))
	end := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, caption("Choose"), inputAction, choices...)
	date := slack.NewInputBlock(dateInput, caption("Day"), caption("In UTC"), slack.NewDatePickerBlockElement(inputAction))
	date.Optional = true
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: acceptForm, PrivateMetadata: from,
		Title: caption("Accept drift"), Submit: caption("Accept"), Close: caption("Cancel"),
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewInputBlock(reasonInput, caption("Reason"), nil, reason),
			slack.NewInputBlock(ownerInput, caption("Owner"), caption("Who answers for it"), who),
			slack.NewInputBlock(untilInput, caption("How long"), nil, end),
			date,
		}},
	}
}

// readForm reads a form that was sent. What is wrong with it comes back by
// input; both are nil where it is no form of driftd's.
func readForm(c *slack.InteractionCallback, now time.Time) (heard *press, wrong map[string]string) {
	var from origin
	if c.View.CallbackID != acceptForm || c.View.State == nil || json.Unmarshal([]byte(c.View.PrivateMetadata), &from) != nil {
		return nil, nil
	}
	ref, ok := readRef(from.Ref)
	if !ok {
		return nil, nil
	}
	input := func(name string) slack.BlockAction { return c.View.State.Values[name][inputAction] }
	p := &press{ref: ref, channel: from.Channel, ts: from.TS, user: c.User.ID, name: c.User.Name, key: acceptForm + " " + c.View.ID}
	p.asks.Kind = model.Accept
	p.asks.Reason, p.asks.Owner = strings.TrimSpace(input(reasonInput).Value), strings.TrimSpace(input(ownerInput).Value)
	wrong = map[string]string{}
	if p.asks.Reason == "" {
		wrong[reasonInput] = "Say why it may stay as it is."
	}
	if p.asks.Owner == "" {
		wrong[ownerInput] = "Name who answers for it."
	}
	p.asks.Until, p.asks.Forever = until(input(untilInput).SelectedOption.Value, input(dateInput).SelectedDate, now)
	if !p.asks.Forever && !p.asks.Until.After(now) {
		name := untilInput
		if input(untilInput).SelectedOption.Value == untilDate {
			name = dateInput
		}
		wrong[name] = "Choose a time to come."
	}
	return p, wrong
}

// until returns when an acceptance ends; zero where nothing was chosen. A day
// counts until its end.
func until(choice, date string, now time.Time) (end time.Time, forever bool) {
	if length, ok := find(acceptances(), choice); ok {
		return now.Add(length.length), false
	}
	switch choice {
	case untilForever:
		return time.Time{}, true
	case untilDate:
		begins, err := time.Parse(time.DateOnly, cmp.Or(date, "none"))
		if err == nil {
			return begins.Add(day - time.Nanosecond), false
		}
	}
	return time.Time{}, false
}
