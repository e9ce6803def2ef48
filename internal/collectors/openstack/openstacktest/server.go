// Package openstacktest is a fake OpenStack cloud for tests and the benchmark. It issues tokens
// that expire, and answers the lists of Nova, Neutron, Glance and Cinder with their own paging,
// policies and versions. Single objects can be read, and fields of them changed. It serves all services at one address, with Keystone at /v3, and
// rejects unknown requests.
package openstacktest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/faults"
)

// A Server serves one Estate. It is safe for concurrent use.
type Server struct {
	// Set holds faults by paths.
	faults.Set

	// MaxPage is the maximum number of rows of a page, instead of 1000.
	MaxPage int
	// Strange is called with each unknown request, which is answered with 501.
	Strange func(request string)

	mu     sync.Mutex
	estate Estate
	// tokens are the accounts of the valid tokens.
	tokens map[string]Account
	issued int
	seen   []*http.Request
	// answers are the cached answers since the last change of the estate.
	answers map[string][]byte
}

// New returns a server for a copy of the estate. random draws the order of unordered lists.
func New(estate Estate, random *rand.Rand) *Server {
	s := &Server{estate: estate.clone(), tokens: map[string]Account{}, answers: map[string][]byte{}}
	for _, rows := range s.estate.Lists {
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	return s
}

// Edit changes the estate.
func (s *Server) Edit(do func(*Estate)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&s.estate)
	clear(s.answers)
}

// EndTokens invalidates all tokens.
func (s *Server) EndTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Requests returns the requests for paths with the prefix, in order.
func (s *Server) Requests(prefix string) []*url.URL {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*url.URL
	for _, r := range s.seen {
		if strings.HasPrefix(r.URL.Path, prefix) {
			all = append(all, r.URL)
		}
	}
	return all
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.seen = append(s.seen, r)
	s.mu.Unlock()
	s.Serve(s.answer, r.URL.Path, w, r)
}

// The services, by the prefixes of their paths.
const (
	keystone = "/v3/"
	nova     = "/compute/v2.1/"
	neutron  = "/network/v2.0/"
	glance   = "/image/v2/"
	cinder   = "/volume/v3/"
)

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPost && r.URL.Path == keystone+"auth/tokens" {
		s.login(w, r)
		return
	}
	token := r.Header.Get("X-Auth-Token")
	who, ok := s.tokens[token]
	it, single := itemOf(r.URL.Path, who)
	switch {
	case r.Method == http.MethodGet && r.URL.Path == nova:
		write(w, http.StatusOK, s.estate.versions())
	case r.Method != http.MethodGet && !(ok && single):
		s.strange(w, r)
	case !ok:
		w.Header().Set("WWW-Authenticate", `Keystone uri="http://openstack.internal:5000/"`)
		write(w, http.StatusUnauthorized, fail("error", http.StatusUnauthorized, "The request you have made requires authentication."))
	case r.URL.Path == keystone+"auth/tokens":
		s.grant(w, r, who, token)
	case strings.HasPrefix(r.URL.Path, keystone+"users/"):
		s.user(w, r, who)
	case strings.HasSuffix(r.URL.Path, "/os-instance-actions"):
		s.actions(w, r, who)
	case single:
		s.item(w, r, who, it)
	default:
		s.list(w, r, who)
	}
}

func (s *Server) strange(w http.ResponseWriter, r *http.Request) {
	if s.Strange != nil {
		s.Strange(r.Method + " " + r.URL.String())
	}
	w.WriteHeader(http.StatusNotImplemented)
}

// fail returns the error body of a service.
func fail(name string, code int, message string) Row {
	return Row{name: Row{"code": code, "message": message}}
}

// requestID is the header with which services, and no proxies, mark their answers.
const requestID = "X-Openstack-Request-Id"

