package kubernetes

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/reconcile"
)

// maxNamed bounds the fields that a message names.
const maxNamed = 3

// first returns the first paths, for a message.
func first(paths []string) string { return strings.Join(paths[:min(len(paths), maxNamed)], ", ") }

// An answered is a change whose answers are compared with the plan.
type answered interface {
	// unexpected returns the paths of the plan that have other values, and those of other fields that differ.
	unexpected(after *object) (made, others []string)
	// rejected returns the error of a request that was answered with err. invalid makes the one of an object that is
	// not accepted.
	rejected(ctx context.Context, err error, invalid func(why string) error) error
}

// write sends the request of a change once. Admission may do something else than in the dry run, so that the
// answer is compared, too.
func (b *base) write(ctx context.Context, method, path, contentType string, body []byte, c answered) (reconcile.Receipt, error) {
	result, request, err := b.writer.send(ctx, method, path, b.writer.query(false), contentType, body)
	receipt := reconcile.Receipt{Status: httpclient.Code(err), Request: request, At: b.actuator.options.Now()}
	if err != nil {
		executed := !wasNotExecuted(err)
		err = b.public(c.rejected(ctx, err, func(why string) error { return errors.New("the API server rejects the change: " + why) }))
		if executed {
			return receipt, err
		}
		return receipt, &reconcile.NotWrittenError{Err: err}
	}
	receipt.Status = http.StatusOK
	if method == http.MethodPost {
		receipt.Status = http.StatusCreated
	}
	after, err := b.actuator.object(b.subject, result)
	if err != nil {
		return receipt, b.public(err)
	}
	made, others := c.unexpected(after)
	for _, paths := range [][]string{made, others} {
		for _, path := range paths[:min(len(paths), maxNamed)] {
			receipt.Unexpected = append(receipt.Unexpected, b.redactor.text(path))
		}
	}
	return receipt, nil
}
