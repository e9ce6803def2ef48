// Package replay answers requests from a recording, for tests.
package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/driftd/driftd/internal/record"
)

// A Server answers requests from a recording.
type Server struct {
	Manifest record.Manifest
	// Answers are the answers by request.
	Answers map[string]record.Answer
	// Request returns a request in the form in which it is recorded.
	Request func(*http.Request) (record.Request, bool)
}

// Load returns a server for the recording in a folder.
func Load(dir string, v *record.Vocabulary) (*Server, error) {
	s := &Server{Answers: map[string]record.Answer{}, Request: v.Request}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range append(files, filepath.Join(dir, record.ManifestFile)) {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		into := any(&s.Answers)
		if filepath.Base(file) == record.ManifestFile {
			into = &s.Manifest
		}
		if err = json.Unmarshal(content, into); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return s, nil
}

// ServeHTTP answers a request. A request that is not recorded gets the status 404.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, _ := s.Request(r)
	key := request.Key()
	answer, ok := s.Answers[key]
	if !ok {
		answer = record.Answer{Status: http.StatusNotFound, Body: `{"message":"not recorded: ` + strings.ReplaceAll(key, `"`, `'`) + `"}`}
	}
	for name, value := range answer.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.Status)
	// The client may have closed the connection.
	_, _ = io.WriteString(w, answer.Body)
}
