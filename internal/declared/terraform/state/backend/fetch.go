package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
)

const (
	// maxTries bounds how often a request is sent if it fails temporarily.
	maxTries = 3
	// maxPause bounds the pause that a server may request.
	maxPause   = 10 * time.Second
	firstPause = 300 * time.Millisecond
)

// A fetcher sends GET requests only.
type fetcher struct {
	client *http.Client
	// sign adds credentials to a request. It is nil if there are none.
	sign func(*http.Request) error
	// pause is the pause before the second try. It doubles for each further try.
	pause time.Duration
}

// newFetcher returns a fetcher that trusts only the authorities in caFile, or those of the system
// if caFile is empty. It does not follow redirects to another host, because they would disclose the
// credentials.
func newFetcher(caFile string, sign func(*http.Request) error) (*fetcher, error) {
	trust, err := httpclient.Trust(caFile)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
		TLSClientConfig:        trust,
		TLSHandshakeTimeout:    15 * time.Second,
		ResponseHeaderTimeout:  time.Minute,
		IdleConnTimeout:        30 * time.Second,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: httpclient.MaxHeader,
	}
	client := &http.Client{Transport: httpclient.Guard(transport), CheckRedirect: stayHome}
	return &fetcher{client: client, sign: sign, pause: firstPause}, nil
}

func stayHome(next *http.Request, via []*http.Request) error {
	if next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf("the server redirects to %s://%s; set that address", next.URL.Scheme, next.URL.Host)
	}
	if len(via) > 5 {
		return errors.New("the server redirects too often")
	}
	return nil
}

// get returns the body of a successful response. The caller closes it. The errors are those of Do.
func (f *fetcher) get(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "", http.NoBody)
	if err != nil {
		return nil, err
	}
	request.URL, request.Host = u, u.Host
	answer, err := f.Do(request)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Do sends a request without a body, and retries it if the server is busy or the connection breaks. For an
// unsuccessful response, it returns a *statusError or errAbsent.
func (f *fetcher) Do(r *http.Request) (*http.Response, error) {
	for try := 0; ; try++ {
		answer, err := f.once(r)
		pause, again := pauseFor(err, f.pause<<try)
		if !again || try+1 == maxTries || r.Context().Err() != nil {
			return answer, err
		}
		if httpclient.Wait(r.Context(), pause) != nil {
			return nil, err
		}
	}
}

func (f *fetcher) once(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if f.sign != nil {
		if err := f.sign(r); err != nil {
			return nil, err
		}
	}
	answer, err := f.client.Do(r)
	if err != nil {
		return nil, httpclient.WithoutURL(err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	return nil, errors.Join(readStatus(answer), answer.Body.Close())
}

// firstLine removes all but the first line of an error: libraries append whole responses.
func firstLine(err error) error {
	line, rest, _ := strings.Cut(err.Error(), "\n")
	if rest == "" {
		return err
	}
	return errors.New(line)
}

// A statusError is the error for an unsuccessful response.
type statusError struct {
	code int
	// reason is the error code of an object store ("NoSuchBucket"), or "".
	reason string
	// region is the region of the bucket according to S3, or "".
	region string
	pause  time.Duration
}

// Error returns the status and the error code. It omits the rest of the response.
func (e *statusError) Error() string {
	text := fmt.Sprintf("the server answered %d %s", e.code, http.StatusText(e.code))
	if e.reason != "" {
		text += " (" + e.reason + ")"
	}
	if e.region != "" {
		text += "; the bucket is in region " + e.region
	}
	return text
}

func (e *statusError) denied() bool {
	return e.code == http.StatusUnauthorized || e.code == http.StatusForbidden
}

func (e *statusError) busy() bool {
	return e.code == http.StatusTooManyRequests || e.code >= 500
}

// readStatus returns the error for an unsuccessful response. It returns errAbsent if the state does
// not exist, but not if its bucket or container does not exist.
func readStatus(resp *http.Response) error {
	// A truncated error page is used as far as it was read.
	page, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	e := &statusError{code: resp.StatusCode, region: resp.Header.Get("X-Amz-Bucket-Region"),
		pause: httpclient.RetryAfter(resp.Header.Get("Retry-After"), time.Now())}
	if found := regexp.MustCompile(`<Code>(\w{1,64})</Code>`).FindSubmatch(page); found != nil {
		e.reason = string(found[1])
	}
	missing := e.code == http.StatusNotFound || e.code == http.StatusNoContent
	if missing && e.reason != "NoSuchBucket" && e.reason != "ContainerNotFound" {
		return errAbsent
	}
	return e
}

// pauseFor reports whether to send a request again, and after which pause.
func pauseFor(err error, pause time.Duration) (time.Duration, bool) {
	var status *statusError
	if errors.As(err, &status) {
		return max(pause, status.pause), status.busy() && status.pause <= maxPause
	}
	return pause, httpclient.Broken(err)
}

// checkSecure returns an error unless secrets may be sent to an address: it must use TLS or be on
// this machine.
func checkSecure(u *url.URL) error {
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "https" || u.Hostname() == "localhost" || ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("http://%s would send the secret in clear text; use https", u.Host)
}

// parseEndpoint parses the URL of a service.
func parseEndpoint(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return nil, errors.New("endpoint: want http(s)://host:port without credentials")
	}
	return u, nil
}

// at returns the URL of a path below u. The path begins with a slash and is escaped.
func at(u *url.URL, path string, query url.Values) (*url.URL, error) {
	base := strings.TrimSuffix(u.EscapedPath(), "/")
	plain, err := url.PathUnescape(base + path)
	if err != nil {
		return nil, err
	}
	next := *u
	next.Path, next.RawPath, next.RawQuery = plain, base+path, query.Encode()
	return &next, nil
}

// escape escapes all characters of a name except letters, digits, - . _ ~ and slashes, as the
// signatures of object stores require (RFC 3986).
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
