package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/server"
)

// again is how long a repeated decision of the same visitor counts as a double click.
const again = 10 * time.Second

// decide makes the decision of the form on a finding's page.
func (s *site) decide(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	finding, _, err := s.API.Store.Finding(id)
	if err != nil {
		return err
	}
	page := "/findings/" + finding.ID
	request := server.DecisionRequest{Kind: model.DecisionKind(r.PostFormValue("kind")), Findings: []string{finding.ID},
		Reason: r.PostFormValue("reason"), Owner: r.PostFormValue("owner"),
		Until: cmp.Or(strings.TrimSpace(r.PostFormValue("custom")), r.PostFormValue("until"))}
	switch {
	case !slices.Contains(model.DecisionKinds(), request.Kind):
		return &server.Error{Status: http.StatusBadRequest, Message: "the form has no kind of decision", Hint: "choose one on the page of the finding"}
	case r.PostFormValue("basis") != finding.Basis, r.PostFormValue("severity") != string(finding.Severity):
		after(w, r, page, "changed")
		return nil
	case s.decided(r, &finding, &request):
		after(w, r, page, string(request.Kind))
		return nil
	}
	if _, err := s.API.Decide(r.Context(), request); err != nil {
		return fmt.Errorf("decide about %s: %w", finding.ID, err)
	}
	s.News.Notify()
	after(w, r, page, string(request.Kind))
	return nil
}

// decided reports whether a request is a double click: the visitor made the same decision less than
// again ago.
func (s *site) decided(r *http.Request, f *model.Finding, request *server.DecisionRequest) bool {
	d := f.Decision
	return d != nil && d.Kind == request.Kind && d.By == access.Of(r.Context()).Author() && d.Reason == strings.TrimSpace(request.Reason) &&
		d.Owner == strings.TrimSpace(request.Owner) && s.Now().Sub(d.At).Abs() < again
}

// revoke revokes a decision. It succeeds for a decision that is revoked already.
func (s *site) revoke(w http.ResponseWriter, r *http.Request) error {
	_, err := s.API.Revoke(r.Context(), r.PathValue("id"))
	var known *server.Error
	if err != nil && (!errors.As(err, &known) || known.Status != http.StatusNotFound) {
		return fmt.Errorf("revoke %s: %w", r.PathValue("id"), err)
	}
	s.News.Notify()
	after(w, r, r.PostFormValue("next"), "revoked")
	return nil
}

// scan scans all sources now, and responds when the scan ends.
func (s *site) scan(w http.ResponseWriter, r *http.Request) error {
	if s.API.Scanner == nil {
		return &server.Error{Status: http.StatusServiceUnavailable, Message: "the daemon is not running", Hint: "start driftd serve"}
	}
	err := server.Unhurried(w, func() error {
		_, err := s.API.Scanner.Scan(r.Context(), nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	s.News.Notify()
	after(w, r, r.PostFormValue("next"), "scanned")
	return nil
}
