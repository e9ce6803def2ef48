package slack

import (
	"encoding/json"

	"github.com/driftd/driftd/internal/model"
)

// A receipt identifies the first message of a thread, with the kind and the severity that it had
// when it was posted. Root is the message to which that of an action is a reply; "" if it is none.
type receipt struct {
	Channel  string            `json:"channel"`
	TS       string            `json:"ts"`
	Kind     model.MessageKind `json:"kind"`
	Severity model.Severity    `json:"severity"`
	Root     string            `json:"root,omitempty"`
}

// newReceipt returns the receipt of m, which was posted as the message ts.
func newReceipt(channel, ts string, m model.Message) receipt {
	return receipt{Channel: channel, TS: ts, Kind: m.Kind, Severity: worst(openItems(m.All))}
}

// String returns the stored form of the receipt. It returns "" if the receipt has no message.
func (r receipt) String() string {
	text, err := json.Marshal(r)
	if err != nil || r.TS == "" {
		return ""
	}
	return string(text)
}

// readReceipt parses the result of String. ok is false if text is no receipt or if the message is in
// another channel.
func readReceipt(text, channel string) (r receipt, ok bool) {
	err := json.Unmarshal([]byte(text), &r)
	return r, err == nil && r.TS != "" && r.Channel == channel
}

// restore returns m with the kind of the thread's first message, and without notes.
func (r receipt) restore(m model.Message) model.Message {
	m.Kind, m.Notes = r.Kind, nil
	return m
}

// count returns the number of findings of a thread.
func count(m model.Message) int { return m.OpenCount + m.MutedCount + m.ResolvedCount + m.MergedCount }
