package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Kind is the kind of an entry.
type Kind string

// The kinds of entries.
const (
	// KindBegin is the first entry of a log.
	KindBegin Kind = "begin"
	// KindStart records the start of a daemon.
	KindStart Kind = "start"
	// KindConfig records that a daemon uses a different configuration.
	KindConfig Kind = "config"
	// KindScan records a scan that changed findings.
	KindScan Kind = "scan"
	// KindSettle records that decisions, or the end of decisions, changed findings.
	KindSettle Kind = "settle"
	// KindQuiet counts the scans of about an hour that changed nothing.
	KindQuiet Kind = "quiet"
	// KindDecision records a decision, and KindRevoke its revocation.
	KindDecision Kind = "decision"
	KindRevoke   Kind = "revoke"
	// KindAction records a change of the state of an action, KindApproval the approval by a person, and
	// KindControl that a person froze actions, ended a freeze, or resumed a rule.
	KindAction   Kind = "action"
	KindApproval Kind = "approval"
	KindControl  Kind = "control"
	// KindDrop records that the content of old entries was deleted. Their hashes remain.
	KindDrop Kind = "drop"
	// KindPrune records that old records were deleted from the database.
	KindPrune Kind = "prune"
	// KindReseal records that stored findings were rewritten because the rules for secrets changed.
	KindReseal Kind = "reseal"
	// KindKey records a new key of the log. Both keys sign the first head after it.
	KindKey Kind = "key"
	// KindErase records that the name of a person was erased.
	KindErase Kind = "erase"
	// KindDoubt records that the integrity of the log is in doubt, and KindTrust that a person settled the
	// doubt.
	KindDoubt Kind = "doubt"
	KindTrust Kind = "trust"
	// KindUnreadable is the kind of an entry that was edited so that it cannot be parsed. It is never
	// appended.
	KindUnreadable Kind = "unreadable"
)

// A State is the reason why an entry cannot be proved, or "" if it can be.
type State string

// The states of entries.
const (
	// StateEdited is the state of an entry whose content does not match its hash.
	StateEdited State = "edited"
	// StateUnproved is the state of an entry whose hash is not covered by the signed head.
	StateUnproved State = "unproved"
	// StateGone is the state of an entry whose content was deleted, but not by the retention.
	StateGone State = "gone"
)

const (
	// domain begins every entry. Bytes that were signed for another purpose are no entry.
	domain = "driftd/"
	// version is the version of the form of entries.
	version = "v1"
	// maxEntry is the largest entry in bytes that an entry bundle of tlog-tiles can hold.
	maxEntry = 1<<16 - 1
)

// An Entry is an entry of the log. Its data depends on its kind. Index, Version, State and List are only
// set in entries that were read.
type Entry struct {
	// Index is the position in the log, starting at 0.
	Index int64 `json:"index"`
	// Version is the version of the encoding of the entry, such as "v1".
	Version string    `json:"version"`
	Kind    Kind      `json:"kind"`
	Time    time.Time `json:"time"`
	// State is the reason why the entry differs from the signed one, as far as the log shows. It is "" for
	// a valid entry.
	State State `json:"state,omitempty"`
	// Data is a value that is encoded as a JSON object. In an entry that was read, it is a json.RawMessage.
	Data any `json:"data"`
	// List identifies the records that the entry accounts for, or is nil if there are none.
	List *List `json:"list,omitempty"`
	// Items are the records that an entry accounts for when it is appended. Complete reports whether they
	// are all records. Verify also sets Items in the entries that it reads, unless they do not match List.
	Items    [][]byte `json:"-"`
	Complete bool     `json:"-"`
}

type body struct {
	Time time.Time       `json:"time"`
	List *List           `json:"list,omitempty"`
	Data json.RawMessage `json:"data"`
}

// encode returns the bytes that the log holds: a line with the domain, the version and the kind,
// and a JSON object.
func (e *Entry) encode() ([]byte, error) {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return nil, fmt.Errorf("encode entry %s: %w", e.Kind, err)
	}
	text, err := json.Marshal(body{e.Time.UTC().Truncate(time.Millisecond), e.list(), data})
	if err != nil {
		return nil, fmt.Errorf("encode entry %s: %w", e.Kind, err)
	}
	b := append([]byte(domain+version+" "+string(e.Kind)+"\n"), text...)
	if len(b) > maxEntry {
		return nil, fmt.Errorf("encode entry %s: it has %d bytes; the limit is %d", e.Kind, len(b), maxEntry)
	}
	return b, nil
}

var errForm = errors.New("it is no entry of driftd")

// parseEntry decodes an entry. It accepts unknown versions and kinds: their data is
// shown as it is.
func parseEntry(index int64, b []byte) (Entry, error) {
	line, text, ok := bytes.Cut(b, []byte("\n"))
	head, found := strings.CutPrefix(string(line), domain)
	version, kind, both := strings.Cut(head, " ")
	if !ok || !found || !both || version == "" || kind == "" {
		return Entry{}, fmt.Errorf("entry %d: %w", index, errForm)
	}
	var in body
	if err := json.Unmarshal(text, &in); err != nil {
		return Entry{}, fmt.Errorf("entry %d: %w", index, errForm)
	}
	return Entry{Index: index, Version: version, Kind: Kind(kind), Time: in.Time, List: in.List, Data: in.Data}, nil
}

// ofKind reports whether the bytes are those of an entry of a kind, of any version.
func ofKind(b []byte, kind Kind) bool {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return bytes.HasSuffix(line, []byte(" "+kind))
}

// Drop is the data of an entry of KindDrop.
type Drop struct {
	// Before is the index of the first entry that was kept.
	Before int64 `json:"before"`
	// Keys are the earlier public keys of the log, newest first, because the entries that record them may
	// be dropped.
	Keys []string `json:"keys,omitempty"`
	// Erased are the references whose names were erased. If there are too many, further entries of the same
	// kind contain the others.
	Erased []string `json:"erased,omitempty"`
}

// Erase is the data of an entry of KindErase.
type Erase struct {
	// Person is the reference of the person whose name was erased.
	Person string `json:"person"`
	// By is the reference of the person who requested the erasure.
	By string `json:"by,omitempty"`
}

// Rotation is the data of an entry of KindKey. It contains public keys.
type Rotation struct {
	Old string `json:"old"`
	New string `json:"new"`
}
