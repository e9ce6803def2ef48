package netboxlab

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A Permission allows actions on objects of some models. An object has to match all
// constraints, which have Django's syntax: "tenant__slug".
type Permission struct {
	Models      []string
	Actions     []string
	Constraints Object
}

// AddUser adds a user with all rights, until Grant restricts them. It does nothing if the user
// exists.
func (l *Lab) AddUser(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addUser(name)
}

func (l *Lab) addUser(name string) *object {
	if u := l.user(name); u != nil {
		return u
	}
	u := l.store.put(l.store.byName["users.user"], map[string]any{"username": name, "first_name": "", "last_name": "", "email": "", "is_active": true}, l.now())
	l.super[u.id] = true
	return u
}

// Grant replaces the rights of a user by the permissions.
func (l *Lab) Grant(name string, permissions ...Permission) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.addUser(name)
	l.super[u.id] = false
	for _, old := range l.store.referring("users.objectpermission", "users", u) {
		l.store.drop(old)
	}
	for i, p := range permissions {
		l.store.put(l.store.byName["users.objectpermission"], map[string]any{
			"name": fmt.Sprintf("%s %d", name, i+1), "description": "", "enabled": true, "object_types": anys(p.Models), "actions": anys(p.Actions),
			"constraints": any(p.Constraints), "users": []int{u.id},
		}, l.now())
	}
}

func anys(texts []string) []any {
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = text
	}
	return values
}

// Models lists all models that permissions can name.
func (l *Lab) Models() []string {
	var names []string
	for _, m := range l.store.models {
		names = append(names, m.name)
	}
	return names
}

func (l *Lab) user(name string) *object {
	for _, u := range l.store.objects["users.user"] {
		if u.text("username") == name {
			return u
		}
	}
	return nil
}

// Token returns a user's token: 40 hexadecimal digits.
func Token(user string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(user)))[:40] }

// Bearer returns a user's token in the form of NetBox 4.5.
func Bearer(user string) string { return "nbt_" + Token(user)[:12] + "." + Token(user) }

// authenticate returns the user of a request, or writes an error.
func (e *exchange) authenticate(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	for _, u := range e.lab.store.objects["users.user"] {
		name := u.text("username")
		if scheme == "Token" && token == Token(name) || scheme == "Bearer" && token == Bearer(name) && e.lab.version() >= 405 {
			e.user = u
			return true
		}
	}
	detail := "Invalid v1 token"
	switch {
	case header == "":
		detail = "Authentication credentials were not provided."
	case e.lab.version() < 405:
		detail = "Invalid token"
	}
	e.answer(http.StatusForbidden, Object{"detail": detail})
	return false
}

// granted lists the constraints under which the user may do an action with a model; one that is
// nil allows everything.
func (e *exchange) granted(action string, m *model) (constraints []Object, ok bool) {
	if e.lab.super[e.user.id] {
		return []Object{nil}, true
	}
	for _, p := range e.lab.store.referring("users.objectpermission", "users", e.user) {
		actions, _ := p.fields["actions"].([]any)
		types, _ := p.fields["object_types"].([]any)
		if p.fields["enabled"] == true && slices.Contains(actions, any(action)) && slices.Contains(types, any(m.name)) {
			constraint, _ := p.fields["constraints"].(Object)
			constraints, ok = append(constraints, constraint), true
		}
	}
	return constraints, ok
}

// may reports whether the user may do an action with objects of a model. If not, it writes an
// error.
func (e *exchange) may(action string, m *model) bool {
	if _, ok := e.granted(action, m); ok {
		return true
	}
	e.answer(http.StatusForbidden, Object{"detail": "You do not have permission to perform this action."})
	return false
}

// reaches returns a filter for the objects of a model with which the user may do an action.
func (e *exchange) reaches(action string, m *model) func(*object) bool {
	constraints, _ := e.granted(action, m)
	for _, c := range constraints {
		if len(c) == 0 {
			return nil
		}
	}
	return func(o *object) bool {
		return slices.ContainsFunc(constraints, func(c Object) bool { return e.lab.store.fits(o, c) })
	}
}

// fits reports whether an object matches all constraints.
func (s *store) fits(o *object, constraints Object) bool {
	for path, want := range constraints {
		if !s.fitsOne(o, strings.Split(path, "__"), want) {
			return false
		}
	}
	return true
}

func (s *store) fitsOne(o *object, path []string, want any) bool {
	if path[0] == "id" || path[0] == "pk" {
		return compare(strconv.Itoa(o.id), path[1:], want)
	}
	f := o.model.byName[path[0]]
	if f == nil {
		return false
	}
	targets := o.targets(f)
	if len(targets) == 0 {
		return !(f.reference() || f.kind == references || f.kind == tagged) && compare(o.text(f.name), path[1:], want)
	}
	return slices.ContainsFunc(targets, func(at ref) bool {
		if len(path) == 1 {
			return strconv.Itoa(at.id) == fmt.Sprint(want)
		}
		target := s.get(at.target, at.id)
		return target != nil && s.fitsOne(target, path[1:], want)
	})
}

// compare compares a value by one of the supported lookups.
func compare(have string, lookup []string, want any) bool {
	if len(lookup) == 0 || lookup[0] == "exact" {
		return have == fmt.Sprint(want)
	}
	switch lookup[0] {
	case "in":
		values, _ := want.([]any)
		return slices.ContainsFunc(values, func(v any) bool { return have == fmt.Sprint(v) })
	case "startswith":
		return strings.HasPrefix(have, fmt.Sprint(want))
	case "contains":
		return strings.Contains(have, fmt.Sprint(want))
	}
	return false
}
