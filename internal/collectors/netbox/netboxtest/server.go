package netboxtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/faults"
)

// Host is the address of the server in its own answers. Clients cannot connect to it.
const Host = "http://netbox.internal:8001"

// maxPage is the maximum number of rows of a page.
const maxPage = 1000

// A Server serves one Estate. It is safe for concurrent use.
type Server struct {
	// Set holds faults by paths below /api/.
	faults.Set

	// Token is the required Authorization header; "" accepts any.
	Token string
	// MaxPage is the maximum number of rows of a page, instead of 1000.
	MaxPage int
	// Forgets discards the requests, so that Requests returns none: for a server that runs for
	// days.
	Forgets bool

	mu     sync.Mutex
	random *rand.Rand
	estate Estate
	// edits run once each, after a number of answers of a path.
	edits []edit
	seen  []*http.Request
	// running is the number of requests in progress, and peak its maximum.
	running, peak int
}

type edit struct {
	path  string
	after int
	do    func(*Estate)
}

// New returns a server for a copy of the estate. random draws the order of unordered lists.
func New(estate Estate, random *rand.Rand) *Server {
	return &Server{random: random, estate: estate.clone()}
}

// Edit changes the estate.
func (s *Server) Edit(do func(*Estate)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&s.estate)
}

// EditAfter changes the estate after n answers of the path.
func (s *Server) EditAfter(path string, n int, do func(*Estate)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edits = append(s.edits, edit{path, n, do})
}

// Requests returns the requests for a path, in order; for "" all requests.
func (s *Server) Requests(path string) []*url.URL {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*url.URL
	for _, r := range s.seen {
		if path == "" || pathOf(r) == path {
			all = append(all, r.URL)
		}
	}
	return all
}

func pathOf(r *http.Request) string {
	return strings.Trim(strings.TrimPrefix(r.URL.Path, "/api/"), "/")
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := pathOf(r)
	s.mu.Lock()
	if !s.Forgets {
		s.seen = append(s.seen, r)
	}
	s.running++
	s.peak = max(s.peak, s.running)
	s.mu.Unlock()
	defer s.done()
	s.Serve(func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, at) }, at, w, r)
}

