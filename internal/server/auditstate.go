package server

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/store"
)

// An AuditState describes the audit log, without a verification.
type AuditState struct {
	// Entries is the number of entries. Key is the public key of the log.
	Entries int64  `json:"entries"`
	Key     string `json:"key"`
	// Error is the reason why the log cannot be read, or "" if it can be read.
	Error string `json:"error,omitempty"`
	// Doubt describes the doubt about the integrity of the log. It is nil if there is none.
	Doubt *store.Doubt `json:"doubt,omitempty"`
	// Verified is the time of the daemon's last verification, or zero if there was none. Faults is the
	// number of faults that it found, and Settled the number of those that persons settled.
	Verified time.Time `json:"verified,omitzero"`
	Faults   int       `json:"faults"`
	Settled  int       `json:"settled"`
	// Witnesses are the configured witnesses. It is never nil.
	Witnesses []WitnessState `json:"witnesses"`
}

// A WitnessState describes a witness of the audit log, without reading it.
type WitnessState struct {
	Name string `json:"name"`
	// Sent is the number of entries that the last head sent to the witness covers, or 0 if none was sent.
	Sent int64 `json:"sent"`
	// Error is the reason why the last verification could not read the witness completely, or "" if it
	// could.
	Error string `json:"error,omitempty"`
}

// AuditState returns the state of the audit log, or nil if it is not available.
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

// Result returns a description of the result of the last verification.
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

// Kept returns a description of the heads that the witnesses have.
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
