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

// A web is a state of Terraform's http backend, such as GitLab. It is read by GET and never locked.
type web struct {
	settings HTTP
	url      *url.URL
	fetcher  *fetcher
}

func openWeb(scheme string) func(string, Settings) (site, error) {
	return func(rest string, s Settings) (site, error) {
		u, err := url.Parse(scheme + "://" + rest)
		if err != nil || u.Host == "" {
			return site{}, errors.New("not a URL (not shown, because it may contain a password)")
		}
		if _, secret := u.User.Password(); secret {
			return site{}, errors.New("the URL contains a password; set backend.http.username and backend.http.password_file")
		}
		w := &web{settings: s.HTTP, url: u}
		if w.settings.Username == "" {
			w.settings.Username = u.User.Username()
		}
		u.User = nil
		if w.fetcher, err = newFetcher(s.HTTP.CAFile, w.sign); err != nil {
			return site{}, err
		}
		// A query may contain a token.
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
		if err := checkSecure(r.URL); err != nil {
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
			return fmt.Errorf("read %s: want one \"Name: value\" per line", w.settings.HeadersFile)
		}
		r.Header.Set(name, strings.TrimSpace(value))
	}
	return nil
}

func (w *web) open(ctx context.Context, _ string) (io.ReadCloser, error) {
	return w.fetcher.get(ctx, w.url)
}

// list is never called, because the only state has no pattern.
func (*web) list(context.Context, pattern) ([]string, error) { return nil, nil }
