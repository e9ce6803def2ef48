package slack

import (
	"encoding/json"

	"github.com/driftd/driftd/internal/model"
)

// A receipt identifies the first message of a thread, with the kind and the severity that it had
// when it was posted.
type receipt struct {
	Channel  string            `json:"channel"`
	TS       string            `json:"ts"`
	Kind     model.MessageKind `json:"kind"`
	Severity model.Severity    `json:"severity"`
}

func newReceipt(channel, ts string, m model.Message) receipt {
	return receipt{channel, ts, m.Kind, worst(openOnes(m.All))}
}

// String returns the stored form of the receipt, or "" without a message.
func (r receipt) String() string {
	text, err := json.Marshal(r)
	if err != nil || r.TS == "" {
		return ""
	}
	return string(text)
}

// readReceipt parses the result of String. ok is false if it is empty or the message is in
// another channel.
func readReceipt(text, channel string) (r receipt, ok bool) {
	err := json.Unmarshal([]byte(text), &r)
	return r, err == nil && r.TS != "" && r.Channel == channel
}

// recall returns the message with the kind of the thread's first message and without notes.
func (r receipt) recall(m model.Message) model.Message {
	m.Kind, m.Notes = r.Kind, nil
	return m
}

// count counts the findings of a thread.
func count(m model.Message) int { return m.OpenCount + m.MutedCount + m.ResolvedCount + m.MergedCount }
