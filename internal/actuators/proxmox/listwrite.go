package proxmox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/putback"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/reconcile"
)

// A listChange is a change of a list that is planned and not made.
type listChange struct {
	actuator *Actuator
	key      model.Key
	before   *list
	steps    []step
	plan     reconcile.Plan
}

// Plan implements reconcile.Change.
func (c *listChange) Plan() reconcile.Plan { return c.plan }

// Rehearse implements reconcile.Change. It does nothing, because Proxmox VE has no dry run; the plan
// contains the rows after each request.
func (c *listChange) Rehearse(context.Context) error { return nil }

// Write implements reconcile.Change. It reads the list before the first request, because Proxmox VE does
// not compare a digest when a rule is added, and after each request. It sends the next request, with the
// digest of the list, only if the rows are as planned.
func (c *listChange) Write(ctx context.Context) (receipt reconcile.Receipt, err error) {
	a, access := c.actuator, c.actuator.writing()
	receipt = reconcile.Receipt{Status: http.StatusOK, At: a.options.Now()}
	connected := a.with(ctx, access, func(writing *pveapi.Session) error {
		return a.with(ctx, a.options.Reading, func(reading *pveapi.Session) error {
			err = c.send(ctx, writing, reading, &receipt)
			return nil
		})
	})
	if connected != nil {
		return reconcile.Receipt{}, &reconcile.NotWrittenError{Err: connected}
	}
	return receipt, err
}

// send sends all requests.
func (c *listChange) send(ctx context.Context, writing, reading *pveapi.Session, receipt *reconcile.Receipt) error {
	a, rows, digest := c.actuator, c.before.rows, c.before.digest
	now, err := a.readListOver(ctx, reading, c.key)
	if err != nil {
		return unsent(err)
	}
	if now.digest != digest {
		return &reconcile.NotWrittenError{Err: errors.New("the list was changed since it was read: look again")}
	}
	for i := range c.steps {
		step := &c.steps[i]
		failed := step.send(ctx, writing, digest)
		if failed != nil {
			if receipt.Status = httpclient.Code(failed); !isAnswer(failed) {
				return a.writing().Explain(failed, "")
			}
		}
		after, err := a.readListOver(ctx, reading, c.key)
		if err != nil {
			return fmt.Errorf("after request %d of %d, the list could not be read again: %v", i+1, len(c.steps), err) //nolint:errorlint // A refusal would mean that nothing was sent.
		}
		switch {
		case failed != nil && i == 0 && (refused(failed, a.options.Writing.Name()) != "" || a.isSame(c.before, after.rows, rows)):
			return &reconcile.NotWrittenError{Err: a.explainWrite(failed)}
		case failed != nil:
			receipt.Unexpected = []string{fmt.Sprintf("Proxmox VE answered %v to request %d of %d (%s): what was done before is left", failed, i+1, len(c.steps), step.text)}
			return nil
		case !a.isSame(c.before, after.rows, step.rows):
			receipt.Unexpected = []string{fmt.Sprintf("after request %d of %d (%s) the list is not as planned: something else changed it", i+1, len(c.steps), step.text)}
			return nil
		}
		rows, digest = after.rows, after.digest
	}
	return nil
}

// send sends a request with the digest of the list.
func (s *step) send(ctx context.Context, session *pveapi.Session, digest string) error {
	form, path := url.Values{}, s.path
	for name, values := range s.form {
		form[name] = values
	}
	switch {
	case s.method == http.MethodDelete:
		path += "?digest=" + url.QueryEscape(digest)
	case s.guarded:
		form.Set("digest", digest)
	}
	_, err := session.Write(ctx, s.method, path, form)
	return err
}

// inspectList implements Inspect for a list.
func (a *Actuator) inspectList(ctx context.Context, key model.Key, p *reconcile.Plan) (reconcile.Inspection, error) {
	l, err := a.readList(ctx, key)
	if err != nil {
		return asGone(err)
	}
	if l.cluster != p.System {
		return "", a.otherCluster(l.cluster)
	}
	return putback.Inspect(a.kinds[l.kind].Schema, a.listValue(l, l.rows), p), nil
}
