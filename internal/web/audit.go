package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
)

// auditPage is the number of entries on one page of the audit log.
const auditPage = 100

// An auditView is a page of the audit log, newest entry first.
type auditView struct {
	frame
	// State is the state of the log; nil if it is not available.
	State   *server.AuditState
	Entries []auditRow
	// Older is the index before which the next page lists; 0 if there is no older entry.
	Older int64
}

// An auditRow is an entry of the audit log as people read it.
type auditRow struct {
	Index     int64
	At        time.Time
	Kind      string
	Who, What string
	// Finding is the ID of the finding that the entry is about; "" if it is about none.
	Finding string
	// Mark marks an entry that is not one that was signed; "" for a good one.
	Mark string
}

// An auditEntryView is an entry with its proof.
type auditEntryView struct {
	frame
	auditRow
	Proof, Key string
	// Unproved is why there is no proof; "" if there is one.
	Unproved string
}

func rowOf(e *audit.Entry) auditRow {
	who, what := phrase.AuditEntry(string(e.Kind), e.Data)
	if e.State != "" {
		who = cmp.Or(who, "unknown")
	}
	row := auditRow{Index: e.Index, At: e.Time, Kind: string(e.Kind), Who: cmp.Or(who, "driftd"), What: what, Mark: phrase.AuditMark(string(e.State))}
	if raw, ok := e.Data.(json.RawMessage); ok && e.Kind == audit.KindDecision {
		var d struct{ Finding string }
		if json.Unmarshal(raw, &d) == nil {
			row.Finding = d.Finding
		}
	}
	return row
}

// auditPage shows the entries before the one that the parameter before names.
func (s *site) auditPage(w http.ResponseWriter, r *http.Request) error {
	before, err := strconv.ParseInt(cmp.Or(r.URL.Query().Get("before"), "0"), 10, 64)
	if err != nil {
		return &server.Error{Status: http.StatusBadRequest, Message: "the parameter before is no number", Hint: "use the links of the page"}
	}
	list, err := s.API.AuditEntries(before, auditPage)
	if err != nil {
		return err
	}
	v := auditView{frame: s.frame(w, r, "Audit log", "audit")}
	if v.State, err = s.API.AuditState(); err != nil {
		return err
	}
	for i := range list {
		v.Entries = append(v.Entries, rowOf(&list[i]))
	}
	if len(list) == auditPage {
		v.Older = list[auditPage-1].Index
	}
	return s.render(w, r, http.StatusOK, "audit", v)
}

// auditEntryPage shows an entry with its proof.
func (s *site) auditEntryPage(w http.ResponseWriter, r *http.Request) error {
	index, err := strconv.ParseInt(r.PathValue("index"), 10, 64)
	if err != nil {
		return s.unknown(w, r)
	}
	p, err := s.API.ProveEntry(index, false)
	if err != nil {
		return err
	}
	v := auditEntryView{frame: s.frame(w, r, "Entry "+strconv.FormatInt(index, 10)+" of the audit log", "audit"), auditRow: rowOf(&p.Entry), Proof: p.Proof, Key: p.Key, Unproved: p.Unproved}
	return s.render(w, r, http.StatusOK, "audit-entry", v)
}

// auditProof is the proof of an entry as a file. With the parameter names, it has the names of the persons
// in the entry.
func (s *site) auditProof(w http.ResponseWriter, r *http.Request) error {
	index, err := strconv.ParseInt(r.PathValue("index"), 10, 64)
	if err != nil {
		return s.unknown(w, r)
	}
	p, err := s.API.ProveEntry(index, r.URL.Query().Has("names"))
	if err != nil {
		return err
	}
	if p.Unproved != "" {
		return &server.Error{Status: http.StatusConflict, Message: p.Unproved, Hint: "driftd audit verify shows whether a person settled it"}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=driftd-audit-%d.txt", index))
	s.write(w, r, http.StatusOK, []byte(p.Proof))
	return nil
}
