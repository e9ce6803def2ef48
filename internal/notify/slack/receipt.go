package slack

import (
	"encoding/json"

	"github.com/driftd/driftd/internal/model"
)

// A receipt says where a thread's first message is, and what it said: later
// messages are about their news, and the first is about them all.
type receipt struct {
	Channel string            `json:"channel"`
	TS      string            `json:"ts"`
	Kind    model.MessageKind `json:"kind"`
	Title   string            `json:"title"`
	// Count is how many findings the thread had.
	Count int `json:"count"`
}

func newReceipt(channel, ts string, m model.Message) receipt {
	return receipt{channel, ts, m.Kind, clean(m.Title, maxTitle), count(m)}
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
	m.Kind, m.Title, m.Notes = r.Kind, r.Title, nil
	if more := count(m) - r.Count; more > 0 {
		m.Title += andMore(more)
	}
	return m
}

// count counts the findings of a thread.
func count(m model.Message) int { return m.OpenCount + m.MutedCount + m.ResolvedCount }
