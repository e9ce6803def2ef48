package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/server"
)

// A frame is the data that every page shows.
type frame struct {
	Title string
	// Room is the current entry of the navigation.
	Room    string
	Visitor visitorView
	// Token is the form token against cross-site requests.
	Token string
	// Here is the page's own path and query.
	Here string
	AsOf time.Time
	// Revision is the revision of the news that the page includes.
	Revision uint64
	Notice   *notice
	// Staged reports that the estate is the demo's.
	Staged bool
	// Reconciles reports whether there are rules for actions.
	Reconciles        bool
	Version           string
	Problems, Waiting []string
}

// A visitorView is the visitor and their permissions.
type visitorView struct {
	Name, Role, Via string
	// Known reports that the visitor is logged in, and not just on this host.
	Known, CanLogOut, CanLogIn bool
	Reads, Decides, Approves   bool
	visitor                    access.Visitor
}

func (s *site) visitor(r *http.Request) visitorView {
	v := access.Of(r.Context())
	return visitorView{Name: v.Name, Role: v.Role.String(), Via: string(v.Via), Known: v.Name != "" && v.Via != access.Loopback,
		CanLogOut: v.Via == access.Session, CanLogIn: v.Via != access.Session && (s.authenticator.Passwords() || s.authenticator.OpenID()),
		Reads: v.May(access.Viewer), Decides: v.May(access.Operator), Approves: v.May(access.Approver), visitor: v}
}

// frame returns the frame of a page. It includes problems only for viewers.
func (s *site) frame(w http.ResponseWriter, r *http.Request, title, room string) frame {
	f := frame{Title: title, Room: room, Visitor: s.visitor(r), Token: s.guard.Token(w, r), Here: here(r.URL), AsOf: s.Now(),
		Notice: noticeOf(r), Staged: s.Stage != nil, Version: s.API.Version}
	if f.Visitor.Reads {
		if s.API.Problems != nil {
			f.Problems = s.API.Problems()
		}
		if s.API.Waiting != nil {
			f.Waiting = s.API.Waiting()
		}
		f.Reconciles = s.reconciles()
		f.Revision, _ = s.News.Now()
	}
	return f
}

// here returns the path and query of a page, without the parameter of the one-time notice.
func here(u *url.URL) string {
	q := u.Query()
	q.Del("notice")
	q.Del("fragment")
	if len(q) == 0 {
		return u.EscapedPath()
	}
	return u.EscapedPath() + "?" + q.Encode()
}

// isFragment reports whether a page requests an update of its main part.
func isFragment(r *http.Request) bool {
	return r.Header.Get("X-Fragment") != "" || r.URL.Query().Get("fragment") != ""
}

// render writes a page, or only its main part for a fragment.
func (s *site) render(w http.ResponseWriter, r *http.Request, status int, name string, data any) error {
	if isFragment(r) {
		name += "-main"
	}
	var body bytes.Buffer
	if err := s.templates.ExecuteTemplate(&body, name, data); err != nil {
		return fmt.Errorf("write page %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	s.write(w, r, status, body.Bytes())
	return nil
}

// worthZipping is the size in bytes from which on a response is compressed.
const worthZipping = 1 << 10

func (s *site) write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if len(body) >= worthZipping && acceptsGzip(r) {
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, err := z.Write(body)
		if err = errors.Join(err, z.Close()); err == nil {
			w.Header().Set("Content-Encoding", "gzip")
			body = zipped.Bytes()
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.Log.DebugContext(r.Context(), "page not delivered", "path", r.URL.Path, "err", err)
	}
}

func acceptsGzip(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return !slices.Contains([]string{"q=0", "q=0.0", "q=0.00", "q=0.000"}, strings.ReplaceAll(weight, " ", ""))
		}
	}
	return false
}

// A failure is the data of an error page.
type failure struct {
	frame
	Status        int
	Message, Hint string
	Candidates    []string
	// Back is the page of the finding on which a decision failed.
	Back string
}

// fail shows an error as a page.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := explain(err)
	if f.Status >= http.StatusInternalServerError {
		s.Log.ErrorContext(r.Context(), "page failed", "path", r.URL.Path, "err", err)
	}
	var refused *access.Refused
	if errors.As(err, &refused) && refused.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(refused.Seconds()))
	}
	if id := r.PathValue("id"); r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/findings/") && f.Status != http.StatusNotFound {
		f.Back = "/findings/" + url.PathEscape(id)
	}
	f.frame = s.frame(w, r, http.StatusText(f.Status), "")
	if err := s.render(w, r, f.Status, "failure", f); err != nil {
		s.Log.ErrorContext(r.Context(), "page failed", "path", r.URL.Path, "err", err)
		http.Error(w, "internal error: see the log of driftd", http.StatusInternalServerError)
	}
}

// explain returns the error page of an error.
func explain(err error) failure {
	e := server.AsError(err)
	if e.Status == http.StatusInternalServerError {
		return failure{Status: e.Status, Message: "internal error", Hint: "see the log of driftd"}
	}
	return failure{Status: e.Status, Message: e.Message, Hint: e.Hint, Candidates: e.Candidates}
}

// A notice is the one-time result of a visitor's action.
type notice struct {
	Text string
	// Bad reports that the action failed.
	Bad bool
}

// notices returns all notices by their value in the URL.
func notices() map[string]notice {
	return map[string]notice{
		"acknowledge": {Text: "Acknowledged. Others see that you are working on it."},
		"snooze":      {Text: "Snoozed. No notifications until the chosen time."},
		"accept":      {Text: "Accepted. Reopens when it changes."},
		"revoked":     {Text: "Decision revoked."},
		"scanned":     {Text: "Scan finished."},
		"proposed":    {Text: "Proposed. Another person must approve it."},
		"converged":   {Text: "Done: the resource is as declared."},
		"answered":    {Text: "Recorded. The section Action shows what came of it."},
		"controlled":  {Text: "Recorded. It holds from now on."},
		"changed":     {Text: "No decision was made: the finding changed in the meantime. Check it again.", Bad: true},
		"done":        {Text: "Done. driftd detects the change within seconds."},
		"loggedout":   {Text: "Logged out."},
	}
}

func noticeOf(r *http.Request) *notice {
	n, ok := notices()[r.URL.Query().Get("notice")]
	if !ok || isFragment(r) {
		return nil
	}
	return &n
}

// after redirects the browser to a page of this site, with a notice of the result.
func after(w http.ResponseWriter, r *http.Request, to, said string) {
	u, err := url.Parse(access.LocalPath(to))
	if err != nil {
		u = &url.URL{Path: "/"}
	}
	q := u.Query()
	if said != "" {
		q.Set("notice", said)
	}
	u.RawQuery = q.Encode()
	http.Redirect(w, r, u.String(), http.StatusSeeOther)
}