func (s *Server) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// Peak returns the maximum number of requests that ran at once.
func (s *Server) Peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, at string) {
	s.mu.Lock()
	body, code := s.body(at, r)
	s.edited(at)
	version, _, _ := strings.Cut(s.estate.Version, "-")
	s.mu.Unlock()
	if parts := strings.Split(version, "."); len(parts) > 1 {
		w.Header().Set("API-Version", parts[0]+"."+parts[1])
	}
	if body == nil {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><body>Page not found</body></html>")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// An error means that the client closed the connection.
	_, _ = w.Write(body)
}

// edited runs the edits that are due after an answer of a path.
func (s *Server) edited(at string) {
	for i := range s.edits {
		if e := &s.edits[i]; e.path == at && e.do != nil {
			if e.after--; e.after == 0 {
				e.do(&s.estate)
				e.do = nil
			}
		}
	}
}

// body returns an answer; nil for a path that does not exist.
func (s *Server) body(at string, r *http.Request) ([]byte, int) {
	e := &s.estate
	switch {
	case s.Token != "" && r.Header.Get("Authorization") == "":
		return detail("Authentication credentials were not provided."), http.StatusForbidden
	case s.Token != "" && r.Header.Get("Authorization") != s.Token:
		return detail("Invalid v1 token"), http.StatusForbidden
	case r.Method != http.MethodGet:
		return detail("Method not allowed."), http.StatusMethodNotAllowed
	case slices.Contains(e.Denied, at):
		return detail("You do not have permission to perform this action."), http.StatusForbidden
	case at == "status":
		return s.encode(Row{"netbox-version": e.Version, "plugins": Row{}, "python-version": "3.12.3"}), http.StatusOK
	case at == "authentication-check":
		if e.Account == nil {
			return nil, 0
		}
		return s.encode(e.Account), http.StatusOK
	}
	list, ok := e.list(at)
	if !ok {
		return nil, 0
	}
	return s.page(at, list, r.URL), http.StatusOK
}

func detail(text string) []byte { return fmt.Appendf(nil, `{"detail":%q}`, text) }

// list returns a list of the estate. It returns false for a list that the version does not
// have.
func (e *Estate) list(at string) (List, bool) {
	changes := "core/object-changes"
	if e.older(4, 1) {
		changes = "extras/object-changes"
	}
	if at == changes {
		return List{Rows: e.Changes}, true
	}
	list, ok := e.Lists[at]
	if !ok && (strings.HasSuffix(at, "/object-changes") || strings.HasSuffix(at, "/object-types") || strings.Count(at, "/") != 1) {
		return List{}, false
	}
	for path, since := range map[string][2]int{"dcim/mac-addresses": {4, 2}, "dcim/rack-types": {4, 1}, "users/owners": {4, 5}, "dcim/rack-groups": {4, 6}} {
		if at == path && e.older(since[0], since[1]) {
			return List{}, false
		}
	}
	return list, true
}

// older reports whether the estate's version is before another.
func (e *Estate) older(major, minor int) bool {
	parts := strings.SplitN(e.Version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, _ := strconv.Atoi(parts[0])
	b, _ := strconv.Atoi(parts[1])
	return a < major || a == major && b < minor
}

// page returns the requested part of a list.
func (s *Server) page(at string, list List, asked *url.URL) []byte {
	e, q := &s.estate, asked.Query()
	limit := cmp.Or(s.MaxPage, maxPage)
	if n, err := strconv.Atoi(q.Get("limit")); err == nil && n > 0 {
		limit = min(limit, n)
	}
	rows := e.filtered(e.visible(at, list), q)
	if q.Get("ordering") == "-id" {
		slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(b["id"].(int), a["id"].(int)) })
	}
	if list.Append == nil && q.Get("ordering") == "" && !strings.HasSuffix(at, "object-changes") && len(rows) <= limit {
		s.random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	total := max(len(rows), list.Len)
	count, begin := strconv.Itoa(total), 0
	next := "offset"
	if q.Has("start") && !e.older(4, 6) {
		next, count = "start", "null"
		start, _ := strconv.Atoi(q.Get("start"))
		begin = list.from(rows, start)
	} else if n, err := strconv.Atoi(q.Get("offset")); err == nil {
		begin = min(max(n, 0), total)
	}
	end := min(begin+limit, total)
	b := append(append([]byte(`{"count":`), count...), `,"next":`...)
	b = append(b, s.next(asked, list, rows, next, limit, end, total)...)
	b = append(b, `,"previous":null,"results":[`...)
	for i := begin; i < end; i++ {
		if i > begin {
			b = append(b, ',')
		}
		if list.Append != nil {
			b = list.Append(b, i)
			continue
		}
		b = append(b, s.encode(e.fields(rows[i], q.Get("fields")))...)
	}
	return append(b, "]}"...)
}

func (e *Estate) visible(at string, list List) []Row {
	rows := slices.Clone(list.Rows)
	return slices.DeleteFunc(rows, func(r Row) bool { return e.Hidden != nil && e.Hidden(at, r) })
}

// from returns the index of the first row with an id of at least start.
func (l List) from(rows []Row, start int) int {
	if l.Append != nil {
		return min(max(start-1, 0), l.Len)
	}
	if i := slices.IndexFunc(rows, func(r Row) bool { return r["id"].(int) >= start }); i >= 0 && start > 0 {
		return i
	}
	if start == 0 {
		return 0
	}
	return len(rows)
}

// next returns the address of the next page, as JSON.
func (s *Server) next(asked *url.URL, list List, rows []Row, by string, limit, end, total int) string {
	if end >= total {
		return "null"
	}
	q := asked.Query()
	q.Set("limit", strconv.Itoa(limit))
	position := end
	if by == "start" {
		position = end + 1
		if list.Append == nil {
			position = rows[end-1]["id"].(int) + 1
		}
	}
	q.Set(by, strconv.Itoa(position))
	return strconv.Quote(Host + asked.Path + "?" + q.Encode())
}

// fields returns the row with the requested fields only; versions before 4.0 return all.
func (e *Estate) fields(row Row, asked string) Row {
	if asked == "" || e.older(4, 0) {
		return row
	}
	cut := Row{}
	for name := range strings.SplitSeq(asked, ",") {
		if v, ok := row[name]; ok {
			cut[name] = v
		}
	}
	return cut
}

// encode returns the JSON of a row, with its tags and references in random order.
func (s *Server) encode(row Row) []byte {
	shuffled := Row{}
	for name, v := range row {
		if list, ok := v.([]Row); ok && name != "results" {
			list = slices.Clone(list)
			s.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			v = list
		}
		shuffled[name] = v
	}
	b, err := json.Marshal(shuffled)
	if err != nil {
		panic(fmt.Sprintf("netboxtest: encode a row: %v", err))
	}
	return b
}

func itoa(n int) string { return strconv.Itoa(n) }
