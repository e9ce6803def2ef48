package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/driftd/driftd/internal/filter"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/remedy"
)

// ErrNoDaemon is returned if no daemon listens on the socket.
var ErrNoDaemon = errors.New("no daemon answers")

// statusPage is the page that daemons of all versions have.
const statusPage = "status"

// maxAnswer bounds the size of a response in bytes.
const maxAnswer = 1 << 30

// A Client calls the API. For an error response, its methods return an *Error.
type Client struct {
	HTTP *http.Client
	// local is the API in this process; nil if it is behind HTTP.
	local *API
}

// NewLocalClient returns a client of an API within this process.
func NewLocalClient(a API) *Client {
	return &Client{HTTP: &http.Client{Transport: InProcess(a.Handler())}, local: &a}
}

// Dial returns a client of the daemon that listens on a unix socket. It returns ErrNoDaemon if there is
// none.
func Dial(ctx context.Context, socket string) (*Client, error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		d := net.Dialer{Timeout: 5 * time.Second}
		return d.DialContext(ctx, "unix", socket)
	}
	conn, err := dial(ctx, "", "")
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w on %s", ErrNoDaemon, socket)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("connect to %s: permission denied: run this as root, as the daemon's user, or as a member of its group that can access the folder", socket)
	case err != nil:
		return nil, fmt.Errorf("connect to the daemon: %w", err)
	}
	if err := conn.Close(); err != nil {
		return nil, fmt.Errorf("connect to the daemon: %w", err)
	}
	return &Client{HTTP: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}, nil
}

// A Query selects findings; empty fields select all.
type Query struct {
	// Since is a time ("2026-01-31T14:00:00Z") or an age ("24h").
	Since    string
	Verdicts []string
	Sources  []string
	// Resolved includes resolved findings. Hidden includes findings that are accepted or that a rule hides.
	Resolved, Hidden bool
	// Filter is not supported by Client.Report.
	filter.Filter
}

func (q Query) values() url.Values {
	v := filterValues(&q.Filter)
	if q.Since != "" {
		v.Set("since", q.Since)
	}
	if len(q.Verdicts) > 0 {
		v["verdict"] = q.Verdicts
	}
	if len(q.Sources) > 0 {
		v["source"] = q.Sources
	}
	if q.Resolved {
		v.Set("resolved", "true")
	}
	if q.Hidden {
		v.Set("hidden", "true")
	}
	return v
}

// Report returns the last run and the findings that are open now.
func (c *Client) Report(ctx context.Context, q Query) (r model.Report, err error) {
	err = c.do(ctx, http.MethodGet, "report", q.values(), &r)
	return r, err
}

// Findings returns findings, most severe first.
func (c *Client) Findings(ctx context.Context, q Query) ([]model.Finding, error) {
	var f Findings
	err := c.do(ctx, http.MethodGet, "findings", q.values(), &f)
	return f.Findings, err
}

// Outlines returns the outlines of findings, in no particular order. A local client returns them without
// encoding and decoding them.
func (c *Client) Outlines(ctx context.Context, q Query) ([]*model.Outline, error) {
	if c.local == nil {
		var list Outlines
		err := c.do(ctx, http.MethodGet, "outlines", q.values(), &list)
		return list.Outlines, err
	}
	s, err := params{q.values(), c.local.Now().UTC()}.selection()
	if err != nil {
		return nil, AsError(err)
	}
	list, err := c.local.selectedOutlines(ctx, s)
	if err != nil {
		return nil, AsError(err)
	}
	return list, nil
}

// Finding returns the finding whose ID begins with id.
func (c *Client) Finding(ctx context.Context, id string) (f FindingDetail, err error) {
	if id == "" {
		return f, badRequest("no finding is named", "`driftd findings list` lists the findings")
	}
	err = c.do(ctx, http.MethodGet, "findings/"+url.PathEscape(id), nil, &f)
	return f, err
}

// Suggestion returns the suggestion for the finding whose ID begins with id.
func (c *Client) Suggestion(ctx context.Context, id string) (s remedy.Suggestion, err error) {
	if id == "" {
		return s, badRequest("no finding is named", "`driftd findings list` lists the findings")
	}
	err = c.do(ctx, http.MethodGet, "findings/"+url.PathEscape(id)+"/suggestion", nil, &s)
	return s, err
}

// History returns the values over time of the resource whose key ends with key.
func (c *Client) History(ctx context.Context, key string) (h History, err error) {
	if key == "" {
		return h, badRequest("no resource is named", "write the end of its key, as in Deployment.apps/shop/web")
	}
	err = c.do(ctx, http.MethodGet, "history", url.Values{"key": {key}}, &h)
	return h, err
}

// Diff returns the resources that differ between two times, of one source or, if source is "", of all.
// Times are in the format of Query.Since. An empty from means a day ago, and an empty to means now.
func (c *Client) Diff(ctx context.Context, source, from, to string) (d Diff, err error) {
	err = c.do(ctx, http.MethodGet, "diff", url.Values{"source": {source}, "from": {from}, "to": {to}}, &d)
	return d, err
}

