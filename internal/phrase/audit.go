package phrase

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// auditData are the fields that the entries of the audit log have; which ones depends on the kind.
type auditData struct {
	By, Via, Owner, Reason, ID, Kind, Finding, Subject, From   string
	Version, File, Config, Root, What, Run, Person, New, Key   string
	State, Rule, Source, Action, Digest, Note                  string
	Until, Since                                               time.Time
	Changed, Opened, Resolved, Runs, Findings, Removed, Before int
	Decisions, More                                            int
	Faults                                                     []string
	Of                                                         *int64
}

// AuditMark returns a marking for an entry of the audit log that is not a signed one, according to its
// state. It returns "" for a valid entry.
func AuditMark(state string) string {
	switch state {
	case "":
		return ""
	case "edited":
		return "EDITED (not what was signed)"
	case "gone":
		return "GONE (removed, and not by the retention)"
	}
	return "UNPROVED (no signed head leads to it)"
}

// AuditEntry returns the person who caused an entry of the audit log, or "" if driftd did, and a
// description of the entry. data is the data of the entry; for an unknown kind, the description is its
// JSON.
func AuditEntry(kind string, data any) (who, what string) {
	raw, err := json.Marshal(data)
	if err != nil {
		return "", ""
	}
	var d auditData
	if err := json.Unmarshal(raw, &d); err != nil {
		return "", string(raw)
	}
	if what, ok := d.record(kind); ok {
		return d.By, what
	}
	return d.By, string(raw)
}

func (d *auditData) record(kind string) (what string, ok bool) {
	switch kind {
	case "scan":
		return fmt.Sprintf("scan %s changed %s: %d new, %d resolved", d.Run, Count(d.Changed, "finding"), d.Opened, d.Resolved), true
	case "settle":
		return "decisions changed " + Count(d.Changed, "finding"), true
	case "quiet":
		return fmt.Sprintf("%s since %s changed nothing: %s open", Count(d.Runs, "scan"), d.Since.UTC().Format(time.RFC3339), Count(d.Findings, "finding")), true
	case "decision":
		return d.decision(), true
	case "revoke":
		return d.revoked(), true
	case "action":
		return d.action(), true
	case "approval":
		return withReason(fmt.Sprintf("action %s was approved (%s)", d.Action, d.Digest), d.Reason), true
	case "control":
		return d.control(), true
	}
	return d.house(kind)
}

// house describes the entries about driftd and its database.
func (d *auditData) house(kind string) (what string, ok bool) {
	switch kind {
	case "begin":
		return fmt.Sprintf("the log begins, with %s and %s", Count(d.Findings, "open finding"), Count(d.Decisions, "decision")), true
	case "start":
		return fmt.Sprintf("driftd %s started with the configuration %s (%s)", d.Version, cmp.Or(d.File, "of its flags"), d.Config), true
	case "config":
		return fmt.Sprintf("the configuration changed: %s (%s)", d.File, d.Config), true
	case "prune":
		return Count(d.Removed, "record") + " beyond the retention removed", true
	case "drop":
		return fmt.Sprintf("the entries before %d were dropped: their hashes are kept", d.Before), true
	case "reseal":
		return Count(d.Changed, "open finding") + " rewritten under other rules for secrets", true
	case "key":
		return "the log has a new key: " + d.New, true
	case "erase":
		return "the name of " + d.Person + " was erased", true
	case "doubt":
		return "the log is in doubt: " + d.What, true
	case "trust":
		return d.trust(), true
	case "unreadable":
		return "what is there is no entry", true
	}
	return "", false
}

func (d *auditData) trust() string {
	n := len(d.Faults) + d.More
	switch {
	case d.Of != nil:
		return fmt.Sprintf("entry %d settled %s: %s", *d.Of, cmp.Or(faults(n), "what it lists"), d.Reason)
	case n == 0:
		return "the log continues: " + d.Reason
	}
	return fmt.Sprintf("the log continues, %s settled: %s", faults(n), d.Reason)
}

// faults returns a number of faults; "" for none.
func faults(n int) string {
	if n == 0 {
		return ""
	}
	return Count(n, "fault")
}

// AuditText returns the description of an entry of the audit log, preceded by the marking of its state.
func AuditText(state, what string) string {
	if mark := AuditMark(state); mark != "" {
		return mark + ": " + what
	}
	return what
}

func (d *auditData) decision() string {
	until := "forever"
	if !d.Until.IsZero() {
		until = "until " + d.Until.UTC().Format(time.RFC3339)
	}
	text := fmt.Sprintf("%s %s %s, decision %s", d.Kind, strings.TrimSpace(d.Finding+" "+d.Subject), until, d.ID)
	if d.Owner != "" {
		text += ", owner " + d.Owner
	}
	return withReason(text, d.Reason)
}

func (d *auditData) action() string {
	text := fmt.Sprintf("action %s on %s for finding %s, rule %s: %s", d.ID, d.Subject, d.Finding, d.Rule, d.State)
	if d.Person != "" {
		text += " by " + d.Person
	}
	return withReason(text, d.Note)
}

func (d *auditData) control() string {
	where := "all sources"
	if d.Source != "" {
		where = "source " + d.Source
	}
	switch d.Kind {
	case "freeze":
		return withReason(fmt.Sprintf("actions on %s are frozen until %s", where, d.Until.UTC().Format(time.RFC3339)), d.Reason)
	case "thaw":
		return withReason("actions on "+where+" are no longer frozen", d.Reason)
	}
	return withReason("rule "+d.Rule+" goes on", d.Reason)
}

func withReason(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

func (d *auditData) revoked() string {
	switch {
	case d.By != "":
		return "decision " + d.ID + " was revoked"
	case d.From != "":
		return "decision " + d.ID + " is no longer in " + d.From
	}
	return "decision " + d.ID + " ended with its finding"
}
