package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

const (
	// reader and writer are the users of requests without and with the token.
	reader = "system:serviceaccount:driftd:driftd"
	writer = "system:serviceaccount:driftd:driftd-writer"
	// maxPatch bounds a patch, in bytes.
	maxPatch = 1 << 20
)

// userOf returns the user of a request.
func (c *Cluster) userOf(r *http.Request) string {
	if c.Token != "" && r.Header.Get("Authorization") == "Bearer "+c.Token {
		return writer
	}
	return reader
}

// object returns the Ref that a path names. ok is false if it names no object.
func object(path string) (ref Ref, ok bool) {
	at := strings.LastIndexByte(path, '/')
	collection, name := path[:max(at, 0)], path[at+1:]
	for _, k := range kinds() {
		namespace := ""
		if before, after, found := strings.Cut(collection, "/namespaces/"); found && k.namespaced {
			if place, resource, found := strings.Cut(after, "/"); found && before+"/"+resource == k.path("") {
				namespace = place
			}
		}
		if collection == k.path(namespace) && k.namespaced == (namespace != "") && name != "" {
			return Ref{k.name, namespace, name}, true
		}
	}
	return ref, false
}

// get serves one object.
func (c *Cluster) get(w http.ResponseWriter, ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.objects[ref]; o != nil {
		reply(w, o)
		return
	}
	refuse(w, http.StatusNotFound, "NotFound", ref.Kind+" "+ref.Name+" not found")
}

// patch serves a JSON Patch of a Deployment, see verbs. With dryRun=All nothing is stored.
func (c *Cluster) patch(w http.ResponseWriter, r *http.Request, ref Ref) {
	if user := c.userOf(r); user != writer || ref.Kind != "Deployment" {
		refuse(w, http.StatusForbidden, "Forbidden", user+" may not patch "+ref.Kind)
		return
	}
	if r.Header.Get("Content-Type") != "application/json-patch+json" {
		refuse(w, http.StatusUnsupportedMediaType, "UnsupportedMediaType", "the simulated cluster supports JSON Patch only")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPatch))
	var operations jsonpatch.Patch
	if err == nil {
		operations, err = jsonpatch.DecodePatch(body)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	by := Writer{User: writer, Agent: "driftd", Manager: r.URL.Query().Get("fieldManager")}
	after, err := c.patched(ref, operations, by, r.URL.Query().Get("dryRun") == "All")
	switch {
	case err != nil:
		refuse(w, http.StatusUnprocessableEntity, "Invalid", err.Error())
	case after == nil:
		refuse(w, http.StatusNotFound, "NotFound", ref.Kind+" "+ref.Name+" not found")
	default:
		reply(w, after)
	}
}

// patched returns the object after a patch, and stores it unless dry is set; nil if there is no object. A patch of
// managedFields alone is stored as it is.
func (c *Cluster) patched(ref Ref, operations jsonpatch.Patch, by Writer, dry bool) (Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.objects[ref]
	if before == nil {
		return nil, nil
	}
	text, err := json.Marshal(before)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", ref.Name, err)
	}
	text, err = operations.Apply(text)
	if err != nil {
		return nil, fmt.Errorf("the patch does not apply: %w", err)
	}
	var after Object
	if err := json.Unmarshal(text, &after); err != nil {
		return nil, fmt.Errorf("decode %s: %w", ref.Name, err)
	}
	now := time.Now()
	if changed := changedLeaves(before, after); len(changed) > 0 {
		owned(before, after, by, now, changed)
	}
	if dry {
		return after, nil
	}
	return after, c.put(ref, after, write{"patch", by, now})
}
