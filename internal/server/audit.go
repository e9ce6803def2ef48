package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/store"
)

// An AuditReader reads the audit log.
type AuditReader interface {
	AuditEntries(before int64, limit int) ([]audit.Entry, error)
	AuditEntry(index int64) (audit.Entry, error)
	ProveEntry(index int64) ([]byte, error)
	DiscloseNames(index int64) (names []byte, erased []string, err error)
	AuditKey() (audit.PublicKey, error)
}

// An AuditLog is the audit log of the store, with its witnesses.
type AuditLog interface {
	AuditReader
	AuditChecker
	// Send sends the head of the log to the witnesses.
	Send(ctx context.Context) (AuditSent, error)
	EraseName(name, by string, now time.Time) error
}

// An AuditChecker verifies the audit log.
type AuditChecker interface {
	// State returns the state of the log. It does not verify the log or read witnesses.
	State() (AuditState, error)
	// Check verifies the log, and compares the database with it. It reads the witnesses.
	Check(ctx context.Context) (AuditHealth, error)
	// Settle makes the log continue from its present content on behalf of the person by, although faults
	// were found.
	Settle(ctx context.Context, by, reason string) (audit.Trust, error)
}

// An AuditHealth is the result of a verification of the audit log.
type AuditHealth struct {
	// Key is the public key of the log. Size, Root and Head are those of its signed head.
	Key  string `json:"key"`
	Size int64  `json:"size"`
	Root string `json:"root"`
	Head string `json:"head"`
	// Dropped is the number of entries that were deleted except for their hashes.
	Dropped int64 `json:"dropped"`
	// Faults are the differences from the signed content: at most 20 of the log, and all of the database.
	// More is the number of the others.
	Faults []string `json:"faults"`
	More   int      `json:"more,omitempty"`
	// Settled are the faults that a person settled.
	Settled []string `json:"settled,omitempty"`
	// Backwards are the indices of entries that are older than their predecessors.
	Backwards []int64 `json:"backwards,omitempty"`
	// Doubt describes the doubt about the integrity of the log. It is nil if there is none.
	Doubt *store.Doubt `json:"doubt,omitempty"`
	// Limits are descriptions of the modifications that this verification cannot detect.
	Limits []string `json:"limits,omitempty"`
	// Witnesses are the witnesses, which keep heads outside of the database.
	Witnesses []WitnessHealth `json:"witnesses,omitempty"`
}

// OK reports whether the verification found no faults and the integrity of the log is not in doubt.
func (h *AuditHealth) OK() bool { return len(h.Faults) == 0 && h.More == 0 && h.Doubt == nil }

// Unread returns the witnesses that may have heads which were not compared with the log.
func (h *AuditHealth) Unread() []WitnessHealth {
	return slices.DeleteFunc(slices.Clone(h.Witnesses), func(w WitnessHealth) bool { return !w.Unread })
}

// A WitnessHealth is the result of the verification of a witness of the audit log.
type WitnessHealth struct {
	Name string `json:"name"`
	// Heads is the number of heads that the witness keeps. Newest is the size of the log according to the
	// newest of them.
	Heads  int   `json:"heads"`
	Newest int64 `json:"newest"`
	// WriteOnly reports whether the witness accepts heads but cannot be read.
	WriteOnly bool `json:"write_only,omitempty"`
	// Error describes records that are not heads, and parts that could not be read. It is "" if there are
	// none.
	Error string `json:"error,omitempty"`
	// Unread reports whether the witness may have heads that were not compared with the log.
	Unread bool `json:"unread,omitempty"`
}

// An AuditSent is the result of sending the head of the log to the witnesses.
type AuditSent struct {
	// Size is the number of entries that the head covers.
	Size int64         `json:"size"`
	Sent []WitnessSent `json:"sent"`
}

// A WitnessSent is the result of sending a head to a witness.
type WitnessSent struct {
	Name string `json:"name"`
	// Error is the reason why the witness may not have the head, or "" if it has the head.
	Error string `json:"error,omitempty"`
}

// An AuditList is a page of the audit log, newest entry first.
type AuditList struct {
	Entries []audit.Entry `json:"entries"`
}

// An AuditProof is an entry with the proof that the log contains it.
type AuditProof struct {
	Entry audit.Entry `json:"entry"`
	// Proof is in the format of c2sp.org/tlog-proof. Key is the public key that verifies it.
	Proof string `json:"proof"`
	Key   string `json:"key"`
	// Unproved is the reason why there is no proof: the entry is not a signed one.
	Unproved string `json:"unproved,omitempty"`
	// Erased are the references of persons whose names were requested but have been erased.
	Erased []string `json:"erased,omitempty"`
}

