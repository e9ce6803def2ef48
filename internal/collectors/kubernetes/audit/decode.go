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

// An event is what is decoded of an event of audit.k8s.io.
type event struct {
	Stage        string `json:"stage"`
	ID           string `json:"auditID"`
	Verb         string `json:"verb"`
	URI          string `json:"requestURI"`
	Agent        string `json:"userAgent"`
	User         person `json:"user"`
	Impersonated person `json:"impersonatedUser"`
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
	// Request is there from level Request on, Answer at level RequestResponse.
	Request rehearsal `json:"requestObject"`
	Answer  names     `json:"responseObject"`
	Began   time.Time `json:"requestReceivedTimestamp"`
	Ended   time.Time `json:"stageTimestamp"`
}

type person struct {
	Name string `json:"username"`
}

// options take what a log may hold: names are not compared, and text need not be
// UTF-8.
func options() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// errBroken says nothing of what is broken: it may hold secrets.
var errBroken = errors.New("not an event of audit.k8s.io")

// Decode reads one event and returns the writes that it tells of: none where
// nothing was changed, or where the event does not name the object; several
// where the answer to the deletion of a collection lists what went.
func Decode(text []byte) ([]Write, error) {
	var e event
	if err := json.Unmarshal(text, &e, options()); err != nil {
		return nil, errBroken
	}
	return e.writes(), nil
}

// DecodeList reads an EventList, as the webhook backend sends it, and hands over
// the writes of each event. Broken is how many events could not be read. An
// error means that the list broke off, or is none; it shows nothing of it.
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

// errNoList says nothing of what came instead.
var errNoList = errors.New("read events: not an EventList of audit.k8s.io")

// errLong is of an event that is too large.
var errLong = fmt.Errorf("an event has more than %d bytes", maxLine)

// A source remembers why it could not be read to its end. It ends where one event
// has more than maxLine bytes.
type source struct {
	r io.Reader
	// left is how much may be read of the present event, in bytes.
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

// writes are what an event tells that changed an object and came to its end.
func (e *event) writes() []Write {
	uri, err := url.Parse(e.URI)
	succeeded := e.Status.Code >= http.StatusOK && e.Status.Code < http.StatusMultipleChoices
	if err != nil || e.Stage != "ResponseComplete" || !succeeded || e.ID == "" || e.User.Name == "" {
		return nil
	}
	query := uri.Query()
	deed, ok := e.deed()
	if !ok || query.Has("dryRun") || deed == model.Deleted && bool(e.Request) {
		return nil
	}
	w := Write{
		Deed: deed, ID: shown(e.ID), User: e.who(), Account: shared(shown(e.User.Name)), Manager: shared(manager(query.Get("fieldManager"), e.Agent)),
		Subresource: shared(shown(e.Object.Subresource)), Patch: e.Verb == "patch", Began: e.Began.UTC(), Ended: e.Ended.UTC(),
	}
	w.Object = e.object(name{e.Object.Namespace, e.Object.Name})
	if w.Object.Name != "" && e.Verb != "deletecollection" {
		return inBounds(w)
	}
	// The answer knows a generated name, and what a collection held.
	var all []Write
	for _, n := range e.Answer.names {
		w.Object = e.object(n)
		all = append(all, inBounds(w)...)
	}
	return all
}

// deed tells what a request does to the object that it names. Some verbs do
// nothing to it at a subresource that leads elsewhere (proxy), or that changes
// nothing that anybody declares (status).
func (e *event) deed() (model.Action, bool) {
	door := e.Object.Subresource
	switch e.Verb {
	case "create":
		if door == "eviction" {
			return model.Deleted, true
		}
		return model.Created, door == ""
	case "delete", "deletecollection":
		return model.Deleted, door == ""
	case "update", "patch":
		if door == "" && e.Status.Code == http.StatusCreated {
			return model.Created, true
		}
		return model.Edited, door != "status" && door != "proxy"
	}
	return model.Edited, false
}

// who names the user whose rights counted, and the one who borrowed them.
func (e *event) who() string {
	user := shown(e.User.Name)
	if as := shown(e.Impersonated.Name); as != "" {
		user = as + " (by " + user + ")"
	}
	return shared(user)
}

// object names an object as a snapshot does: the path of a namespace lies in the
// namespace itself.
func (e *event) object(n name) Object {
	o := Object{Resource{shared(e.Object.Group), shared(e.Object.Resource)}, shared(n.namespace), n.name}
	if o.Resource == (Resource{Name: "namespaces"}) {
		o.Namespace = ""
	}
	return o
}

// maxName bounds each part of an object's name, in bytes, and maxShown what is
// shown of a text, in runes.
const (
	maxName  = 512
	maxShown = 256
)

// inBounds drops what no API server would have named so.
func inBounds(w Write) []Write {
	for _, part := range []string{w.Group, w.Resource.Name, w.Namespace, w.Object.Name} {
		if len(part) > maxName || !utf8.ValidString(part) {
			return nil
		}
	}
	if w.Object.Name == "" || w.Resource.Name == "" || w.Ended.IsZero() || w.Began.IsZero() {
		return nil
	}
	if w.Ended.Before(w.Began) { // the clock was set back meanwhile
		w.Ended = w.Began
	}
	return []Write{w}
}

// maxManager bounds a field manager, in bytes.
const maxManager = 128

// manager returns the field manager that the API server takes a request's sender
// for: the one that it names, or what its user agent begins with.
// https://github.com/kubernetes/apiserver/blob/master/pkg/endpoints/handlers/create.go, managerOrUserAgent
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

// shown makes a text that others chose fit to be printed.
func shown(text string) string {
	// More than maxShown runes are left, of which the first are shown.
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

// shared keeps one copy of a text that comes again and again.
func shared(text string) string { return unique.Make(text).Value() }
