package audit

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
	"unique"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/driftd/driftd/internal/model"
)

// An event contains the decoded fields of an event of audit.k8s.io.
type event struct {
	Stage        string   `json:"stage"`
	ID           string   `json:"auditID"`
	Verb         string   `json:"verb"`
	URI          string   `json:"requestURI"`
	Agent        string   `json:"userAgent"`
	User         userInfo `json:"user"`
	Impersonated userInfo `json:"impersonatedUser"`
	Object       struct {
		Group       string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	Status struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	// Request is set at levels Request and RequestResponse, Answer at level
	// RequestResponse.
	Request dryRun    `json:"requestObject"`
	Answer  names     `json:"responseObject"`
	Began   time.Time `json:"requestReceivedTimestamp"`
	Ended   time.Time `json:"stageTimestamp"`
}

type userInfo struct {
	Name string `json:"username"`
}

// options returns lenient options: duplicate names and invalid UTF-8 are allowed.
func options() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// errBroken does not quote the event, which may hold secrets.
var errBroken = errors.New("not an event of audit.k8s.io")

// Decode decodes one event and returns the writes of its request. It returns none if the request
// changed nothing or the event does not name the object. It returns several if the response to the
// deletion of a collection lists the deleted objects. The error does not quote the text.
func Decode(text []byte) ([]Write, error) {
	var e event
	if err := json.Unmarshal(text, &e, options()); err != nil {
		return nil, errBroken
	}
	return e.writes(), nil
}

// DecodeList decodes an EventList of the webhook backend and calls each with the writes of each
// event. It returns the number of events that could not be decoded. It returns an error if the list
// is truncated or is not an EventList; the error does not quote the text.
func DecodeList(r io.Reader, each func([]Write)) (broken int, err error) {
	source := &source{r: r, left: maxLine}
	dec := jsontext.NewDecoder(source, options())
	isList := false
	err = object(dec, func(field string) error {
		if field != "items" || dec.PeekKind() != '[' {
			return dec.SkipValue()
		}
		isList = true
		return decodeItems(dec, source, &broken, each)
	})
	switch {
	case source.err != nil:
		return broken, fmt.Errorf("read events: %w", source.err)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return broken, fmt.Errorf("read events: %w", io.ErrUnexpectedEOF)
	case err != nil || !isList:
		return broken, errNoList
	}
	return broken, nil
}

// errNoList does not quote the text, which may hold secrets.
var errNoList = errors.New("read events: not an EventList of audit.k8s.io")

// errLong is the error of an event of more than maxLine bytes.
var errLong = fmt.Errorf("an event has more than %d bytes", maxLine)

// A source reads from r and records the error that ended it. Read fails with errLong
// after maxLine bytes of one event.
type source struct {
	r io.Reader
	// left is the number of bytes that may still be read of the current event.
	left int
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	if s.left <= 0 {
		s.err = errLong
		return 0, errLong
	}
	n, err := s.r.Read(p[:min(len(p), s.left)])
	s.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// decodeItems reads the elements of a list, one at a time.
func decodeItems(dec *jsontext.Decoder, source *source, broken *int, each func([]Write)) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for {
		source.left = maxLine
		if dec.PeekKind() == ']' {
			break
		}
		item, err := dec.ReadValue()
		if err != nil {
			return err
		}
		writes, err := Decode(item)
		if err != nil {
			*broken++
			continue
		}
		each(writes)
	}
	_, err := dec.ReadToken()
	return err
}

// writes returns the writes of a request that succeeded and changed objects.
func (e *event) writes() []Write {
	uri, err := url.Parse(e.URI)
	succeeded := e.Status.Code >= http.StatusOK && e.Status.Code < http.StatusMultipleChoices
	if err != nil || e.Stage != "ResponseComplete" || !succeeded || e.ID == "" || e.User.Name == "" {
		return nil
	}
	query := uri.Query()
	action, ok := e.action()
	if !ok || e.isDryRun(query) {
		return nil
	}
	w := Write{
		Action: action, ID: shown(e.ID), User: e.user(), Account: shared(shown(e.User.Name)), Manager: shared(manager(query.Get("fieldManager"), e.Agent)),
		Subresource: shared(shown(e.Object.Subresource)), Patch: e.Verb == "patch", Began: e.Began.UTC(), Ended: e.Ended.UTC(),
	}
	w.Object = e.object(name{e.Object.Namespace, e.Object.Name})
	if w.Object.Name != "" && e.Verb != "deletecollection" {
		return inBounds(w)
	}
	// Generated names and the objects of a collection are in the answer only.
	var all []Write
	for _, n := range e.Answer.names {
		w.Object = e.object(n)
		all = append(all, inBounds(w)...)
	}
	return all
}

// isDryRun reports whether a request changes nothing. The API server ignores dryRun in the query of a deletion with a
// body, and an event at level Metadata does not show whether there was one: such a deletion counts.
func (e *event) isDryRun(query url.Values) bool {
	switch e.Verb {
	case "delete", "deletecollection":
		return bool(e.Request)
	}
	return query.Has("dryRun") || e.Object.Subresource == "eviction" && bool(e.Request)
}

// action returns the action of a request on the object that it names. It returns false if the
// request does not change declared fields of the object, because it reads, or because its
// subresource forwards to another server (proxy) or is not declared (status).
func (e *event) action() (model.Action, bool) {
	subresource := e.Object.Subresource
	switch e.Verb {
	case "create":
		if subresource == "eviction" {
			return model.Deleted, true
		}
		return model.Created, subresource == ""
	case "delete", "deletecollection":
		return model.Deleted, subresource == ""
	case "update", "patch":
		if subresource == "" && e.Status.Code == http.StatusCreated {
			return model.Created, true
		}
		return model.Edited, subresource != "status" && subresource != "proxy"
	}
	return model.Edited, false
}

// user returns the name of the user whose permissions applied, and of the user who
// impersonated them.
func (e *event) user() string {
	user := shown(e.User.Name)
	if as := shown(e.Impersonated.Name); as != "" {
		user = as + " (by " + user + ")"
	}
	return shared(user)
}

// object returns the object as in a snapshot. The event of a namespace names the
// namespace itself as its namespace, which is dropped.
func (e *event) object(n name) Object {
	o := Object{Resource{shared(e.Object.Group), shared(e.Object.Resource)}, shared(n.namespace), n.name}
	if o.Resource == (Resource{Name: "namespaces"}) {
		o.Namespace = ""
	}
	return o
}

// maxName bounds each part of an object's name, in bytes. maxShown bounds displayed
// texts, in runes.
const (
	maxName  = 512
	maxShown = 256
)

// inBounds returns the write, or nothing if it lacks a name or a time, or has a name that
// is not UTF-8 or too long for an API server.
func inBounds(w Write) []Write {
	for _, part := range []string{w.Group, w.Resource.Name, w.Namespace, w.Object.Name} {
		if len(part) > maxName || !utf8.ValidString(part) {
			return nil
		}
	}
	if w.Object.Name == "" || w.Resource.Name == "" || w.Ended.IsZero() || w.Began.IsZero() {
		return nil
	}
	if w.Ended.Before(w.Began) { // the clock was set back during the request
		w.Ended = w.Began
	}
	return []Write{w}
}

// maxManager bounds a field manager, in bytes.
const maxManager = 128

// manager returns the field manager that the API server records for a request: the one in the
// query, or else the user agent up to the slash.
// https://github.com/kubernetes/apiserver/blob/master/pkg/endpoints/handlers/create.go,
// managerOrUserAgent
func manager(named, agent string) string {
	if named != "" {
		return shown(named)
	}
	prefix, _, _ := strings.Cut(agent, "/")
	var b strings.Builder
	for _, r := range prefix {
		if !unicode.IsPrint(r) {
			continue
		}
		if b.Len()+utf8.RuneLen(r) > maxManager {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// shown returns an untrusted text for display: at most maxShown runes, with blanks for
// unprintable ones.
func shown(text string) string {
	// This many bytes have more than maxShown runes if the text does.
	text = text[:min(len(text), utf8.UTFMax*(maxShown+1))]
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return text
}

// shared returns the text as a copy that all equal texts share.
func shared(text string) string { return unique.Make(text).Value() }
