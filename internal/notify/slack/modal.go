package slack

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
)

// The names of the inputs of the modal, and the choice of a date as the end.
const (
	reasonInput = "reason"
	ownerInput  = "owner"
	untilInput  = "until"
	dateInput   = "date"
	inputAction = "value"

	untilDate = "date"
)

// maxInput bounds the inputs of the modal, in characters.
const maxInput = 500

func acceptances() []span {
	return []span{{"1d", "1 day"}, {"1w", "1 week"}, {"30d", "30 days"}, {"90d", "90 days"}}
}

// An origin is the message from which a modal was opened.
type origin struct {
	Ref     string `json:"ref"`
	Channel string `json:"channel"`
	TS      string `json:"ts"`
}

// openModal opens the form of an acceptance.
func (l *listener) openModal(ctx context.Context, heard *interaction) {
	from, err := json.Marshal(origin{heard.ref.String(), heard.channel, heard.ts})
	if err == nil {
		err = l.wire.call(ctx, "open form", func() error {
			_, err := l.api.OpenViewContext(ctx, heard.trigger, modal(string(from), heard.name, heard.count))
			return err
		})
	}
	if err != nil {
		l.env.Log.Warn("form not shown", "err", err)
		l.postEphemeral(ctx, heard, (&richText{}).words("The form could not be shown: ").data(err.Error(), maxReason))
	}
}

func modal(from, owner string, count int) slack.ModalViewRequest {
	reason := slack.NewPlainTextInputBlockElement(caption("Why this state is accepted"), inputAction)
	reason.Multiline, reason.MaxLength = true, maxInput
	who := slack.NewPlainTextInputBlockElement(caption("A person or a team"), inputAction)
	who.MaxLength, who.InitialValue = maxInput, clean(owner, maxWord)
	var choices []*slack.OptionBlockObject
	for _, a := range acceptances() {
		choices = append(choices, slack.NewOptionBlockObject(a.value, caption("for "+a.words), nil))
	}
	choices = append(choices, slack.NewOptionBlockObject(untilDate, caption("until the end of the day below"), nil),
		slack.NewOptionBlockObject(decide.Forever, caption("forever"), nil))
	end := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, caption("Choose"), inputAction, choices...)
	date := slack.NewInputBlock(dateInput, caption("Day"), caption("In UTC"), slack.NewDatePickerBlockElement(inputAction))
	date.Optional = true
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: acceptModal, PrivateMetadata: from,
		Title: caption("Accept drift"), Submit: caption("Accept"), Close: caption("Cancel"),
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewSectionBlock(caption(allOf("accepts", count)), nil, nil),
			slack.NewInputBlock(reasonInput, caption("Reason"), nil, reason),
			slack.NewInputBlock(ownerInput, caption("Owner"), caption("Responsible for this state"), who),
			slack.NewInputBlock(untilInput, caption("How long"), nil, end),
			date,
		}},
	}
}

// readModal returns the interaction of a submitted modal, and its errors by input.
// Both are nil for a modal of another app.
func readModal(callback *slack.InteractionCallback, now time.Time) (heard *interaction, wrong map[string]string) {
	var from origin
	if callback.View.CallbackID != acceptModal || callback.View.State == nil || json.Unmarshal([]byte(callback.View.PrivateMetadata), &from) != nil {
		return nil, nil
	}
	ref, ok := readRef(from.Ref)
	if !ok {
		return nil, nil
	}
	input := func(name string) slack.BlockAction { return callback.View.State.Values[name][inputAction] }
	it := &interaction{ref: ref, channel: from.Channel, ts: from.TS, user: callback.User.ID, name: callback.User.Name, key: acceptModal + " " + callback.View.ID}
	it.asks.Kind = model.Accept
	it.asks.Reason, it.asks.Owner = strings.TrimSpace(input(reasonInput).Value), strings.TrimSpace(input(ownerInput).Value)
	wrong = map[string]string{}
	if it.asks.Reason == "" {
		wrong[reasonInput] = "Enter a reason."
	}
	if it.asks.Owner == "" {
		wrong[ownerInput] = "Enter an owner."
	}
	asked := untilInput
	it.asks.Until = input(untilInput).SelectedOption.Value
	if it.asks.Until == untilDate {
		asked, it.asks.Until = dateInput, input(dateInput).SelectedDate
	}
	if until, err := decide.ParseUntil(it.asks.Until, now); err != nil || !until.IsZero() && !until.After(now) {
		wrong[asked] = "Choose a time in the future."
	}
	return it, wrong
}
