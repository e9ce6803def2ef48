package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/lazyregexp"
)

// maxIndex bounds the index of a repository, in bytes. Those of large repositories have 20 MB.
const maxIndex = 32 << 20

// indexState is what the index of a repository had when it last changed.
type indexState struct {
	// tag and modified are the ETag and the Last-Modified of the index.
	tag, modified string
	// sum is the SHA-256 of the index; "" if there is none.
	sum   string
	entry chart.Entry
	// data is the index while it is read.
	data []byte
}

// fromRepository fetches the archive from a repository of charts.
// https://helm.sh/docs/topics/chart_repository/
func (s *Source) fromRepository(ctx context.Context, shared *Index) (string, error) {
	if _, ok := s.cached(s.want()); ok {
		return s.want(), nil
	}
	entry, err := s.entry(ctx, shared)
	if err != nil {
		return "", err
	}
	listed := strings.TrimPrefix(strings.ToLower(entry.Digest), "sha256:")
	switch want := s.want(); {
	case listed == "" && want == "":
		return "", problem("the index has no digest of the chart: set digest")
	case listed != "" && want != "" && listed != want:
		return "", problem("the index has version %s with another digest than the setting: find out who changed it", s.settings.Version)
	case listed == "":
		listed = want
	}
	if _, ok := s.cached(listed); ok {
		return listed, nil
	}
	if len(entry.URLs) == 0 {
		return "", problem("the index has no URL of the chart")
	}
	at, err := s.at(entry.URLs[0])
	if err != nil {
		return "", err
	}
	answer, err := s.get(ctx, at, nil)
	if err != nil {
		return "", err
	}
	data, err := s.readAll(answer, s.settings.Limit)
	if err != nil {
		return "", err
	}
	if sumOf(data) != listed {
		return "", problem("the archive does not have the digest in the index")
	}
	return s.keep(data)
}

// inRegistry matches the URL of a chart in a registry: without, and with the tag.
var inRegistry = lazyregexp.New(`^(oci://[0-9A-Za-z.-]+(?::[0-9]+)?/[0-9a-z._/-]+)(?::[0-9A-Za-z._-]+)?$`)

// at returns the URL of the archive, whose text is in the index.
func (s *Source) at(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, problem("the index has a malformed URL of the chart")
	case at.Scheme == "oci":
		// The rest of the text is not shown: a server wrote it.
		place := "oci"
		const longest = 512
		if parts := inRegistry().FindStringSubmatch(text); parts != nil && len(text) <= longest {
			place = "oci: " + parts[1]
		}
		return nil, problem("the index points to an OCI registry: set %s instead of repo and chart", place)
	}
	folder := *s.base
	folder.Path = strings.TrimSuffix(folder.Path, "/") + "/"
	return folder.ResolveReference(at), nil
}

// An Index is the index of a repository that several sources share: it is downloaded and read once.
// It is safe for concurrent use.
type Index struct {
	once  sync.Once
	index chart.Index
	err   error
}

// entry returns the chart's entry in the index.
func (s *Source) entry(ctx context.Context, shared *Index) (chart.Entry, error) {
	if shared == nil {
		return s.ownEntry(ctx)
	}
	shared.once.Do(func() {
		var state indexState
		if state, shared.err = s.download(ctx, nil); shared.err == nil {
			shared.index, shared.err = s.settings.Index(ctx, state.data)
		}
	})
	if shared.err != nil {
		return chart.Entry{}, shared.err
	}
	return s.find(&shared.index)
}

// find returns the chart's entry in an index.
func (s *Source) find(index *chart.Index) (chart.Entry, error) {
	entry, ok := index.Find(s.settings.Chart, s.settings.Version)
	if !ok {
		return entry, problem("the repository does not have version %s of the chart %s", s.settings.Version, s.settings.Chart)
	}
	return entry, nil
}

// ownEntry returns the chart's entry in the index. An index that has not changed is not sent again.
func (s *Source) ownEntry(ctx context.Context) (chart.Entry, error) {
	header := http.Header{}
	if s.index.tag != "" {
		header.Set("If-None-Match", s.index.tag)
	} else if s.index.modified != "" {
		header.Set("If-Modified-Since", s.index.modified)
	}
	state, err := s.download(ctx, header)
	if err != nil || state.data == nil {
		return s.index.entry, err
	}
	// Reading a large index takes seconds, and many servers send it each time.
	data := state.data
	state.data, state.entry = nil, s.index.entry
	if state.sum != s.index.sum {
		index, err := s.settings.Index(ctx, data)
		if err == nil {
			state.entry, err = s.find(&index)
		}
		if err != nil {
			return chart.Entry{}, err
		}
	}
	s.index = state
	return state.entry, nil
}

// download downloads the index; it has no data if the server has the one that the header names.
func (s *Source) download(ctx context.Context, header http.Header) (state indexState, err error) {
	answer, err := s.get(ctx, s.base.JoinPath("index.yaml"), header)
	if err != nil {
		return state, err
	}
	if answer.StatusCode == http.StatusNotModified {
		return state, answer.Body.Close()
	}
	data, err := s.readAll(answer, maxIndex)
	return indexState{tag: answer.Header.Get("ETag"), modified: answer.Header.Get("Last-Modified"), sum: sumOf(data), data: data}, err
}

// get sends a request. Only the host of the repository gets the credentials.
func (s *Source) get(ctx context.Context, at *url.URL, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if at.Scheme == s.base.Scheme && at.Host == s.base.Host && s.settings.Username != "" && s.settings.carries(s.base, request.URL) {
		password, err := s.password()
		if err != nil {
			return nil, err
		}
		request.SetBasicAuth(s.settings.Username, password)
	}
	answer, err := s.client.Do(request)
	switch {
	case err != nil:
		return nil, s.settings.unanswered(err)
	case answer.StatusCode == http.StatusNotModified && len(header) > 0:
		return answer, nil
	case answer.StatusCode != http.StatusOK:
		return nil, errors.Join(s.settings.statusError(answer.StatusCode), answer.Body.Close())
	}
	return answer, nil
}

// readAll reads and closes the body of an answer of at most limit bytes.
func (s *Source) readAll(answer *http.Response, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return nil, s.settings.unanswered(err)
	}
	if int64(len(data)) > limit {
		return nil, problem("the answer is larger than %d bytes", limit)
	}
	return data, nil
}
