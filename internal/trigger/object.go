package trigger

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/driftd/driftd/internal/model"
)

const (
	// maxEvent is the size of the largest event that is parsed, in bytes.
	maxEvent = 1 << 20
	// maxName is the size of the longest type and id of an object, in bytes.
	maxName = 200
	// maxObjects is how many objects a scan reads one by one. For more it reads whole sources.
	maxObjects = 100
)

// An event keeps the beginning of the body of a request.
type event struct{ bytes.Buffer }

// Write implements io.Writer. It discards the data beyond maxEvent.
func (e *event) Write(p []byte) (int, error) {
	e.Buffer.Write(p[:min(len(p), maxEvent+1-e.Len())])
	return len(p), nil
}

// tee returns a reader of body that keeps what is read in e.
func (e *event) tee(body io.Reader) io.Reader { return io.TeeReader(body, e) }

// object returns the object that an event of NetBox names; ok is false if it names none. Nothing
// else of an event is used: who sends it may be wrong, or lie.
func (e *event) object() (name model.ObjectName, ok bool) {
	var body struct {
		// NetBox sends object_type ("ipam.prefix") since 4.3, and model ("prefix") before.
		ObjectType string `json:"object_type"`
		Model      string `json:"model"`
		Data       struct {
			ID json.Number `json:"id"`
		} `json:"data"`
	}
	if e.Len() > maxEvent || json.Unmarshal(e.Bytes(), &body) != nil {
		return model.ObjectName{}, false
	}
	name = model.ObjectName{Type: body.ObjectType, ID: body.Data.ID.String()}
	if name.Type == "" {
		name.Type = body.Model
	}
	return name, name.Type != "" && name.ID != "" && len(name.Type)+len(name.ID) <= maxName
}
