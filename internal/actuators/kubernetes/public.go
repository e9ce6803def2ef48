package kubernetes

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/printable"
	"github.com/driftd/driftd/internal/reconcile"
)

// public returns an error without secrets, with the next step.
func (a *Actuator) public(c *client, err error) error {
	if refusal, ok := errors.AsType[*reconcile.Refusal](err); ok {
		return &reconcile.Refusal{Guard: refusal.Guard, Why: a.options.Room.Text(refusal.Why)}
	}
	err = kubeapi.FirstLine(err)
	if hint := c.hint(err); hint != "" {
		err = fmt.Errorf("%s: %w; %s", c.server(), err, hint)
	}
	return a.options.Room.Error(err)
}

// hint returns the next step after an error of the API server or of the connection.
func (c *client) hint(err error) string {
	switch code := httpclient.Code(err); {
	case errors.Is(err, errNotServed):
		return "see kubectl api-resources"
	case code == http.StatusUnauthorized:
		return "the credentials for writing were rejected: renew them"
	case code == http.StatusForbidden:
		return "grant the right to the user: see `driftd reconcile check`"
	case code != 0:
		return ""
	}
	return kubeapi.Hint(err)
}

// public returns an error of the change without secrets, with the next step.
func (b *base) public(err error) error { return b.redactor.error(b.actuator.public(b.writer, err)) }

// reason returns why the API server rejects a request. The error is one that redactor.rejection returned.
func (b *base) reason(err error) string {
	status := httpclient.StatusOf(err)
	if status == nil || status.Message == "" || b.redactor.sealed {
		return err.Error()
	}
	return b.actuator.options.Room.Text(printable.Text(status.Message))
}
