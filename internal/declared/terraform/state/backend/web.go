package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/credential"
)

// A web is a state behind Terraform's http backend: GitLab, a server of one's
// own. It is asked by GET, never to lock.
type web struct {
	settings HTTP
	url      *url.URL
	fetcher  *fetcher
}

func openWeb(scheme string) func(string, Settings) (site, error) {
	return func(rest string, s Settings) (site, error) {
		u, err := url.Parse(scheme + "://" + rest)
		if err != nil || u.Host == "" {
			return site{}, errors.New("not a URL (it is not shown, for it may hold a password)")
		}
		if _, secret := u.User.Password(); secret {
			return site{}, errors.New("the URL holds a password; set backend.http.username and backend.http.password_file")
		}
		w := &web{settings: s.HTTP, url: u}
		if w.settings.Username == "" {
			w.settings.Username = u.User.Username()
		}
		u.User = nil
		if w.fetcher, err = newFetcher(s.HTTP.CAFile, w.sign); err != nil {
			return site{}, err
		}
		// A query may hold a token.
		shown := *u
		if shown.RawQuery != "" {
			shown.RawQuery = "…"
		}
		return site{
			place: w, root: shown.String(),
			access: "check backend.http.username, backend.http.password_file and backend.http.headers_file",
		}, nil
	}
}

func (w *web) sign(r *http.Request) error {
	if w.settings.PasswordFile != "" || w.settings.HeadersFile != "" {
		if err := guarded(r.URL); err != nil {
			return err
		}
	}
	if w.settings.PasswordFile != "" {
		password, err := credential.Read(w.settings.PasswordFile)
		if err != nil {
			return err
		}
		r.SetBasicAuth(w.settings.Username, password)
	}
	if w.settings.HeadersFile == "" {
		return nil
	}
	lines, err := credential.Read(w.settings.HeadersFile)
	if err != nil {
		return err
	}
	for line := range strings.Lines(lines) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			return fmt.Errorf("read %s: want one \"Name: value\" a line", w.settings.HeadersFile)
		}
		r.Header.Set(name, strings.TrimSpace(value))
	}
	return nil
}

func (w *web) open(ctx context.Context, _ string) (io.ReadCloser, error) {
	return w.fetcher.get(ctx, w.url)
}

// list is never called: the one state has no pattern.
func (*web) list(context.Context, pattern) ([]string, error) { return nil, nil }
