package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// A Decider makes and revokes decisions. The daemon implements it, and so does a command that runs without
// a daemon.
type Decider interface {
	// Decide makes a decision about each open finding whose ID begins with one of ids.
	Decide(ctx context.Context, ids []string, r decide.Request) ([]model.Decision, error)
	// Revoke revokes the decision whose ID begins with id, on behalf of the person by.
	Revoke(ctx context.Context, id, by string) (model.Decision, error)
}

// A DecisionReader reads decisions.
type DecisionReader interface {
	// Decisions returns all decisions, including ended ones.
	Decisions() ([]model.Decision, error)
}

// A DecisionRequest is the body of a POST to /api/v1/decisions.
type DecisionRequest struct {
	Kind model.DecisionKind `json:"kind"`
	// Findings are prefixes of finding IDs.
	Findings []string `json:"findings"`
	Reason   string   `json:"reason"`
	Owner    string   `json:"owner"`
	// Until is the time at which the decision ends: a time, a date (inclusive), a duration from now
	// ("30d"), or "forever". "" means the default of the kind.
	Until string `json:"until"`
}

// Decisions is the response of /api/v1/decisions.
type Decisions struct {
	// Decisions are sorted by ID. It is never nil.
	Decisions []model.DecisionStatus `json:"decisions"`
}

// maxFindings bounds the number of findings of one request.
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

// standing returns each decision with the open findings for which it is in force, or the reason why
// there are none.
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
	why := inactiveReasons{API: a, open: newAbout(open)}
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

// publicDecision returns a decision with its times in UTC and without the values that a decision in
// a file lists.
func publicDecision(d model.Decision) model.Decision {
	changes := make([]model.Change, len(d.Changes))
	for i, c := range d.Changes {
		changes[i] = model.Change{Path: c.Path, Secret: c.Secret}
	}
	d.Covered = nil
	if d.Changes = changes; len(changes) == 0 {
		d.Changes = nil
	}
	d.At, d.Until, d.Replaced = d.At.UTC(), d.Until.UTC(), d.Replaced.UTC()
	return d
}

// decide calls Decide with the request's body.
func (a API) decide(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	request, err := readDecision(r.Body)
	if err != nil {
		return nil, err
	}
	return a.Decide(r.Context(), request)
}

// Decide makes decisions about findings on behalf of the visitor in ctx, who must have the role operator.
// The role approver is required for a decision without an end, and to replace a decision of another person.
func (a API) Decide(ctx context.Context, request DecisionRequest) (Decisions, error) {
	needed := access.Operator
	if strings.TrimSpace(request.Until) == "forever" {
		needed = access.Approver
	}
	if err := a.Permit(ctx, needed); err != nil {
		return Decisions{}, err
	}
	if a.Decider == nil {
		return Decisions{}, undecided()
	}
	if err := request.check(); err != nil {
		return Decisions{}, err
	}
	if err := a.permitReplacing(ctx, &request); err != nil {
		return Decisions{}, err
	}
	made, err := a.Decider.Decide(ctx, request.Findings, decide.Request{Kind: request.Kind,
		Reason: request.Reason, Owner: request.Owner, Until: request.Until, By: access.Of(ctx).Author(), Via: via(ctx)})
	if err != nil {
		return Decisions{}, err
	}
	return a.standing(made)
}

// permitReplacing returns an error if the decision would replace one of another person and the
// visitor may not revoke that one. Any operator may replace an acknowledgement.
func (a API) permitReplacing(ctx context.Context, request *DecisionRequest) error {
	visitor := access.Of(ctx)
	if visitor.May(access.Approver) || request.Kind == model.Acknowledge {
		return nil
	}
	list, err := a.Store.Decisions()
	if err != nil {
		return err
	}
	now := a.Now()
	list = slices.DeleteFunc(list, func(d model.Decision) bool {
		return d.Kind != request.Kind || d.From != "" || d.By == visitor.Author() || d.Ended(now)
	})
	if len(list) == 0 {
		return nil
	}
	for _, id := range request.Findings {
		f, _, err := a.Store.Finding(id)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(list, func(d model.Decision) bool { return d.Finding != "" && d.Holds(&f, now) }); i >= 0 {
			return &access.Refused{Status: http.StatusForbidden,
				Message: fmt.Sprintf("%s %s finding %s, and replacing decisions of others needs the role %s", list[i].By, list[i].Kind.Participle(), f.ID, access.Approver),
				Hint:    "ask them or an approver; server.access in the configuration assigns the roles"}
		}
	}
	return nil
}

