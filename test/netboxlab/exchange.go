package netboxlab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const maxBody = 64 << 20

// An exchange is a request and its response.
type exchange struct {
	lab  *Lab
	w    http.ResponseWriter
	r    *http.Request
	user *object
	// id is the ID of the request in the changelog.
	id      string
	message string
	// body is the response; it is written after the Lab was unlocked.
	code int
	body any
}

func (e *exchange) answer(code int, body any) { e.code, e.body = code, body }

// serve handles a request, without faults.
func (l *Lab) serve(w http.ResponseWriter, r *http.Request) {
	sent, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		html(w, http.StatusRequestEntityTooLarge, "<html></html>")
		return
	}
	e := l.handle(w, r, sent)
	if page, ok := e.body.(string); ok {
		html(w, e.code, page)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.code)
	if e.body != nil {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		// The client may have disconnected.
		_ = encoder.Encode(e.body) //nolint:errchkjson // what it holds is written, or the client's test fails
	}
}

func (l *Lab) handle(w http.ResponseWriter, r *http.Request, sent []byte) *exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastID++
	e := &exchange{lab: l, w: w, r: r, id: fmt.Sprintf("%08x-0000-4000-8000-%012x", l.lastID*0x9e3779b1&0xffffffff, l.lastID)}
	w.Header().Set("API-Version", l.version().String())
	w.Header().Set("X-Request-ID", e.id)
	path, api := strings.CutPrefix(r.URL.Path, "/api/")
	switch {
	case !api:
		e.answer(http.StatusOK, "<!DOCTYPE html><html><head><title>NetBox</title></head></html>")
	case !strings.HasSuffix(path, "/") && path != "":
		w.Header().Set("Location", r.URL.Path+"/?"+r.URL.RawQuery)
		e.answer(http.StatusMovedPermanently, "")
	case e.authenticate(r.Header.Get("Authorization")):
		e.route(strings.Split(strings.TrimSuffix(path, "/"), "/"), sent)
	}
	return e
}

// route calls the handler of a path.
func (e *exchange) route(path []string, sent []byte) {
	v := e.lab.version()
	at := strings.Join(path[:min(len(path), 2)], "/")
	changelog := "core/object-changes"
	if v < 401 {
		changelog = "extras/object-changes"
	}
	switch {
	case at == "":
		e.answer(http.StatusOK, Object{"status": e.base() + "/api/status/"})
		return
	case at == "status":
		e.status()
		return
	case at == "authentication-check" && v >= 405:
		e.answer(http.StatusOK, e.view(nil).full(e.user))
		return
	case at == changelog && len(path) == 2:
		e.listChanges(e.r.URL.Query())
		return
	case at == "core/object-types" && len(path) == 2 && v >= 404:
		e.objectTypes()
		return
	}
	for _, m := range e.lab.store.models {
		if m.endpoint == at && m.since <= v && len(m.fields) > 0 {
			e.model(m, path[2:], sent)
			return
		}
	}
	e.answer(http.StatusNotFound, "<!DOCTYPE html><html><head><title>Page Not Found</title></head><body>404</body></html>")
}

func (e *exchange) base() string {
	if e.r.TLS != nil {
		return "https://" + e.r.Host
	}
	return "http://" + e.r.Host
}

// view returns the form of objects that the query selects.
func (e *exchange) view(query url.Values) *view {
	v := &view{store: e.lab.store, base: e.base(), version: e.lab.version(), brief: query.Get("brief") == "1" || query.Get("brief") == "true",
		only: map[string]bool{}, without: map[string]bool{"config_context": query.Get("exclude") == "config_context"}}
	if v.version >= 400 && query.Get("fields") != "" {
		for name := range strings.SplitSeq(query.Get("fields"), ",") {
			v.only[name] = true
			for _, other := range nowadays(name, v.version) {
				v.only[other] = true
			}
		}
	}
	if v.version >= 405 && query.Get("omit") != "" {
		for name := range strings.SplitSeq(query.Get("omit"), ",") {
			v.without[name] = true
		}
	}
	return v
}

func (e *exchange) status() {
	e.answer(http.StatusOK, Object{"django-version": "5.2.0", "installed_apps": Object{}, "netbox-version": e.lab.options.Version,
		"netbox-full-version": e.lab.options.Version, "plugins": Object{}, "python-version": "3.12.3", "rq-workers-running": 1})
}

func (e *exchange) objectTypes() {
	if !e.may("view", e.lab.store.byName["core.objecttype"]) {
		return
	}
	v := e.view(e.r.URL.Query())
	page(e, e.r.URL.Query(), e.lab.store.models, func(m *model) int { return m.number }, func(m *model) any {
		app, name, _ := strings.Cut(m.name, ".")
		return Object{"id": m.number, "url": fmt.Sprintf("%s/api/core/object-types/%d/", v.base, m.number), "display": label(app) + " > " + m.words,
			"app_label": app, "model": name, "rest_api_endpoint": "/api/" + m.endpoint + "/"}
	})
}

