package shoutrrr

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/post"
)

// asError returns the error of an outcome, marked as notify.ErrPermanent or notify.ErrRefused where
// that applies. It returns nil for a success.
func (o *outcome) asError(now time.Time) error {
	switch {
	case !o.Failed:
		return nil
	case o.Status != 0:
		return post.Judge(o.Status, http.Header{"Retry-After": {o.RetryAfter}}, now)
	case o.Mail != 0:
		return mailError(o.Mail)
	}
	return errors.New(o.Cause)
}

// mailError returns the error for the reply code of an SMTP server (RFC 5321, 4.2; RFC 4954, 6).
func mailError(code int) error {
	err := fmt.Errorf("the mail server answers %d", code)
	switch code {
	case 530, 534, 535, 538:
		return notify.Permanent(fmt.Errorf("%w: check user, password and encryption", err))
	case 550, 551, 553, 555:
		return notify.Permanent(fmt.Errorf("%w: check the addresses of sender and recipient", err))
	case 552, 554:
		return notify.Refused(err)
	}
	return err
}
