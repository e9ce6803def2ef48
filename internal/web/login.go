package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/phrase"
)

// A loginView is the data of the login page.
type loginView struct {
	frame
	Passwords, OpenID bool
	Next, Name        string
	// Refused is the reason why the last login failed.
	Refused string
}

// loginPath returns the path of the login page with a return to this request.
func loginPath(r *http.Request) string {
	next := here(r.URL)
	if next == "/" {
		return "/login"
	}
	return "/login?next=" + url.QueryEscape(next)
}

func (s *site) loginPage(w http.ResponseWriter, r *http.Request) error {
	v := loginView{Next: access.LocalPath(r.URL.Query().Get("next"))}
	if why := access.Why(r.Context()); why != nil {
		v.Refused = why.Error()
	}
	return s.showLogin(w, r, http.StatusOK, v)
}

func (s *site) showLogin(w http.ResponseWriter, r *http.Request, status int, v loginView) error {
	v.frame = s.frame(w, r, "Log in", "")
	v.Passwords, v.OpenID = s.authenticator.Passwords(), s.authenticator.OpenID()
	return s.render(w, r, status, "login", v)
}

func (s *site) login(w http.ResponseWriter, r *http.Request) error {
	next := access.LocalPath(r.PostFormValue("next"))
	err := s.authenticator.Login(w, r, r.PostFormValue("name"), r.PostFormValue("password"))
	if err == nil {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	}
	return s.refuse(w, r, err, loginView{Next: next, Name: phrase.Line(r.PostFormValue("name"), rowName)})
}

// refuse shows the login page again, with the reason of the failure.
func (s *site) refuse(w http.ResponseWriter, r *http.Request, err error, v loginView) error {
	var refused *access.Refused
	if !errors.As(err, &refused) {
		return err
	}
	v.Refused = refused.Error()
	if seconds := refused.Seconds(); seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		v.Refused += "; try again in " + phrase.Count(seconds, "second")
	}
	return s.showLogin(w, r, refused.Status, v)
}

func (s *site) logout(w http.ResponseWriter, r *http.Request) error {
	s.authenticator.Logout(w, r)
	http.Redirect(w, r, "/login?notice=loggedout", http.StatusSeeOther)
	return nil
}

func (s *site) beginOpenID(w http.ResponseWriter, r *http.Request) error {
	next := access.LocalPath(r.URL.Query().Get("next"))
	if err := s.provider.BeginOpenID(w, r, next); err != nil {
		return s.refuse(w, r, err, loginView{Next: next})
	}
	return nil
}

func (s *site) endOpenID(w http.ResponseWriter, r *http.Request) error {
	next, err := s.provider.EndOpenID(w, r)
	if err != nil {
		return s.refuse(w, r, err, loginView{Next: "/"})
	}
	http.Redirect(w, r, access.LocalPath(next), http.StatusSeeOther)
	return nil
}