// An AuditReason is the body of a request to settle the doubt about the log.
type AuditReason struct {
	Reason string `json:"reason"`
}

// An AuditName is the body of a request to erase the name of a person.
type AuditName struct {
	Name string `json:"name"`
}

// auditRoutes adds the operations on the whole audit log. They are served on the unix socket only.
func (a API) auditRoutes(routes *http.ServeMux) {
	const lacking = "the audit log is not available here: run driftd audit on the daemon's host"
	has := a.AuditLog != nil
	routes.Handle("GET /api/v1/auditing/verify", a.alone(has, lacking, "another verification is running", a.patient(a.answer(a.verifyAudit))))
	routes.Handle("POST /api/v1/auditing/trust", a.alone(has, lacking, "another verification is running", a.patient(a.answer(a.trustAudit))))
	routes.Handle("POST /api/v1/auditing/witness", a.alone(has, lacking, "the head is being sent", a.patient(a.answer(a.sendAuditHead))))
	routes.Handle("POST /api/v1/auditing/erase", a.alone(has, lacking, "another name is being erased", a.answer(a.eraseName).ServeHTTP))
}

// patient serves a request that reads the whole log, or waits for witnesses.
func (a API) patient(serve http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := Supported(http.NewResponseController(w).SetWriteDeadline(time.Now().Add(verifyLimit))); err != nil {
			a.reply(w, r, nil, fmt.Errorf("limit the time of a verification: %w", err))
			return
		}
		serve.ServeHTTP(w, r)
	}
}

func (a API) verifyAudit(r *http.Request) (any, error) {
	health, err := a.AuditLog.Check(r.Context())
	return health, unavailable(err)
}

func (a API) sendAuditHead(r *http.Request) (any, error) {
	sent, err := a.AuditLog.Send(r.Context())
	if errors.Is(err, audit.ErrEmpty) {
		err = &Error{Status: http.StatusNotFound, Message: err.Error(), Hint: "the first scan begins it"}
	}
	return sent, unavailable(err)
}

func (a API) trustAudit(r *http.Request) (any, error) {
	var request AuditReason
	if err := readBody(r.Body, &request, `want {"reason"}`); err != nil {
		return nil, err
	}
	if strings.TrimSpace(request.Reason) == "" {
		return nil, badRequest("no reason is given", "say what was found, and why the log may continue")
	}
	if decide.IsPlaceholder(request.Reason) {
		return nil, badRequest("the reason is a placeholder: "+request.Reason, "say what was found, and why the log may continue")
	}
	settled, err := a.AuditLog.Settle(r.Context(), access.Of(r.Context()).Author(), request.Reason)
	if errors.Is(err, store.ErrNoDoubt) {
		err = badRequest("there is nothing to settle", "driftd audit verify finds no difference, and the log is not in doubt")
	}
	return settled, unavailable(err)
}

func (a API) eraseName(r *http.Request) (any, error) {
	var request AuditName
	if err := readBody(r.Body, &request, `want {"name"}`); err != nil {
		return nil, err
	}
	err := a.AuditLog.EraseName(request.Name, access.Of(r.Context()).Author(), a.Now())
	if errors.Is(err, audit.ErrNoPerson) {
		return nil, &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("no entry of the audit log names %q", request.Name), Hint: "driftd audit list shows the names"}
	}
	return request, unavailable(err)
}

// unavailable returns the error for a log without its key, or one that is not what was signed.
func unavailable(err error) error {
	changed := (*audit.TamperedError)(nil)
	switch {
	case errors.Is(err, store.ErrNoAuditKey):
		return &Error{Status: http.StatusServiceUnavailable, Message: store.ErrNoAuditKey.Error(),
			Hint: "run this as a user who may read it, or put the key back from a backup"}
	case errors.As(err, &changed):
		return &Error{Status: http.StatusServiceUnavailable, Message: changed.Error(), Hint: "driftd audit verify lists the differences"}
	}
	return err
}

// AuditEntries returns at most limit entries of the audit log, newest first. If before is positive, it
// returns only entries with a lower index.
func (a API) AuditEntries(before int64, limit int) ([]audit.Entry, error) {
	if a.AuditLog == nil {
		return nil, noAuditLog()
	}
	list, err := a.AuditLog.AuditEntries(before, limit)
	return list, unavailable(err)
}

