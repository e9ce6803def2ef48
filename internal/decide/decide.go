// Package decide makes decisions about findings: to accept, acknowledge or snooze them, and
// until when. It is pure: time and randomness are arguments.
package decide

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/timeparse"
)

// A Request is a request for a decision.
type Request struct {
	Kind model.DecisionKind
	// Reason is the reason of the decision, which is required for an acceptance. Owner is the person or
	// team that is responsible for it.
	Reason, Owner string
	// By is the person who makes the request. Via is the channel: "command line", or the name of a
	// receiver.
	By, Via string
	// Until is the end of the decision, in the format of ParseUntil. "" means the default of the kind.
	Until string
	// Baseline is set for a request that concerns all open findings instead of individual ones.
	Baseline *Baseline
}

// A Refusal is an error that reports why a request is not possible, with the next step.
type Refusal struct{ Message, Hint string }

// Error returns the message and the hint on one line.
func (r *Refusal) Error() string { return r.Message + ": " + r.Hint }

// acknowledgeFor is how long an acknowledgement without an end holds.
const acknowledgeFor = timeparse.Day

// MaxText is the maximum length of a reason and of a name, in bytes.
const MaxText = 2000

// Longest is the longest time until the end of an acceptance that has one.
const Longest = 5 * 365 * timeparse.Day

// HasEnd reports whether something that is to end at that time has an end: the time is not zero, and not
// further away than Longest.
func HasEnd(end, now time.Time) bool { return !end.IsZero() && end.Sub(now) <= Longest }

// longest is how long a decision of a kind may hold; an acceptance may also have no end.
func longest(kind model.DecisionKind) time.Duration {
	switch kind {
	case model.Accept:
		return Longest
	case model.Snooze:
		return 90 * timeparse.Day
	case model.Acknowledge:
		return 30 * timeparse.Day
	}
	return 0
}

// Make makes a decision about each of the findings. The decision applies to their present content. Make
// reads the IDs from random. It returns a *Refusal if the request is not possible, or the error of random.
func Make(findings []model.Finding, r Request, now time.Time, random io.Reader) ([]model.Decision, error) {
	r.Reason, r.Owner, r.Until = strings.TrimSpace(r.Reason), strings.TrimSpace(r.Owner), strings.TrimSpace(r.Until)
	if err := r.check(); err != nil {
		return nil, err
	}
	until, err := r.end(now)
	if err != nil {
		return nil, err
	}
	if len(findings) == 0 {
		return nil, &Refusal{"no finding is named", "`driftd findings list` lists the findings"}
	}
	var decisions []model.Decision
	for i := range findings {
		f := &findings[i]
		if err := open(f); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(decisions, func(d model.Decision) bool { return d.Finding == f.ID }) {
			continue
		}
		id, err := newID(random)
		if err != nil {
			return nil, err
		}
		decisions = append(decisions, model.Decision{
			ID: id, Kind: r.Kind, Finding: f.ID, Basis: f.Basis, Severity: f.Severity,
			Subject: model.Target{Key: f.Key, Declaration: f.Declaration, Verdict: f.Verdict, Check: f.Check, Unproven: f.Verdict == model.Pending && f.IsUnproven()},
			Reason:  r.Reason, Owner: r.Owner, By: r.By, At: now, Via: r.Via, Until: until,
		})
	}
	return decisions, nil
}

// check returns what is wrong with a request for any finding.
func (r *Request) check() error {
	accepts := r.Kind == model.Accept
	switch {
	case !slices.Contains(model.DecisionKinds(), r.Kind):
		return &Refusal{fmt.Sprintf("unknown decision %q", r.Kind), "want accept, snooze or acknowledge"}
	case r.By == "":
		return &Refusal{"nobody is named who decides", "say who you are"}
	case accepts && r.Reason == "":
		return &Refusal{"an acceptance wants a reason", "say why it may stay as it is (on the command line with --reason)"}
	case accepts && r.Owner == "":
		return &Refusal{"an acceptance wants an owner", "name the person or the team that answers for it (on the command line with --owner)"}
	case len(r.Reason) > MaxText || len(r.Owner) > MaxText:
		return &Refusal{"the reason or the owner is too long", fmt.Sprintf("want at most %d bytes", MaxText)}
	}
	return r.refusePlaceholder()
}

// end is when the decision ends; zero is never.
func (r *Request) end(now time.Time) (time.Time, error) {
	switch {
	case r.Until == "" && r.Kind == model.Accept:
		return time.Time{}, &Refusal{"an acceptance wants an end", "say until when, as in 2026-12-24 or 30d, or say forever (on the command line with --until)"}
	case r.Until == "" && r.Kind == model.Snooze:
		return time.Time{}, &Refusal{"a snooze wants an end", "say for how long, as in 4h, or until when"}
	case r.Until == "":
		return now.Add(acknowledgeFor), nil
	}
	end, err := parseUntil(r.Until, now, r.Kind == model.Accept)
	if err != nil {
		return time.Time{}, err
	}
	return end, r.checkEnd(end, now)
}

func (r *Request) checkEnd(end, now time.Time) error {
	longest := longest(r.Kind)
	switch {
	case end.IsZero() && r.Kind != model.Accept:
		return &Refusal{"only an acceptance may hold forever", "say when it ends, or accept the finding"}
	case end.IsZero():
		return nil
	case !end.After(now):
		return &Refusal{"it would have ended already, at " + end.UTC().Format(time.RFC3339), "name a time to come"}
	case end.Sub(now) > longest && r.Kind == model.Accept:
		return &Refusal{fmt.Sprintf("an end over %d years away", longest/(365*timeparse.Day)), "name a nearer one, or say forever"}
	case end.Sub(now) > longest:
		return &Refusal{fmt.Sprintf("to %s is for at most %d days", r.Kind, longest/timeparse.Day), "accept the finding to leave it so for longer"}
	}
	return nil
}

// open refuses a finding that nothing can be decided about.
func open(f *model.Finding) error {
	switch {
	case !f.Resolved.IsZero():
		return &Refusal{"finding " + f.ID + " is over since " + f.Resolved.UTC().Format(time.RFC3339), "there is nothing left to decide about"}
	case f.Basis == "":
		return &Refusal{"finding " + f.ID + " was found by an older driftd", "scan once more, then decide"}
	}
	return nil
}

func newID(random io.Reader) (string, error) {
	var id [6]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return hex.EncodeToString(id[:]), nil
}
