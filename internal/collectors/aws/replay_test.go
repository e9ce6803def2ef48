package aws

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/collectors/aws/vocabulary"
)

// A recording has the answers of moto to the requests of a scan, by request. The estate was
// created by hand, with one of each kind.
type recording struct {
	mu      sync.Mutex
	Answers map[string]recorded
	// asked counts the requests by their first line.
	asked map[string]int
	// instead are other answers for requests that contain a text.
	instead map[string]recorded
}

type recorded struct {
	Status int
	Body   string
}

func loadRecording(t *testing.T) *recording {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "moto.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{asked: map[string]int{}, instead: map[string]recorded{}}
	if err = json.Unmarshal(data, &r.Answers); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *recording) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	request, _ := vocabulary.Of("").Request(req)
	key := request.Key()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[key]++
	answer, ok := r.Answers[key]
	for part, other := range r.instead {
		if strings.Contains(key, part) {
			answer, ok = other, true
		}
	}
	if !ok {
		answer = recorded{http.StatusNotFound, `{"message":"not recorded: ` + strings.ReplaceAll(key, `"`, `'`) + `"}`}
	}
	w.WriteHeader(answer.Status)
	// The client may have closed the connection.
	_, _ = io.WriteString(w, answer.Body)
}