func write(w http.ResponseWriter, code int, v any) {
	body, ok := v.([]byte)
	if !ok {
		var err error
		if body, err = json.Marshal(v); err != nil {
			panic(fmt.Sprintf("openstacktest: encode an answer: %v", err))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(requestID, "req-1")
	w.WriteHeader(code)
	// An error means that the client closed the connection.
	_, _ = w.Write(body)
}

// A request is the body of a login.
type request struct {
	Auth struct {
		Identity struct {
			Methods  []string
			Password struct {
				User struct{ ID, Name, Password string }
			}
			Token struct{ ID string }
			// The name is the one in Keystone's API.
			Credential struct{ ID, Name, Secret string } `json:"application_credential"`
		}
		Scope struct {
			Project struct{ ID, Name string }
		}
	}
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var asked request
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		s.strange(w, r)
		return
	}
	i := slices.IndexFunc(s.estate.Accounts, func(a Account) bool { return s.opens(&asked, a) })
	if i < 0 {
		write(w, http.StatusUnauthorized, fail("error", http.StatusUnauthorized, "The request you have made requires authentication."))
		return
	}
	s.issued++
	token := fmt.Sprintf("gAAAA-%d", s.issued)
	s.tokens[token] = s.estate.Accounts[i]
	s.grant(w, r, s.estate.Accounts[i], token)
}

// opens reports whether the request has the credentials of the account.
func (s *Server) opens(asked *request, a Account) bool {
	id, scope := asked.Auth.Identity, asked.Auth.Scope.Project
	scoped := a.Project.ID == scope.ID || a.Project.Name == scope.Name
	switch strings.Join(id.Methods, " ") {
	case "password":
		u := id.Password.User
		return scoped && a.Password != "" && u.Password == a.Password && (u.Name == a.Name || u.ID == a.ID)
	case "application_credential":
		return a.Credential != "" && id.Credential.ID == a.Credential && id.Credential.Secret == a.Secret
	case "token":
		return scoped && s.tokens[id.Token.ID].ID == a.ID
	}
	return false
}

// grant answers with the token data. The catalogue has the address of the request.
func (s *Server) grant(w http.ResponseWriter, r *http.Request, a Account, token string) {
	domain := Row{"id": "default", "name": "Default"}
	var roles []Row
	for _, name := range a.Roles {
		roles = append(roles, Row{"id": "role-" + name, "name": name})
	}
	grant := Row{"methods": []string{"password"}, "user": Row{"id": a.ID, "name": a.Name, "domain": domain}, "roles": roles,
		"project": Row{"id": a.Project.ID, "name": a.Project.Name, "domain": domain}, "catalog": s.catalogue(r, a),
		"issued_at": "2026-11-20T06:59:00.000000Z", "expires_at": "2026-11-20T07:59:00.000000Z"}
	if a.Credential != "" {
		grant["application_credential"] = Row{"id": a.Credential, "name": a.Name + "-reads", "restricted": true}
	}
	w.Header().Set("X-Subject-Token", token)
	code := http.StatusCreated
	if r.Method == http.MethodGet {
		code = http.StatusOK
	}
	write(w, code, Row{"token": grant})
}

func (s *Server) catalogue(r *http.Request, a Account) []Row {
	host := "http://" + r.Host
	var all []Row
	for _, service := range []struct{ typ, name, path string }{
		{"identity", "keystone", "/v3"},
		{"compute", "nova", "/compute/v2.1"},
		{"network", "neutron", "/network"},
		{"image", "glance", "/image/"},
		{"volumev3", "cinderv3", "/volume/v3/" + a.Project.ID},
	} {
		if slices.Contains(s.estate.Without, service.typ) {
			continue
		}
		var endpoints []Row
		for _, region := range s.estate.Regions {
			for face, address := range map[string]string{"public": host, "internal": host, "admin": "http://openstack.internal:9999"} {
				if service.typ == s.estate.Clear {
					address = "http://openstack.internal:8774"
				}
				endpoints = append(endpoints, Row{"id": service.name + region + face, "interface": face, "region": region, "region_id": region, "url": address + service.path})
			}
		}
		all = append(all, Row{"type": service.typ, "name": service.name, "id": service.name, "endpoints": endpoints})
	}
	return all
}

// versions returns Nova's version document.
func (e Estate) versions() Row {
	return Row{"version": Row{"id": "v2.1", "status": "CURRENT", "version": e.Microversion, "min_version": "2.1"}}
}

// user returns a user's name to an administrator or to the user itself.
func (s *Server) user(w http.ResponseWriter, r *http.Request, who Account) {
	id := strings.TrimPrefix(r.URL.Path, keystone+"users/")
	if !who.admin() && who.ID != id {
		write(w, http.StatusForbidden, fail("error", http.StatusForbidden, "You are not authorized to perform the requested action: identity:get_user."))
		return
	}
	for _, a := range s.estate.Accounts {
		if a.ID == id {
			write(w, http.StatusOK, Row{"user": Row{"id": a.ID, "name": a.Name, "domain_id": "default", "enabled": true}})
			return
		}
	}
	write(w, http.StatusNotFound, fail("error", http.StatusNotFound, "Could not find user: "+id+"."))
}

// actions returns the action log of a server.
func (s *Server) actions(w http.ResponseWriter, r *http.Request, who Account) {
	id := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, nova+"servers/"), "/os-instance-actions")
	for _, row := range s.estate.Lists[Servers] {
		if row["id"] == id && (who.admin() || row["tenant_id"] == who.Project.ID) {
			actions := s.estate.Actions[id]
			if actions == nil {
				actions = []Row{}
			}
			write(w, http.StatusOK, Row{"instanceActions": actions})
			return
		}
	}
	write(w, http.StatusNotFound, fail("itemNotFound", http.StatusNotFound, "Instance "+id+" could not be found."))
}
