package catalogue

import (
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// checkKeyAge is the ID of the check of the age of a credential.
const checkKeyAge = "aws/key-age"

// isExpired reports whether a credential must have been replaced by now. Of one without a time of creation that is not known.
func (e *Env) isExpired(created time.Time) bool {
	return !created.IsZero() && e.Now.Sub(created) > e.MaxKeyAge
}

// expired returns the failed check of a credential that isExpired.
func (e *Env) expired(created time.Time) model.Violation {
	return model.Violation{
		Check: checkKeyAge, Severity: model.Medium,
		Reason: fmt.Sprintf("it is in use and was created on %s, more than %d days ago (max_key_age): create another one, and delete this one", created.Format(time.DateOnly), e.MaxKeyAge/(24*time.Hour)),
		Actor:  model.Actor{Name: model.UnknownActor("").Name, At: created, Via: model.ViaCreation, Confidence: model.Unknown},
	}
}
