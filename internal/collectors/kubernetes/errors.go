package kubernetes

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/printable"
)

// explain adds the next step to an error that concerns the server as a whole.
func (c *client) explain(err error, now time.Time) *httpclient.Error {
	hint := statusHint(httpclient.Code(err))
	if httpclient.Code(err) == http.StatusUnauthorized && !c.expiry.IsZero() && now.After(c.expiry) {
		hint = fmt.Sprintf("the client certificate expired on %s: renew it", c.expiry.UTC().Format(time.RFC3339))
	}
	if hint == "" {
		hint = kubeapi.ConnectionHint(err)
	}
	return &httpclient.Error{Server: c.server(), Err: kubeapi.FirstLine(err), Hint: hint}
}

func statusHint(code int) string {
	switch {
	case code == http.StatusUnauthorized:
		return "the credentials were rejected: renew the token or certificate, or log in again"
	case code == http.StatusForbidden:
		return "grant the user the cluster role system:discovery, and get, list and watch on the kinds to read"
	case code == http.StatusBadRequest:
		return "the request was rejected: use https:// if the server requires TLS"
	case code == http.StatusTooManyRequests:
		return "the API server limits requests: lower qps and concurrency"
	case code >= 300 && code < 400:
		return "the address redirects: set the API server's own address"
	case code == http.StatusNotFound:
		return "this is not a Kubernetes API server, or the path in its address is wrong"
	case code >= 500:
		return "the API server is unhealthy: see kubectl get --raw /readyz?verbose"
	}
	return ""
}

// reason returns the reason why a target was not read completely, with the next step.
func (t target) reason(err error) string {
	path := t.path()
	if ended := collectors.Ended(err); ended != "" {
		return ended
	}
	switch code := httpclient.Code(err); {
	case code == http.StatusForbidden:
		return forbidden(err)
	case code == http.StatusUnauthorized:
		return "the credentials were rejected during the scan: renew them"
	case code == http.StatusNotFound:
		return fmt.Sprintf("the kind is no longer served: %v; see kubectl get --raw '%s?limit=1'", err, path)
	case code == http.StatusGone:
		return fmt.Sprintf("the list expired %d times before its last page: raise page_size", maxExpired)
	case code == http.StatusTooManyRequests:
		return fmt.Sprintf("%v: lower qps and concurrency", err)
	case code != 0:
		return fmt.Sprintf("%v; see kubectl get --raw '%s?limit=1'", err, path)
	case errors.As(err, new(*httpclient.Timeout)) && !errors.As(err, new(*kubeapi.PluginError)):
		return fmt.Sprintf("%v: raise timeout or lower page_size; see kubectl get --raw '%s?limit=1'", err, path)
	case errors.As(err, new(*objectTooLarge)):
		return fmt.Sprintf("%v: raise max_object_size", err)
	case errors.As(err, new(*httpclient.TooLarge)):
		return fmt.Sprintf("%v: raise max_page_size", err)
	}
	return fmt.Sprintf("%s; see kubectl get --raw '%s?limit=1'", printable.Text(err.Error()), path)
}

// forbidden returns which user lacks a permission, and the next step. The text has neither
// the kind nor the namespace, so that reports can group equal texts.
func forbidden(err error) string {
	who := "this user"
	if _, rest, ok := strings.Cut(err.Error(), `User "`); ok {
		name, _, _ := strings.Cut(rest, `"`)
		who = fmt.Sprintf("user %q", name)
	}
	return fmt.Sprintf("forbidden: %s has no permission to list it; grant get, list and watch, see docs/kubernetes.md", who)
}

// unreadableReason returns a reason that names the first few objects that cannot be decoded.
func unreadableReason(objects []unreadable) string {
	const shown = 3
	var faults []string
	for _, o := range objects[:min(shown, len(objects))] {
		faults = append(faults, o.fault())
	}
	text := strings.Join(faults, "; ")
	if more := len(objects) - shown; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return "objects cannot be decoded: " + text + "; correct them, or exclude the kind (exclude_kinds)"
}