// model handles requests below the endpoint of a model.
func (e *exchange) model(m *model, path []string, sent []byte) {
	action := map[string]string{http.MethodGet: "view", http.MethodHead: "view", http.MethodPost: "add", http.MethodPut: "change",
		http.MethodPatch: "change", http.MethodDelete: "delete"}[e.r.Method]
	if action == "" {
		e.answer(http.StatusMethodNotAllowed, Object{"detail": "Method not allowed."})
		return
	}
	if !e.may(action, m) {
		return
	}
	if len(path) == 0 && action == "view" {
		e.list(m, e.r.URL.Query())
		return
	}
	if len(path) == 0 {
		e.bulk(m, action, sent)
		return
	}
	id, err := strconv.Atoi(path[0])
	o := e.lab.store.get(m.name, id)
	reaches := e.reaches(action, m)
	switch {
	case err != nil || len(path) > 2:
		e.answer(http.StatusNotFound, "<!DOCTYPE html><html><body>404</body></html>")
	case o == nil || reaches != nil && !reaches(o):
		e.answer(http.StatusNotFound, Object{"detail": fmt.Sprintf("No %s matches the given query.", m.class())})
	case len(path) == 2:
		e.available(o, path[1], sent)
	case action == "view":
		e.detail(o)
	default:
		e.one(o, sent)
	}
}

func (e *exchange) detail(o *object) {
	if e.lab.version() >= 406 {
		e.w.Header().Set("ETag", etag(o))
	}
	e.answer(http.StatusOK, e.view(e.r.URL.Query()).full(o))
}

func etag(o *object) string { return strconv.Quote(stamp(o.updated)) }

// one changes or deletes an object.
func (e *exchange) one(o *object, sent []byte) {
	if match := e.r.Header.Get("If-Match"); match != "" && match != etag(o) && e.lab.version() >= 406 {
		e.answer(http.StatusPreconditionFailed, Object{"detail": "The object has been modified."})
		return
	}
	body, err := decodeOne(sent)
	if err != nil {
		e.answer(http.StatusBadRequest, Object{"detail": "JSON parse error - " + err.Error()})
		return
	}
	e.message = message(body)
	if e.r.Method == http.MethodDelete {
		if refused := e.remove(o); refused != nil {
			e.answer(http.StatusConflict, Object{"detail": refused.Error()})
			return
		}
		e.answer(http.StatusNoContent, nil)
		return
	}
	if wrong := e.change(o, body); len(wrong) > 0 {
		e.answer(http.StatusBadRequest, wrong)
		return
	}
	e.detail(o)
}

func message(body Object) string {
	text, _ := body["changelog_message"].(string)
	return text
}

// bulk creates, changes or deletes one object or a list. It stops at the first error.
func (e *exchange) bulk(m *model, action string, sent []byte) {
	bodies, several, err := decode(sent)
	if err != nil || action != "add" && !several {
		e.answer(http.StatusBadRequest, Object{"detail": "JSON parse error"})
		return
	}
	var done []any
	reaches := e.reaches(action, m)
	for _, body := range bodies {
		e.message = message(body)
		if action == "add" {
			o, wrong := e.create(m, body)
			if len(wrong) > 0 {
				e.answer(http.StatusBadRequest, wrong)
				return
			}
			done = append(done, e.view(nil).full(o))
			continue
		}
		id, _ := strconv.Atoi(fmt.Sprint(body["id"]))
		o := e.lab.store.get(m.name, id)
		if o == nil || reaches != nil && !reaches(o) {
			e.answer(http.StatusBadRequest, Object{"detail": fmt.Sprintf("No %s matches the given query.", m.class())})
			return
		}
		if action == "delete" {
			if refused := e.remove(o); refused != nil {
				e.answer(http.StatusConflict, Object{"detail": refused.Error()})
				return
			}
			continue
		}
		if wrong := e.change(o, body); len(wrong) > 0 {
			e.answer(http.StatusBadRequest, wrong)
			return
		}
		done = append(done, e.view(nil).full(o))
	}
	e.bulkDone(action, several, done)
}

func (e *exchange) bulkDone(action string, several bool, done []any) {
	switch {
	case action == "delete":
		e.answer(http.StatusNoContent, nil)
	case action == "change":
		e.answer(http.StatusOK, done)
	case several:
		e.answer(http.StatusCreated, done)
	default:
		e.answer(http.StatusCreated, done[0])
	}
}

// available creates the next free address in a prefix.
func (e *exchange) available(o *object, what string, sent []byte) {
	bodies, several, err := decode(sent)
	if o.model.name != "ipam.prefix" || what != "available-ips" || e.r.Method != http.MethodPost || err != nil {
		e.answer(http.StatusNotFound, Object{"detail": "Not found."})
		return
	}
	var done []any
	for _, body := range bodies {
		address, err := e.lab.store.freeAddress(o.text("prefix"))
		if err != nil {
			e.answer(http.StatusConflict, Object{"detail": err.Error()})
			return
		}
		body["address"] = address
		body["vrf"] = orNull(o.id0("vrf"))
		made, wrong := e.create(e.lab.store.byName["ipam.ipaddress"], body)
		if len(wrong) > 0 {
			e.answer(http.StatusBadRequest, wrong)
			return
		}
		done = append(done, e.view(nil).full(made))
	}
	e.bulkDone("add", several, done)
}

// decode decodes an object or a list of objects.
func decode(sent []byte) (bodies []Object, several bool, err error) {
	sent = bytes.TrimSpace(sent)
	several = bytes.HasPrefix(sent, []byte("["))
	decoder := json.NewDecoder(bytes.NewReader(sent))
	decoder.UseNumber()
	if several {
		err = decoder.Decode(&bodies)
		return bodies, several, err
	}
	var body Object
	err = decoder.Decode(&body)
	return []Object{body}, false, err
}

// decodeOne decodes an object; an empty body is an empty object.
func decodeOne(sent []byte) (Object, error) {
	if len(sent) == 0 {
		return Object{}, nil
	}
	bodies, several, err := decode(sent)
	if err != nil {
		return nil, err
	}
	if several {
		return nil, fmt.Errorf("a list where one object was expected")
	}
	return bodies[0], nil
}