// via returns the interface that the context's visitor uses.
func via(ctx context.Context) string {
	switch visitor := access.Of(ctx); {
	case visitor.Via != access.Local:
		return "web"
	case visitor.AsRoot:
		return "command line (as root)"
	}
	return "command line"
}

// readDecision decodes a request strictly.
func readDecision(body io.Reader) (request DecisionRequest, err error) {
	err = readBody(body, &request, `want {"kind", "findings", "reason", "owner", "until"}`)
	return request, err
}

// readBody decodes one object strictly. want is the hint if the body has another form.
func readBody(body io.Reader, into any, want string) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return &Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the body is over %d bytes", large.Limit), Hint: "name fewer findings"}
	}
	if err != nil {
		return badRequest("the body is malformed: "+err.Error(), want)
	}
	if d.More() {
		return badRequest("the body continues after the object", "send one object")
	}
	return nil
}

// check returns an error if the request's list of findings is invalid.
func (r *DecisionRequest) check() error {
	switch {
	case len(r.Findings) == 0 || slices.Contains(r.Findings, ""):
		return badRequest("no finding is named", "`driftd findings list` lists the findings")
	case len(r.Findings) > maxFindings:
		return badRequest(fmt.Sprintf("%d findings at once", len(r.Findings)), fmt.Sprintf("name at most %d", maxFindings))
	}
	for _, id := range r.Findings {
		if len(id) < minID {
			return tooShort(id)
		}
	}
	return nil
}

// revoke calls Revoke with the request's path.
func (a API) revoke(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	return a.Revoke(r.Context(), r.PathValue("id"))
}

// Revoke revokes the decision whose ID begins with id, on behalf of the visitor in ctx, who must have made
// it or have the role approver.
func (a API) Revoke(ctx context.Context, id string) (model.Decision, error) {
	if err := a.Permit(ctx, access.Operator); err != nil {
		return model.Decision{}, err
	}
	if a.Decider == nil {
		return model.Decision{}, undecided()
	}
	if len(id) < minID {
		return model.Decision{}, tooShort(id)
	}
	if err := a.permitRevoking(ctx, id); err != nil {
		return model.Decision{}, err
	}
	d, err := a.Decider.Revoke(ctx, id, access.Of(ctx).Author())
	if errors.Is(err, store.ErrNotFound) {
		return d, a.notDecided(id)
	}
	return publicDecision(d), err
}

// permitRevoking returns an error if another person made the decision and the visitor is not an
// approver.
func (a API) permitRevoking(ctx context.Context, id string) error {
	visitor := access.Of(ctx)
	if visitor.May(access.Approver) {
		return nil
	}
	list, err := a.Store.Decisions()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(d model.Decision) bool { return strings.HasPrefix(d.ID, id) && !visitor.MayRevoke(d.By) }) {
		return a.Permit(ctx, access.Approver)
	}
	return nil
}

// notDecided returns the error for an ID without a decision.
func (a API) notDecided(id string) *Error {
	e := &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("no decision has an ID that begins with %q", id), Hint: "`driftd decisions` lists the decisions"}
	f, _, err := a.Store.Finding(id)
	switch {
	case err != nil:
	case f.Decision == nil:
		e.Message, e.Hint = fmt.Sprintf("%q is a finding, not a decision", id), "no decision applies to it"
	default:
		e.Message, e.Hint = fmt.Sprintf("%q is a finding, not a decision", id), "name the decision that applies to it, "+f.Decision.ID
	}
	return e
}

// minID is the minimum length of an ID prefix in a decision. A shorter one may be a typing error
// that happens to be unique.
const minID = 4

func tooShort(id string) *Error {
	return badRequest(fmt.Sprintf("ID %q is too short to decide by", id), fmt.Sprintf("write at least %d characters of it", minID))
}

func undecided() *Error {
	return &Error{Status: http.StatusServiceUnavailable, Message: "decisions cannot be made here", Hint: "use driftd accept, acknowledge or snooze on the host of the daemon"}
}
