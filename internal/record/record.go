package record

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// An Answer is the recorded answer to a request.
type Answer struct {
	Status int
	Header map[string]string `json:",omitempty"`
	Body   string
}

// A Recorder keeps the answers to the requests of a collector, without what identifies the
// system. It is safe for concurrent use.
type Recorder struct {
	scrubber *scrubber

	mu sync.Mutex
	// answers are the answers by service and region, and by request.
	answers           map[string]map[string]Answer
	regions, services set
	// foreign is the number of bodies that are no documents, and lost that of requests without a
	// complete answer.
	foreign, lost int
}

// New returns a Recorder without answers.
func New(v *Vocabulary) *Recorder {
	return &Recorder{scrubber: newScrubber(v), answers: map[string]map[string]Answer{}, regions: set{}, services: set{}}
}

// Through returns a transport that records what next answers. Of several answers to one request
// the last one counts.
func (r *Recorder) Through(next http.RoundTripper) http.RoundTripper {
	return &transport{next: next, recorder: r}
}

type transport struct {
	next     http.RoundTripper
	recorder *Recorder
}

// RoundTrip sends a request. Its answer is recorded when its body was read to the end.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	request, ok := t.recorder.scrubber.v.Request(r)
	if !ok {
		return t.next.RoundTrip(r)
	}
	answer, err := t.next.RoundTrip(r)
	if err != nil {
		t.recorder.lose()
		return answer, err
	}
	status, header := answer.StatusCode, answer.Header.Clone()
	answer.Body = &copied{ReadCloser: answer.Body, ended: func(body []byte, whole bool) {
		if !whole {
			t.recorder.lose()
			return
		}
		t.recorder.add(request, status, header, body)
	}}
	return answer, nil
}

// CloseIdleConnections closes the idle connections of the next transport.
func (t *transport) CloseIdleConnections() {
	(&http.Client{Transport: t.next}).CloseIdleConnections()
}

func (r *Recorder) lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost++
}

// A copied body keeps a copy of what is read of it.
type copied struct {
	io.ReadCloser

	read  bytes.Buffer
	ended func(body []byte, whole bool)
}

// Read reads from the body, and calls ended at its end.
func (c *copied) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read.Write(p[:n])
	if errors.Is(err, io.EOF) {
		c.end(true)
	}
	return n, err
}

// Close closes the body.
func (c *copied) Close() error {
	c.end(false)
	return c.ReadCloser.Close()
}

func (c *copied) end(whole bool) {
	if c.ended != nil {
		c.ended(c.read.Bytes(), whole)
		c.ended, c.read = nil, bytes.Buffer{}
	}
}

// add records an answer.
func (r *Recorder) add(request Request, status int, header http.Header, body []byte) {
	s := r.scrubber
	s.protect(request.Secrets)
	answer := Answer{Status: status}
	text, ok := s.body(body)
	if !ok {
		// A page of a proxy may have anything in it.
		text = "<html></html>"
	}
	answer.Body = text
	for name, fits := range s.v.Headers {
		if value := header.Get(name); value != "" && fits.MatchString(value) {
			if answer.Header == nil {
				answer.Header = map[string]string{}
			}
			answer.Header[name] = value
			s.exempt(value)
		}
	}
	scrubbed := s.request(request)
	file := fileOf(&scrubbed)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok {
		r.foreign++
	}
	if r.answers[file] == nil {
		r.answers[file] = map[string]Answer{}
	}
	r.regions[scrubbed.Region], r.services[scrubbed.Service] = true, true
	r.answers[file][scrubbed.Key()] = answer
}

// exempt adds a text of the API, which no user chooses, so that the search ignores it.
func (s *scrubber) exempt(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.structure[text] = true
}

// protect adds texts that no file may contain.
func (s *scrubber) protect(secrets []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range secrets {
		if _, known := s.pseudonyms[text]; !known && text != "" {
			s.pseudonyms[text] = pseudonym{kind: kindCredential}
		}
	}
}

// request returns a request with replaced texts.
func (s *scrubber) request(r Request) Request {
	r.Region, r.Path = s.part(r.Region), s.path(r.Path)
	r.Query = s.form(r.Query)
	if text, ok := s.json("", r.Body); ok {
		r.Body = text
	} else {
		r.Body = s.form(r.Body)
	}
	r.Secrets = nil
	s.exempt(r.Service)
	s.exempt(r.Operation)
	return r
}

// path replaces the texts in a path: all of its segments, or those for which its template has {}.
func (s *scrubber) path(path string) string {
	segments := strings.Split(path, "/")
	fixed := make([]string, len(segments))
	for _, template := range s.v.Paths {
		if of := strings.Split(template, "/"); matches(of, segments) {
			fixed = of
			break
		}
	}
	for i, segment := range segments {
		if fixed[i] == "" || fixed[i] == "{}" {
			plain, err := url.PathUnescape(segment)
			if err != nil {
				plain = segment
			}
			segments[i] = url.PathEscape(s.text(plain))
		}
	}
	return strings.Join(segments, "/")
}

func matches(template, segments []string) bool {
	return slices.EqualFunc(template, segments, func(a, b string) bool { return a == b || a == "{}" })
}

// form replaces the values of a form. Numbers in the names of parameters are those of lists.
func (s *scrubber) form(text string) string {
	values, err := url.ParseQuery(text)
	if err != nil {
		return s.text(text)
	}
	for name, all := range values {
		var keys []string
		for part := range strings.SplitSeq(name, ".") {
			if !consistsOf(part, digits) && !s.lists[part] {
				keys = append(keys, part)
			}
		}
		s.exempt(name)
		keys = append([]string{"", ""}, keys...)
		for i := range all {
			all[i] = s.value(keys[len(keys)-2], keys[len(keys)-1], all[i])
		}
	}
	return values.Encode()
}
