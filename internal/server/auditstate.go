package server

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/store"
)

// AuditState is the state of the audit log as far as it is known without verifying it.
type AuditState struct {
	// Entries is the number of entries, Key the public key of the log.
	Entries int64  `json:"entries"`
	Key     string `json:"key"`
	// Error is why the log cannot be read; "" if it can.
	Error string `json:"error,omitempty"`
	// Doubt is why the log is in doubt; nil if it is not.
	Doubt *store.Doubt `json:"doubt,omitempty"`
	// Verified is when the daemon verified it last, zero if it did not yet; Faults is the number of
	// differences that it found, and Settled of those that persons settled.
	Verified time.Time `json:"verified,omitzero"`
	Faults   int       `json:"faults"`
	Settled  int       `json:"settled"`
	// Witnesses are the witnesses of the configuration; never null.
	Witnesses []WitnessState `json:"witnesses"`
}

// WitnessState is what is known of a witness of the audit log without reading it.
type WitnessState struct {
	Name string `json:"name"`
	// Sent is the number of entries of the last head that was sent to it; 0 if none was.
	Sent int64 `json:"sent"`
	// Error is why it could not be read completely at the last verification; "" if it could.
	Error string `json:"error,omitempty"`
}

// AuditState returns the state of the audit log; nil if it is not available.
func (a API) AuditState() (*AuditState, error) {
	if a.AuditLog == nil {
		return nil, nil
	}
	s, err := a.AuditLog.State()
	if errors.Is(err, store.ErrNoAuditKey) {
		return nil, nil
	}
	return &s, err
}

// Result returns the result of the last verification as words.
func (s *AuditState) Result() string {
	switch {
	case s.Verified.IsZero():
		return ""
	case s.Faults > 0:
		return phrase.Count(s.Faults, "difference")
	case s.Settled > 0:
		return fmt.Sprintf("no difference, %s settled", phrase.Count(s.Settled, "fault"))
	}
	return "no difference"
}

// Kept returns what the witnesses have as words.
func (s *AuditState) Kept() string {
	behind, unread := 0, 0
	for _, w := range s.Witnesses {
		if w.Sent < s.Entries {
			behind++
		}
		if w.Error != "" {
			unread++
		}
	}
	if len(s.Witnesses) == 0 {
		return "no witness"
	}
	text := []string{fmt.Sprintf("witnesses: %d of %d with the head", len(s.Witnesses)-behind, len(s.Witnesses))}
	if unread > 0 {
		text = append(text, fmt.Sprintf("%d not read completely", unread))
	}
	return strings.Join(text, ", ")
}
