// Package tftest runs real Terraform and OpenTofu for tests, with a small provider of our own
// whose live side, the Lab, is controlled by the test. The programs are in the folder that
// `tools/terraform.sh` prints.
package tftest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Token is the token that the Lab requires.
const Token = "lab-token-k3Jx"

// An Object is an object of the Lab: any JSON object. Its "id" is its name or title, if that is
// not in use.
type Object = map[string]any

// Faults are errors of the Lab. Objects are named kind/id.
type Faults struct {
	// Token is the new required token; the error for another one contains that token.
	Token string
	// Fail has the texts of errors for the reads of objects.
	Fail map[string]string
	// Hang has the objects whose reads get no response before the client disconnects.
	Hang map[string]bool
	// Flood is the number of bytes that the provider writes to stderr for each response.
	Flood int
	// Delay is added to the time of each response.
	Delay time.Duration
	// Reformat changes the format of the JSON text in fields named "config".
	Reformat bool
}

// A Lab is the live side: an HTTP API that creates, reads, replaces and deletes objects of any
// kind, which tests also edit by hand. Its methods are safe for concurrent use.
type Lab struct {
	server *httptest.Server
	closed chan struct{}

	mu      sync.Mutex
	objects map[string]Object
	faults  Faults
	calls   map[string]int
	waiting int
}

// NewLab returns a Lab that serves until it is closed.
func NewLab() *Lab {
	l := &Lab{closed: make(chan struct{}), objects: map[string]Object{}, calls: map[string]int{}}
	l.Break(Faults{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/{kind}", l.create)
	mux.HandleFunc("GET /v1/{kind}", l.list)
	mux.HandleFunc("GET /v1/{kind}/{id}", l.read)
	mux.HandleFunc("PUT /v1/{kind}/{id}", l.replace)
	mux.HandleFunc("DELETE /v1/{kind}/{id}", l.remove)
	l.server = httptest.NewServer(l.guard(mux))
	return l
}

// Close stops the server, and ends the requests that still wait.
func (l *Lab) Close() {
	close(l.closed)
	l.server.CloseClientConnections()
	l.server.Close()
}

// URL returns the Lab's URL.
func (l *Lab) URL() string { return l.server.URL }

// Break replaces the Lab's faults; no faults remove them.
func (l *Lab) Break(f Faults) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.Token == "" {
		f.Token = Token
	}
	l.faults = f
}

// Put creates or replaces an object, named kind/id, by hand.
func (l *Lab) Put(name string, o Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, id, _ := strings.Cut(name, "/")
	o = maps.Clone(o)
	o["id"] = id
	l.objects[name] = o
}

// Get returns a copy of an object, or nil.
func (l *Lab) Get(name string) Object {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.objects[name])
}

// Set edits a field of an object by hand; nil removes it.
func (l *Lab) Set(name, field string, value any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	o, ok := l.objects[name]
	if !ok {
		return fmt.Errorf("edit %s: there is none, only %v", name, slices.Sorted(maps.Keys(l.objects)))
	}
	if value == nil {
		delete(o, field)
		return nil
	}
	o[field] = value
	return nil
}

// Remove deletes an object by hand.
func (l *Lab) Remove(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.objects[name]; !ok {
		return fmt.Errorf("remove %s: there is none", name)
	}
	delete(l.objects, name)
	return nil
}

// Calls returns the number of calls of each method since the last time.
func (l *Lab) Calls() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := l.calls
	l.calls = map[string]int{}
	return calls
}

// Waiting returns the number of requests that hang.
func (l *Lab) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting
}

func (l *Lab) wait(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting += n
}

// guard counts requests and applies the faults that concern all of them.
func (l *Lab) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.calls[r.Method]++
		faults := l.faults
		l.mu.Unlock()
		name := strings.TrimPrefix(r.URL.Path, "/v1/")
		<-time.After(faults.Delay)
		if faults.Flood > 0 {
			w.Header().Set("X-Lab-Flood", strconv.Itoa(faults.Flood))
		}
		reading := r.Method == http.MethodGet
		switch token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); {
		case token != faults.Token:
			http.Error(w, fmt.Sprintf("the token %q is not valid", token), http.StatusUnauthorized)
		case reading && faults.Hang[name]:
			l.wait(1)
			defer l.wait(-1)
			select {
			case <-r.Context().Done():
			case <-l.closed:
			}
		case reading && faults.Fail[name] != "":
			http.Error(w, faults.Fail[name], http.StatusInternalServerError)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (l *Lab) create(w http.ResponseWriter, r *http.Request) {
	o, ok := receive(w, r)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	kind := r.PathValue("kind")
	o["id"] = l.freeID(kind, o)
	if kind == "server" {
		o["status"] = "running"
		if o["address"] == nil {
			o["address"] = fmt.Sprintf("10.0.0.%d", len(l.objects)+1)
		}
	}
	l.objects[kind+"/"+fmt.Sprint(o["id"])] = o
	answer(w, o)
}

// freeID returns an object's name, or title, or its kind, with a number if that is in use.
func (l *Lab) freeID(kind string, o Object) string {
	wanted := kind
	for _, field := range []string{"name", "title"} {
		if text, ok := o[field].(string); ok {
			wanted = text
		}
	}
	id := wanted
	for n := 2; l.objects[kind+"/"+id] != nil; n++ {
		id = fmt.Sprintf("%s-%d", wanted, n)
	}
	return id
}

func (l *Lab) list(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := []Object{}
	for _, name := range slices.Sorted(maps.Keys(l.objects)) {
		if strings.HasPrefix(name, r.PathValue("kind")+"/") {
			found = append(found, l.objects[name])
		}
	}
	answer(w, found)
}

func (l *Lab) read(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o, ok := l.objects[r.PathValue("kind")+"/"+r.PathValue("id")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if l.faults.Reformat {
		o = reformat(o)
	}
	answer(w, o)
}

// replace keeps the fields that the server set and the request lacks.
func (l *Lab) replace(w http.ResponseWriter, r *http.Request) {
	o, ok := receive(w, r)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	name := r.PathValue("kind") + "/" + r.PathValue("id")
	for _, field := range []string{"id", "status", "address"} {
		if given := l.objects[name][field]; given != nil && o[field] == nil {
			o[field] = given
		}
	}
	l.objects[name] = o
	answer(w, o)
}

func (l *Lab) remove(w http.ResponseWriter, r *http.Request) {
	if err := l.Remove(r.PathValue("kind") + "/" + r.PathValue("id")); err != nil {
		http.NotFound(w, r)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func receive(w http.ResponseWriter, r *http.Request) (Object, bool) {
	var o Object
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil, false
	}
	return o, true
}

func answer(w http.ResponseWriter, content any) {
	body, err := json.Marshal(content)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// The client may have disconnected.
	_, _ = w.Write(body)
}

// reformat returns the object with its "config" in another format with the same meaning.
func reformat(o Object) Object {
	var content any
	text, _ := o["config"].(string)
	if json.Unmarshal([]byte(text), &content) != nil {
		return o
	}
	again, err := json.MarshalIndent(content, "", "   ")
	if err != nil {
		return o
	}
	o = maps.Clone(o)
	o["config"] = string(again)
	return o
}
