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
	// KindStart records that a daemon started.
	KindStart Kind = "start"
	// KindConfig records that a daemon runs with another configuration.
	KindConfig Kind = "config"
	// KindScan records a scan that changed findings.
	KindScan Kind = "scan"
	// KindSettle records that decisions, or the end of decisions, changed findings.
	KindSettle Kind = "settle"
	// KindQuiet counts the scans of about an hour that changed nothing.
	KindQuiet Kind = "quiet"
	// KindDecision records a decision, KindRevoke the end of one before its time.
	KindDecision Kind = "decision"
	KindRevoke   Kind = "revoke"
	// KindAction records that an action changed its state, KindApproval that a person approved it, and
	// KindControl that a person froze all actions, ended that, or resumed a rule.
	KindAction   Kind = "action"
	KindApproval Kind = "approval"
	KindControl  Kind = "control"
	// KindDrop records that the bytes of old entries were dropped. Their hashes stay.
	KindDrop Kind = "drop"
	// KindPrune records that old records were removed from the database.
	KindPrune Kind = "prune"
	// KindReseal records that stored findings were rewritten because the rules for secrets changed.
	KindReseal Kind = "reseal"
	// KindKey records that the log has another key. The first head after it is signed by both.
	KindKey Kind = "key"
	// KindErase records that the name of a person was erased.
	KindErase Kind = "erase"
	// KindDoubt records that the log is in doubt, KindTrust that a person settled it.
	KindDoubt Kind = "doubt"
	KindTrust Kind = "trust"
	// KindUnreadable is the kind of an entry that was edited to be none. No log has it.
	KindUnreadable Kind = "unreadable"
)

// A State is why an entry cannot be proved; "" for one that can.
type State string

// The states of entries.
const (
	// StateEdited is that of an entry whose bytes are not those that its hash stands for.
	StateEdited State = "edited"
	// StateUnproved is that of an entry whose hash does not lead to the signed head.
	StateUnproved State = "unproved"
	// StateGone is that of an entry whose bytes were removed, and not by the retention.
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

// An Entry is a record of the log. Its data depends on its kind.
type Entry struct {
	// Index is the position in the log, from 0. Only read entries have one.
	Index int64 `json:"index"`
	// Version is the version of the form of the entry, "v1". Only read entries have one.
	Version string    `json:"version"`
	Kind    Kind      `json:"kind"`
	Time    time.Time `json:"time"`
	// State is why the entry is not one that was signed, as far as the log shows; "" for a good one.
	State State `json:"state,omitempty"`
	// Data is a value that is encoded as a JSON object; in a read entry a json.RawMessage.
	Data any `json:"data"`
	// List identifies the records that the entry accounts for; nil if there are none. Only read
	// entries have one.
	List *List `json:"list,omitempty"`
	// Items are the records that an entry to be appended accounts for, and Complete reports whether
	// they are all that there are. An entry that Verify read has Items, too, unless they are not those
	// of List.
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
	// Keys are the older public keys of the log, the newest first: the entries that record them
	// may be among those that were dropped.
	Keys []string `json:"keys,omitempty"`
	// Erased are the references whose names were erased. Further ones follow in entries of the same
	// kind.
	Erased []string `json:"erased,omitempty"`
}

// Erase is the data of an entry of KindErase.
type Erase struct {
	// Person is the reference of the person.
	Person string `json:"person"`
	// By is the reference of the person who asked for it.
	By string `json:"by,omitempty"`
}

// Rotation is the data of an entry of KindKey: public keys.
type Rotation struct {
	Old string `json:"old"`
	New string `json:"new"`
}