// ProveEntry returns an entry of the audit log with its proof, or with the reason why it has none. If
// withNames is set, the proof is followed by the names of the persons in the entry.
func (a API) ProveEntry(index int64, withNames bool) (p AuditProof, err error) {
	if a.AuditLog == nil {
		return p, noAuditLog()
	}
	if p.Entry, err = a.AuditLog.AuditEntry(index); err == nil {
		var proof []byte
		proof, err = a.AuditLog.ProveEntry(index)
		p.Proof = string(proof)
	}
	if changed := (*audit.TamperedError)(nil); p.Entry.Kind != "" && errors.As(err, &changed) {
		p.Unproved, err = changed.What, nil
	}
	if errors.Is(err, audit.ErrNoEntry) || errors.Is(err, audit.ErrDropped) || errors.Is(err, audit.ErrEmpty) {
		return p, &Error{Status: http.StatusNotFound, Message: err.Error(), Hint: "driftd audit list shows the entries"}
	}
	if err != nil {
		return p, unavailable(err)
	}
	if withNames && p.Unproved == "" {
		names, erased, err := a.AuditLog.DiscloseNames(index)
		if err != nil {
			return p, unavailable(err)
		}
		p.Proof, p.Erased = p.Proof+string(names), erased
	}
	key, err := a.AuditLog.AuditKey()
	p.Key = key.String()
	return p, err
}

func noAuditLog() error {
	return &Error{Status: http.StatusServiceUnavailable, Message: "the audit log is not available here", Hint: "run driftd audit on the daemon's host"}
}

// maxAuditPage is the largest number of entries in one response.
const maxAuditPage = 1000

func (a API) auditList(r *http.Request) (any, error) {
	p, err := a.params(r, "before", "limit")
	if err != nil {
		return nil, err
	}
	limit, err := p.number("limit", defaultRuns, 1, maxAuditPage)
	if err != nil {
		return nil, err
	}
	before, err := p.number("before", 0, 1, math.MaxInt)
	if err != nil {
		return nil, err
	}
	list, err := a.AuditEntries(int64(before), limit)
	if list == nil {
		list = []audit.Entry{}
	}
	return AuditList{list}, err
}

func (a API) auditEntry(r *http.Request) (any, error) {
	params, err := a.params(r, "names")
	if err != nil {
		return nil, err
	}
	withNames, err := params.flag("names")
	if err != nil {
		return nil, err
	}
	index, err := strconv.ParseInt(r.PathValue("index"), 10, 64)
	if err != nil {
		return nil, badRequest(fmt.Sprintf("%q is not the index of an entry", r.PathValue("index")), "want a number, as driftd audit list shows it")
	}
	return a.ProveEntry(index, withNames)
}

// AuditEntries returns at most limit entries of the audit log, newest first. If before is positive, it
// returns only entries with a lower index.
func (c *Client) AuditEntries(ctx context.Context, before int64, limit int) ([]audit.Entry, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if before > 0 {
		query.Set("before", strconv.FormatInt(before, 10))
	}
	var list AuditList
	err := c.do(ctx, http.MethodGet, "audit", query, &list)
	return list.Entries, err
}

// AuditEntry returns an entry of the audit log with its proof. If withNames is set, the proof is followed
// by the names of the persons in the entry.
func (c *Client) AuditEntry(ctx context.Context, index int64, withNames bool) (p AuditProof, err error) {
	query := url.Values{}
	if withNames {
		query.Set("names", "true")
	}
	err = c.do(ctx, http.MethodGet, "audit/"+strconv.FormatInt(index, 10), query, &p)
	return p, err
}

// VerifyAudit verifies the audit log.
func (c *Client) VerifyAudit(ctx context.Context) (h AuditHealth, err error) {
	err = c.do(ctx, http.MethodGet, "auditing/verify", nil, &h)
	return h, err
}

// TrustAudit settles the doubt about the audit log, so that it continues from its present content. It
// records the reason.
func (c *Client) TrustAudit(ctx context.Context, reason string) (t audit.Trust, err error) {
	err = c.post(ctx, "auditing/trust", AuditReason{reason}, &t)
	return t, err
}

// SendAuditHead sends the head of the audit log to its witnesses.
func (c *Client) SendAuditHead(ctx context.Context) (s AuditSent, err error) {
	err = c.do(ctx, http.MethodPost, "auditing/witness", nil, &s)
	return s, err
}

// EraseName erases the name of a person from the audit log.
func (c *Client) EraseName(ctx context.Context, name string) error {
	return c.post(ctx, "auditing/erase", AuditName{name}, new(AuditName))
}

func (c *Client) post(ctx context.Context, page string, request, into any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode the request to %s: %w", page, err)
	}
	return c.send(ctx, http.MethodPost, page, nil, bytes.NewReader(body), into)
}
