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

// The names of the inputs of the modal, and the value of the choice to enter a date.
const (
	reasonInput = "reason"
	ownerInput  = "owner"
	untilInput  = "until"
	dateInput   = "date"
	inputAction = "value"

	untilDate = "date"
)

// maxInput is the maximum length of an input of the modal, in characters.
const maxInput = 500

// acceptances returns the choices for the duration of an acceptance.
func acceptances() []span {
	return []span{{"1d", "1 day"}, {"1w", "1 week"}, {"30d", "30 days"}, {"90d", "90 days"}}
}

// An origin is the message from which a modal was opened. Digest is what the modal approves; "" for an
// acceptance.
type origin struct {
	Ref     string `json:"ref"`
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	Digest  string `json:"digest,omitempty"`
}

// openModal opens the form for an acceptance.
func (l *listener) openModal(ctx context.Context, it *interaction) {
	l.openView(ctx, it, "", func(from string) slack.ModalViewRequest { return modal(from, it.name, it.count) })
}

// openView opens the form that view returns. It is called with the encoded origin.
func (l *listener) openView(ctx context.Context, it *interaction, digest string, view func(from string) slack.ModalViewRequest) {
	from, err := json.Marshal(origin{it.ref.String(), it.channel, it.ts, digest})
	if err == nil {
		err = l.client.call(ctx, "open form", func() error {
			_, err := l.api.OpenViewContext(ctx, it.trigger, view(string(from)))
			return err
		})
	}
	if err != nil {
		l.env.Log.Warn("form not shown", "err", err)
		l.postEphemeral(ctx, it, (&richText{}).words("The form could not be shown: ").data(err.Error(), maxReason))
	}
}

// modal returns the form. from is the encoded origin, owner the initial value of the owner, and count
// the number of findings.
func modal(from, owner string, count int) slack.ModalViewRequest {
	reason := slack.NewPlainTextInputBlockElement(plainText("Why this state is accepted"), inputAction)
	reason.Multiline, reason.MaxLength = true, maxInput
	ownerElement := slack.NewPlainTextInputBlockElement(plainText("A person or a team"), inputAction)
	ownerElement.MaxLength, ownerElement.InitialValue = maxInput, clean(owner, maxWord)
	var choices []*slack.OptionBlockObject
	for _, a := range acceptances() {
		choices = append(choices, slack.NewOptionBlockObject(a.value, plainText("for "+a.label), nil))
	}
	choices = append(choices, slack.NewOptionBlockObject(untilDate, plainText("until the end of the day below"), nil),
		slack.NewOptionBlockObject(decide.Forever, plainText("forever"), nil))
	end := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, plainText("Choose"), inputAction, choices...)
	date := slack.NewInputBlock(dateInput, plainText("Day"), plainText("In UTC"), slack.NewDatePickerBlockElement(inputAction))
	date.Optional = true
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: acceptModal, PrivateMetadata: from,
		Title: plainText("Accept drift"), Submit: plainText("Accept"), Close: plainText("Cancel"),
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewSectionBlock(plainText(decisionText("accepts", count)), nil, nil),
			slack.NewInputBlock(reasonInput, plainText("Reason"), nil, reason),
			slack.NewInputBlock(ownerInput, plainText("Owner"), plainText("Responsible for this state"), ownerElement),
			slack.NewInputBlock(untilInput, plainText("How long"), nil, end),
			date,
		}},
	}
}

// readSubmission returns the interaction of a submitted modal, and error messages by input. It returns nil
// and nil for an unknown modal.
func readSubmission(callback *slack.InteractionCallback, now time.Time) (result *interaction, wrong map[string]string) {
	var from origin
	if callback.View.State == nil || json.Unmarshal([]byte(callback.View.PrivateMetadata), &from) != nil {
		return nil, nil
	}
	ref, ok := readRef(from.Ref)
	if !ok {
		return nil, nil
	}
	it := &interaction{ref: ref, channel: from.Channel, ts: from.TS, user: callback.User.ID, name: callback.User.Name, key: callback.View.CallbackID + " " + callback.View.ID}
	input := func(name string) slack.BlockAction { return callback.View.State.Values[name][inputAction] }
	switch callback.View.CallbackID {
	case acceptModal:
		wrong = it.readAcceptance(input, now)
		return it, wrong
	case approveModal:
		wrong = it.readApproval(input, from.Digest)
		return it, wrong
	}
	return nil, nil
}

// readAcceptance sets the request of the form for an acceptance, and returns error messages by input.
func (it *interaction) readAcceptance(input func(name string) slack.BlockAction, now time.Time) (wrong map[string]string) {
	it.request.Kind = model.Accept
	it.request.Reason, it.request.Owner = strings.TrimSpace(input(reasonInput).Value), strings.TrimSpace(input(ownerInput).Value)
	wrong = map[string]string{}
	if it.request.Reason == "" {
		wrong[reasonInput] = "Enter a reason."
	}
	if it.request.Owner == "" {
		wrong[ownerInput] = "Enter an owner."
	}
	endInput := untilInput
	it.request.Until = input(untilInput).SelectedOption.Value
	if it.request.Until == untilDate {
		endInput, it.request.Until = dateInput, input(dateInput).SelectedDate
	}
	if until, err := decide.ParseUntil(it.request.Until, now); err != nil || !until.IsZero() && !until.After(now) {
		wrong[endInput] = "Choose a time in the future."
	}
	return wrong
}