// Scan makes the daemon scan the named sources, or all sources if there are none. It waits for the end of
// the scan and returns the findings that are open then.
func (c *Client) Scan(ctx context.Context, sources []string) (r model.Report, err error) {
	err = c.do(ctx, http.MethodPost, "scan", url.Values{"source": sources}, &r)
	return r, err
}

// Exemptions returns the fields that the last scan exempted from comparison.
func (c *Client) Exemptions(ctx context.Context) (e Exemptions, err error) {
	err = c.do(ctx, http.MethodGet, "exemptions", nil, &e)
	return e, err
}

// Runs returns the records of the last runs, newest first.
func (c *Client) Runs(ctx context.Context, limit int) (r Runs, err error) {
	err = c.do(ctx, http.MethodGet, "runs", url.Values{"limit": {strconv.Itoa(limit)}}, &r)
	return r, err
}

// Status returns the status of the daemon.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	err = c.do(ctx, http.MethodGet, statusPage, nil, &s)
	return s, err
}

// Decide makes decisions and returns them.
func (c *Client) Decide(ctx context.Context, request DecisionRequest) ([]model.DecisionStatus, error) {
	var made Decisions
	err := c.post(ctx, "decisions", request, &made)
	return made.Decisions, err
}

// Decisions returns all stored decisions, including ended ones.
func (c *Client) Decisions(ctx context.Context) ([]model.DecisionStatus, error) {
	var d Decisions
	err := c.do(ctx, http.MethodGet, "decisions", nil, &d)
	return d.Decisions, err
}

// Revoke revokes the decision whose ID begins with id, and returns it.
func (c *Client) Revoke(ctx context.Context, id string) (d model.Decision, err error) {
	if id == "" {
		return d, badRequest("no decision is named", "`driftd decisions` lists the decisions")
	}
	err = c.do(ctx, http.MethodDelete, "decisions/"+url.PathEscape(id), nil, &d)
	return d, err
}

// do sends a request and decodes the response.
func (c *Client) do(ctx context.Context, method, page string, query url.Values, into any) error {
	return c.send(ctx, method, page, query, http.NoBody, into)
}

func (c *Client) send(ctx context.Context, method, page string, query url.Values, content io.Reader, into any) (err error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://driftd/api/v1/"+page+"?"+query.Encode(), content)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", page, err)
	}
	answer, err := c.HTTP.Do(r)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", page, withoutURL(err))
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("read the answer to %s: %w", page, err)
	}
	if len(body) > maxAnswer {
		return fmt.Errorf("read the answer to %s: over %d MiB: use a filter", page, maxAnswer>>20)
	}
	if answer.StatusCode != http.StatusOK {
		return c.refusal(ctx, page, answer.StatusCode, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decode the answer to %s: %w", page, err)
	}
	return nil
}

// refusal decodes the error of a response to a request for a page.
func (c *Client) refusal(ctx context.Context, page string, status int, body []byte) error {
	e := &Error{Status: status}
	if err := json.Unmarshal(body, e); err != nil || e.Message == "" {
		e = &Error{Status: status, Message: fmt.Sprintf("the daemon returned %d %s", status, http.StatusText(status))}
	}
	if status != http.StatusNotFound || e.Message != notFound || page == statusPage {
		return e
	}
	of := "another version"
	if running, err := c.Status(ctx); err == nil && running.Version != "" {
		of = "version " + running.Version
	}
	return &Error{Status: status, Message: fmt.Sprintf("the running daemon is %s of driftd and does not support this command (%s)", of, page),
		Hint: "restart it with the version of the command: systemctl restart driftd"}
}

// withoutURL removes the placeholder address of a request over a socket from its error.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// Reconcile proposes an action for the finding whose ID begins with id. If request.DryRun is set, it only
// returns the proposal.
func (c *Client) Reconcile(ctx context.Context, id string, request ActionRequest) (p Proposed, err error) {
	if id == "" {
		return p, badRequest("no finding is named", "`driftd findings list` lists the findings")
	}
	err = c.post(ctx, "findings/"+url.PathEscape(id)+"/reconcile", request, &p)
	return p, err
}

// Actions returns the actions, the freezes in effect, and the rules.
func (c *Client) Actions(ctx context.Context) (o reconcile.Overview, err error) {
	err = c.do(ctx, http.MethodGet, "actions", nil, &o)
	return o, err
}

// Action returns the action whose ID begins with id.
func (c *Client) Action(ctx context.Context, id string) (a reconcile.Action, err error) {
	if id == "" {
		return a, badRequest("no action is named", "`driftd actions` lists the actions")
	}
	err = c.do(ctx, http.MethodGet, "actions/"+url.PathEscape(id), nil, &a)
	return a, err
}

// AnswerAction approves, declines, cancels or settles the action whose ID begins with id.
func (c *Client) AnswerAction(ctx context.Context, id string, answer reconcile.Answer, request ActionRequest) (a reconcile.Action, err error) {
	if id == "" {
		return a, badRequest("no action is named", "`driftd actions` lists the actions")
	}
	err = c.post(ctx, "actions/"+url.PathEscape(id)+"/"+string(answer), request, &a)
	return a, err
}

// Control freezes actions, ends freezes, or resumes a rule.
func (c *Client) Control(ctx context.Context, request ControlRequest) (made reconcile.Control, err error) {
	err = c.post(ctx, "controls", request, &made)
	return made, err
}
