package kubernetes

import (
	"cmp"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// A redactor removes secrets from the errors of one object. Webhooks and policies read the whole object, and choose
// the code and the text of a rejection.
type redactor struct {
	// sealed reports whether the object, or the change of it, has a secret.
	sealed bool
	// values are its secrets without sealing, in the forms in which an error may quote them.
	values []string
}

// minRedacted is the length from which a value is removed from texts: shorter ones are in many words.
const minRedacted = 4

// add adds the secrets of a value.
func (r *redactor) add(plain, sealed model.Value) {
	if !isSealed(&sealed) {
		return
	}
	r.sealed = true
	r.addParts(plain, sealed)
	slices.SortFunc(r.values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	r.values = slices.Compact(r.values)
}

// addParts adds the parts of a value that are sealed. Where both have another structure, it adds all parts.
func (r *redactor) addParts(plain, sealed model.Value) {
	sameList := sealed.Kind() == model.List && len(sealed.Items()) == len(plain.Items())
	for i, item := range plain.Items() {
		if !sameList {
			r.addParts(item, sealed)
		} else if isSealed(&sealed.Items()[i]) {
			r.addParts(item, sealed.Items()[i])
		}
	}
	for _, f := range plain.Fields() {
		if sealed.Kind() != model.Map {
			r.addParts(f.Value, sealed)
		} else if part, ok := sealed.Get(f.Name); ok && isSealed(&part) {
			r.addParts(f.Value, part)
		}
	}
	if plain.Kind() < model.List && !plain.IsNull() {
		r.addText(plain.Text())
	}
}

// addText adds a secret as it is, encoded and decoded, and its lines.
func (r *redactor) addText(text string) {
	forms := []string{text, base64.StdEncoding.EncodeToString([]byte(text))}
	if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
		forms = append(forms, string(decoded))
	}
	for _, form := range forms {
		for _, line := range append(strings.Split(form, "\n"), form) {
			if len(line) >= minRedacted {
				r.values = append(r.values, line)
			}
		}
	}
}

// rejection returns an error without the text of an answer if the object has a secret. The status code and the name
// of the policy or of the webhook are left.
func (r *redactor) rejection(err error) error {
	status := httpclient.StatusOf(err)
	if status == nil || !r.sealed {
		return err
	}
	return &httpclient.Status{Code: status.Code, Message: denier(status.Message), Own: status.Own}
}

// error returns an error without the secrets that its text has.
func (r *redactor) error(err error) error {
	if err == nil || len(r.values) == 0 {
		return err
	}
	if refusal, ok := errors.AsType[*reconcile.Refusal](err); ok {
		return &reconcile.Refusal{Guard: refusal.Guard, Why: r.text(refusal.Why)}
	}
	if text := r.text(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

func (r *redactor) text(text string) string {
	for _, value := range r.values {
		text = strings.ReplaceAll(text, value, model.SecretText)
	}
	return text
}

// denier returns the name of the policy or the webhook that rejects a request; "" if the message does not begin as
// those that the API server writes itself. A name is one of an object, which cannot have other characters.
func denier(message string) string {
	if m := regexp.MustCompile(`^(admission webhook "[a-z0-9.-]{1,253}") denied the request`).FindStringSubmatch(message); m != nil {
		return m[1] + " denied the request"
	}
	policy := regexp.MustCompile(`^[a-z0-9.-]+ "[^" ]+" is forbidden: (ValidatingAdmissionPolicy '[a-z0-9.-]{1,253}') with binding '[a-z0-9.-]{1,253}' denied request`)
	if m := policy.FindStringSubmatch(message); m != nil {
		return m[1] + " denied the request"
	}
	return ""
}

// isRejection reports whether an error is one of an object that the API server does not accept.
func isRejection(err error) bool {
	switch code := httpclient.Code(err); code {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	default:
		status := httpclient.StatusOf(err)
		return status != nil && denier(status.Message) != ""
	}
}
