package kubernetes

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

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

// reason returns why the API server rejects a request. The texts of admission may quote parts of the
// object: they are left out if the request has a secret.
func (a *Actuator) reason(err error, changes []reconcile.FieldChange) string {
	status := httpclient.StatusOf(err)
	if status == nil {
		return err.Error()
	}
	text := status.Message
	for i := range changes {
		if status.Code != http.StatusUnprocessableEntity && (isSealed(changes[i].New) || isSealed(changes[i].Old)) {
			text, _, _ = strings.Cut(text, "denied the request")
			break
		}
	}
	if text == "" {
		text = http.StatusText(status.Code)
	}
	return a.options.Room.Text(printable.Text(text))
}
