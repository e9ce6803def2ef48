package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/putback"
	"github.com/driftd/driftd/internal/reconcile"
)

// Plan implements reconcile.Change.
func (c *change) Plan() reconcile.Plan { return c.plan }

// Rehearse implements reconcile.Change. It does nothing, because OpenStack has no dry run.
func (c *change) Rehearse(context.Context) error { return nil }

// Write implements reconcile.Change. Before a deletion, it reads the source again, and verifies that the
// object is still not declared.
func (c *change) Write(ctx context.Context) (receipt reconcile.Receipt, err error) {
	if c.plan.Deletes {
		if err := c.again(ctx, nil); err != nil {
			return receipt, err
		}
	}
	// A lost answer may be one of a request that took effect: each is sent once.
	connected := c.actuator.with(ctx, c.actuator.writing(), 1, func(s *openstackapi.Session) error {
		receipt, err = c.send(ctx, s)
		return nil
	})
	if connected != nil {
		return receipt, &reconcile.NotWrittenError{Err: connected}
	}
	return receipt, err
}

// send sends the requests. After an error, nothing more is sent.
func (c *change) send(ctx context.Context, s *openstackapi.Session) (receipt reconcile.Receipt, err error) {
	now, err := c.unchanged(ctx, s)
	if err != nil {
		return receipt, err
	}
	receipt = reconcile.Receipt{Status: http.StatusOK, At: c.actuator.options.Now()}
	for i, r := range c.requests(now) {
		id, err := s.Send(ctx, &r.Request)
		switch {
		case err == nil:
			receipt.Request = id
		case isRefused(err) && i == 0:
			receipt.Status = httpclient.Code(err)
			return receipt, &reconcile.NotWrittenError{Err: c.explain(s, err)}
		case isRefused(err):
			receipt.Unexpected = []string{fmt.Sprintf("after %d of the requests, this one was refused: %s: %v: what was changed before is left", i, r.words, err)}
			return receipt, nil
		default:
			receipt.Status = httpclient.Code(err)
			return receipt, c.explain(s, err)
		}
	}
	return receipt, nil
}

// unchanged reads the object with the account that writes, and compares it with the plan.
func (c *change) unchanged(ctx context.Context, s *openstackapi.Session) (*object, error) {
	now, err := read(ctx, s, c.key)
	switch {
	case errors.Is(err, errGone):
		return nil, refuse(guardStillSo, "%v, or %s does not see it: look again", errGone, identity(s))
	case err != nil:
		return nil, &reconcile.NotWrittenError{Err: c.explain(s, err)}
	case putback.Inspect(c.actuator.kinds[c.key.Kind].Schema, now.Value, &c.plan) != reconcile.AsBefore:
		return nil, refuse(guardStillSo, "it was changed since it was read: look again")
	}
	return now, nil
}

// isRefused reports whether an error is an answer of a service itself after which nothing was changed, and not of a proxy.
func isRefused(err error) bool {
	status := httpclient.StatusOf(err)
	return status != nil && status.Own && slices.Contains([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusConflict, http.StatusPreconditionFailed, http.StatusTooManyRequests}, status.Code)
}

// explain adds the next step to the error of a write.
func (c *change) explain(s *openstackapi.Session, err error) error {
	hint := "see the log of the service"
	switch httpclient.Code(err) {
	case http.StatusPreconditionFailed, http.StatusConflict:
		hint = "it was changed since it was read, or something else changes it: look again"
	case http.StatusForbidden:
		hint = fmt.Sprintf("the policy of the service does not allow it to %s: give it another role, such as member", identity(s))
	case http.StatusUnauthorized:
		hint = "check the credentials of cloud " + c.actuator.options.Writing.Cloud + " of clouds_file, and the access rules of its application credential"
	case http.StatusBadRequest:
		hint = "the service does not take the value: look at the object there"
	}
	return &httpclient.Error{Server: s.Server(), Err: err, Hint: hint, Writing: true}
}
