package slack

import (
	"encoding/json"

	"github.com/driftd/driftd/internal/model"
)

// A receipt says where a thread's first message is, what sort of message that
// is, and how bad it was when it was posted.
type receipt struct {
	Channel  string            `json:"channel"`
	TS       string            `json:"ts"`
	Kind     model.MessageKind `json:"kind"`
	Severity model.Severity    `json:"severity"`
}

func newReceipt(channel, ts string, m model.Message) receipt {
	return receipt{channel, ts, m.Kind, worst(openOnes(m.All))}
}

// String returns the receipt as it is kept; "" for one of no message.
func (r receipt) String() string {
	text, err := json.Marshal(r)
	if err != nil || r.TS == "" {
		return ""
	}
	return string(text)
}

// readReceipt reads what String wrote; ok is false where there is nothing, and
// where the message is in another channel.
func readReceipt(text, channel string) (r receipt, ok bool) {
	err := json.Unmarshal([]byte(text), &r)
	return r, err == nil && r.TS != "" && r.Channel == channel
}

// recall returns the message as the first of its thread would have been.
func (r receipt) recall(m model.Message) model.Message {
	m.Kind, m.Notes = r.Kind, nil
	return m
}

// count counts the findings of a thread.
func count(m model.Message) int { return m.OpenCount + m.MutedCount + m.ResolvedCount + m.MergedCount }
