package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/user"
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// Decider carries out what somebody decided: the daemon, or a command itself.
type Decider interface {
	// Decide decides about the open findings whose IDs begin so.
	Decide(ctx context.Context, ids []string, r decide.Request) ([]model.Decision, error)
	// Revoke takes the decision back whose ID begins so.
	Revoke(ctx context.Context, id string) (model.Decision, error)
}

// DecisionReader reads what people decided.
type DecisionReader interface {
	// Decisions returns those that have ended too.
	Decisions() ([]model.Decision, error)
}

// A DecisionRequest is the body of a POST to /api/v1/decisions.
type DecisionRequest struct {
	Kind model.DecisionKind `json:"kind"`
	// Findings are the beginnings of IDs.
	Findings []string `json:"findings"`
	Reason   string   `json:"reason"`
	Owner    string   `json:"owner"`
	// Until is when it ends: a time, a date, which counts until its end, how
	// long from now as in "30d", or "forever"; "" stands for the kind's default.
	Until string `json:"until"`
}

// Decisions is the answer to /api/v1/decisions.
type Decisions struct {
	// Decisions are sorted by ID and never null.
	Decisions []model.DecisionStatus `json:"decisions"`
}

// maxFindings bounds how many findings one request decides about.
const maxFindings = 1000

func (a API) decisions(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	list, err := a.Store.Decisions()
	if err != nil {
		return nil, err
	}
	return a.standing(list)
}

// standing says which open findings each of the decisions holds for, or why for
// none.
func (a API) standing(list []model.Decision) (Decisions, error) {
	open, err := a.Store.Findings(store.Filter{})
	if err != nil {
		return Decisions{}, err
	}
	held := map[string][]string{}
	for i := range open {
		if d := open[i].Decision; d != nil {
			held[d.ID] = append(held[d.ID], open[i].ID)
		}
	}
	answer := Decisions{Decisions: make([]model.DecisionStatus, 0, len(list))}
	why := excuses{API: a, open: newAbout(open)}
	for i := range list {
		status := model.DecisionStatus{Decision: publicDecision(list[i]), Holds: append([]string{}, held[list[i].ID]...)}
		slices.Sort(status.Holds)
		if len(status.Holds) == 0 {
			if status.Why, err = why.of(&list[i]); err != nil {
				return Decisions{}, err
			}
		}
		answer.Decisions = append(answer.Decisions, status)
	}
	return answer, nil
}

// publicDecision drops the values that a decision in a file lists: the file
// shows them.
func publicDecision(d model.Decision) model.Decision {
	changes := make([]model.Change, len(d.Changes))
	for i, c := range d.Changes {
		changes[i] = model.Change{Path: c.Path, Secret: c.Secret}
	}
	if d.Changes = changes; len(changes) == 0 {
		d.Changes = nil
	}
	return d
}

// decide decides about findings, in the name of whoever connected.
func (a API) decide(r *http.Request) (any, error) {
	if a.Decider == nil {
		return nil, undecided()
	}
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	request, err := readDecision(r.Body)
	if err != nil {
		return nil, err
	}
	made, err := a.Decider.Decide(r.Context(), request.Findings, decide.Request{Kind: request.Kind,
		Reason: request.Reason, Owner: request.Owner, Until: request.Until, By: callerOf(r.Context()), Via: "command line"})
	if err != nil {
		return nil, err
	}
	return a.standing(made)
}

// readDecision reads a request, strictly.
func readDecision(body io.Reader) (DecisionRequest, error) {
	var request DecisionRequest
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		return request, badRequest("the body is no decision: "+err.Error(), `want {"kind", "findings", "reason", "owner", "until"}`)
	}
	switch {
	case d.More():
		return request, badRequest("something follows the decision", "send one")
	case len(request.Findings) == 0 || slices.Contains(request.Findings, ""):
		return request, badRequest("no finding is named", "`driftd findings list` shows those that there are")
	case len(request.Findings) > maxFindings:
		return request, badRequest(fmt.Sprintf("%d findings at once", len(request.Findings)), fmt.Sprintf("name at most %d", maxFindings))
	}
	for _, id := range request.Findings {
		if len(id) < minID {
			return request, tooShort(id)
		}
	}
	return request, nil
}

func (a API) revoke(r *http.Request) (any, error) {
	if a.Decider == nil {
		return nil, undecided()
	}
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	if len(id) < minID {
		return nil, tooShort(id)
	}
	d, err := a.Decider.Revoke(r.Context(), id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, a.notDecided(id)
	}
	return publicDecision(d), err
}

// notDecided says what an ID is that is no decision's.
func (a API) notDecided(id string) *Error {
	e := &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("no decision has an ID that begins with %q", id), Hint: "`driftd decisions` shows those that there are"}
	f, _, err := a.Store.Finding(id)
	switch {
	case err != nil:
	case f.Decision == nil:
		e.Message, e.Hint = fmt.Sprintf("%q is a finding, not a decision", id), "no decision holds for it"
	default:
		e.Message, e.Hint = fmt.Sprintf("%q is a finding, not a decision", id), "name the decision that holds for it, "+f.Decision.ID
	}
	return e
}

// minID is how much of an ID must be written to decide something: what is
// shorter may be a slip that is unique by chance.
const minID = 4

func tooShort(id string) *Error {
	return badRequest(fmt.Sprintf("ID %q is too short to decide by", id), fmt.Sprintf("write at least %d characters of it", minID))
}

func undecided() *Error {
	return &Error{Status: http.StatusServiceUnavailable, Message: "nothing can be decided here", Hint: "use driftd accept, acknowledge or snooze on the host of the daemon"}
}

// callerOf names who asks: the user at the other end of the socket, or whoever
// runs the command that asks itself.
func callerOf(ctx context.Context) string {
	p, ok := ctx.Value(peerKey{}).(*peer)
	if !ok {
		if u, err := user.Current(); err == nil {
			return u.Username
		}
		return "unknown"
	}
	uid := strconv.FormatUint(uint64(p.uid), 10)
	if u, err := user.LookupId(uid); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + uid
}
