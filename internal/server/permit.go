package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/driftd/driftd/internal/access"
)

// needs rejects requests of visitors without the role.
func (a API) needs(role access.Role, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.Permit(r.Context(), role); err != nil {
			a.reply(w, r, nil, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Permit returns nil if the visitor in ctx has the role. Otherwise it returns the error of the
// authentication, or an *access.Refused with a hint on how to get access.
func (a API) Permit(ctx context.Context, role access.Role) error {
	visitor := access.Of(ctx)
	switch {
	case visitor.May(role):
		return nil
	case access.Why(ctx) != nil:
		return access.Why(ctx)
	case visitor.Name == "":
		return &access.Refused{Status: http.StatusUnauthorized, Message: "not logged in", Hint: a.howToLogIn()}
	}
	return &access.Refused{Status: http.StatusForbidden, Message: fmt.Sprintf("%s has the role %s, but this needs the role %s", visitor.Name, visitor.Role, role),
		Hint: "server.access in the configuration assigns the roles; the command line on the daemon's host has all permissions"}
}

// howToLogIn returns the hint for a visitor who is not logged in.
func (a API) howToLogIn() string {
	switch {
	case a.Gate != nil && a.Gate.Passwords():
		return "send a user's name and password, or log in at /login"
	case a.Gate != nil && a.Gate.OpenID():
		return "log in at /login"
	}
	return "use the command line on the daemon's host, or set server.access in its configuration"
}

// explain sets the response headers Retry-After and WWW-Authenticate for a refusal.
func (a API) explain(header http.Header, err error) {
	var refused *access.Refused
	if !errors.As(err, &refused) {
		return
	}
	if refused.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(refused.Seconds()))
	}
	if refused.Status == http.StatusUnauthorized && a.Gate != nil && a.Gate.Passwords() {
		header.Set("WWW-Authenticate", `Basic realm="driftd", charset="UTF-8"`)
	}
}

// genuine rejects cross-site requests.
func (a API) genuine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.Gate != nil {
			if err := a.Gate.Genuine(r); err != nil {
				a.reply(w, r, nil, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// local serves requests with all permissions, in the name of the user at the other end of the
// socket, or of the user who runs the command in this process.
func (a API) local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := r.Context().Value(peerKey{}).(*peer)
		if !ok {
			p = thisProcess()
		}
		var people *access.People
		if a.People != nil {
			people = a.People()
		}
		next.ServeHTTP(w, r.WithContext(access.With(r.Context(), p.visitor(people))))
	})
}
