package gitrepo_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/server"

	"github.com/driftd/driftd/internal/declared/gitrepo"
)

// An origin is a repository that tests write to with go-git.
type origin struct {
	t   testing.TB
	dir string
	*git.Repository
}

func newOrigin(t testing.TB) origin {
	t.Helper()
	dir := t.TempDir()
	r, err := git.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	return origin{t, dir, r}
}

// commit writes files and commits all changes.
func (o origin) commit(files map[string]string) plumbing.Hash {
	o.t.Helper()
	work, err := o.Worktree()
	if err != nil {
		o.t.Fatal(err)
	}
	for name, content := range files {
		file := filepath.Join(o.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			o.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			o.t.Fatal(err)
		}
	}
	if err := work.AddWithOptions(&git.AddOptions{All: true}); err != nil {
		o.t.Fatal(err)
	}
	signature := &object.Signature{Name: "t", Email: "t@example.org", When: time.Unix(1_700_000_000, 0)}
	hash, err := work.Commit("change", &git.CommitOptions{Author: signature, AllowEmptyCommits: true})
	if err != nil {
		o.t.Fatal(err)
	}
	return hash
}

// rewrite moves the branch back, like a force-push.
func (o origin) rewrite(to plumbing.Hash) {
	o.t.Helper()
	work, err := o.Worktree()
	if err != nil {
		o.t.Fatal(err)
	}
	if err := work.Reset(&git.ResetOptions{Commit: to, Mode: git.HardReset}); err != nil {
		o.t.Fatal(err)
	}
}

func (o origin) tag(name string, at plumbing.Hash, annotated bool) {
	o.t.Helper()
	var options *git.CreateTagOptions
	if annotated {
		options = &git.CreateTagOptions{Message: name, Tagger: &object.Signature{Name: "t", When: time.Unix(1_700_000_000, 0)}}
	}
	if _, err := o.CreateTag(name, at, options); err != nil {
		o.t.Fatal(err)
	}
}

// Load implements server.Loader.
func (o origin) Load(*transport.Endpoint) (storer.Storer, error) { return o.Storer, nil }

// A hub serves an origin over https and records requests.
type hub struct {
	origin origin
	*httptest.Server
	caFile string

	mu       sync.Mutex
	token    string
	requests []string
	// gone makes the hub respond with 404. cut makes it truncate transfers.
	gone, cut bool
}

func newHub(t testing.TB, o origin) *hub {
	t.Helper()
	h := &hub{origin: o}
	h.Server = httptest.NewTLSServer(h)
	t.Cleanup(h.Close)
	h.caFile = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	if err := os.WriteFile(h.caFile, block, 0o644); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *hub) set(change func(*hub)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// requested returns the requests since its last call.
func (h *hub) requested() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	requests := h.requests
	h.requests = nil
	return requests
}

// ServeHTTP implements git's smart protocol (gitprotocol-http(5)).
func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, r.Method+" "+r.URL.Path)
	user, password, _ := r.BasicAuth()
	switch {
	case h.gone:
		http.NotFound(w, r)
		return
	case h.token != "" && (user != "git" || password != h.token):
		http.Error(w, "authentication required", http.StatusUnauthorized)
		return
	}
	session, err := server.NewServer(h.origin).NewUploadPackSession(&transport.Endpoint{}, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var response bytes.Buffer
	if strings.HasSuffix(r.URL.Path, "/info/refs") {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		err = advertise(session, &response, true)
	} else {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		err = upload(r.Context(), session, r.Body, &response)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	body := response.Bytes()
	if h.cut && r.Method == http.MethodPost {
		body = body[:len(body)/2]
	}
	_, _ = w.Write(body)
}

func advertise(session transport.UploadPackSession, w io.Writer, web bool) error {
	ad, err := session.AdvertisedReferences()
	if err != nil {
		return err
	}
	if web {
		ad.Prefix = [][]byte{[]byte("# service=git-upload-pack"), pktline.Flush}
	}
	return ad.Encode(w)
}

func upload(ctx context.Context, session transport.UploadPackSession, from io.Reader, to io.Writer) error {
	request := packp.NewUploadPackRequest()
	if err := request.Decode(from); err != nil {
		return err
	}
	response, err := session.UploadPack(ctx, request)
	if err != nil {
		return err
	}
	return response.Encode(to)
}

// settings returns settings for the hub with clones in dir.
func (h *hub) settings(dir string) gitrepo.Settings {
	return gitrepo.Settings{
		URL: h.URL + "/shop.git", Username: "git", CAFile: h.caFile, CacheDir: dir, Log: slog.New(slog.DiscardHandler),
	}
}
