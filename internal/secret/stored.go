package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// rulesVersion must be incremented when the tables or forms of this package change. A store
// that was sealed with another version is sealed again.
const rulesVersion = 2

// Rules returns an identifier of the rules of the room: those of this package and those of the operator.
func (r *Room) Rules() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %q", rulesVersion, r.rules.all))
	return hex.EncodeToString(h[:16])
}

// Finding seals the values and texts of a stored finding.
func (r *Room) Finding(f *model.Finding) {
	changes := make([]model.Change, len(f.Changes))
	for i := range f.Changes {
		changes[i] = r.change(f.Kind, f.Changes[i])
	}
	ignored := make([]model.IgnoredChange, len(f.Ignored))
	for i := range f.Ignored {
		ignored[i] = f.Ignored[i]
		ignored[i].Change = r.change(f.Kind, ignored[i].Change)
	}
	if len(changes) > 0 {
		f.Changes = changes
	}
	if len(ignored) > 0 {
		f.Ignored = ignored
	}
	f.Reason, f.Actor = r.Text(f.Reason), r.storedActor(f.Actor)
}

// storedActor seals an actor of a stored finding. The fields of the values in its evidence are not stored, so that all values
// are hidden.
func (r *Room) storedActor(a model.Actor) model.Actor {
	a = r.actor(a)
	head, rest, ok := strings.Cut(a.Evidence, ": ")
	if !ok || a.Via != model.ViaClusterLog || strings.HasPrefix(rest, hidden) {
		return a
	}
	a.Evidence = head + ": " + hidden
	if source := strings.LastIndex(rest, " ("); source >= 0 {
		a.Evidence += rest[source:]
	}
	return a
}

func (r *Room) storedPointer(a *model.Actor) *model.Actor {
	if a == nil {
		return nil
	}
	sealed := r.storedActor(*a)
	return &sealed
}

func (r *Room) change(kind string, c model.Change) model.Change {
	for _, v := range []**model.Value{&c.Declared, &c.Recorded, &c.Live, &c.Running} {
		if *v != nil {
			sealed := r.at(kind, c.Path, **v)
			if c.LivePath != "" {
				sealed = r.at(kind, c.LivePath, sealed)
			}
			*v = &sealed
		}
	}
	claims := make([]model.ClaimedValue, len(c.Claims))
	for i := range c.Claims {
		claims[i] = c.Claims[i]
		claims[i].Value, claims[i].Actor = r.at(kind, c.Path, claims[i].Value), r.storedPointer(claims[i].Actor)
	}
	c.Actor, c.LiveActor = r.storedPointer(c.Actor), r.storedPointer(c.LiveActor)
	if len(claims) > 0 {
		c.Claims = claims
	}
	if c.Secret = c.Secret || hasDigest(c); c.Secret {
		c.Names = nil
	}
	return c
}

func hasDigest(c model.Change) bool {
	for _, v := range []*model.Value{c.Declared, c.Recorded, c.Live, c.Running} {
		if v != nil && v.HasSecret() {
			return true
		}
	}
	return false
}

// at seals the value at a path, by the names in the path.
func (r *Room) at(kind, path string, v model.Value) model.Value {
	for end := range len(path) + 1 {
		if end < len(path) && path[end] != '.' && path[end] != '[' {
			continue
		}
		at := path[:end]
		fits := func(list []pathRule) bool {
			for i := range list {
				if list[i].fits(kind, at, model.WithoutKeys(at)) {
					return true
				}
			}
			return false
		}
		switch {
		case fits(r.rules.bare):
			return v
		case fits(r.rules.paths):
			return r.Sealer().SealTree(v)
		}
	}
	last, key := lastName(path)
	if isValueKey(last) && key != "" {
		pair := model.MapOf(model.Field{Name: "name", Value: model.StringOf(key)}, model.Field{Name: last, Value: v})
		return r.Again(kind, pair).At(last)
	}
	if strings.HasSuffix(path, "]") && !strings.HasSuffix(path, `"]`) {
		list := model.MapOf(model.Field{Name: last, Value: model.ListOf(v)})
		return r.Again(kind, list).At(last).Items()[0]
	}
	holder := model.MapOf(model.Field{Name: last, Value: v})
	if isQuota(kind) && isLimit(path, last) {
		return r.Again(kind, model.MapOf(model.Field{Name: quotaLimits, Value: holder})).At(quotaLimits, last)
	}
	return r.Again(kind, holder).At(last)
}

// isLimit reports whether the last field of a path is a limit of a quota: spec.hard.pods, spec.hard["count/secrets"].
func isLimit(path, last string) bool {
	return strings.HasSuffix(path, "."+quotaLimits+"."+last) || strings.HasSuffix(path, "."+quotaLimits+`["`+last+`"]`)
}

// lastName returns the last field of a path, and the name of the enclosing list element:
// value and DB_PASSWORD for env[name=DB_PASSWORD].value.
func lastName(path string) (name, key string) {
	if inner, ok := strings.CutSuffix(path, `"]`); ok {
		return inner[strings.LastIndex(inner, `["`)+2:], ""
	}
	for strings.HasSuffix(path, "]") {
		path = path[:max(0, strings.LastIndexByte(path, '['))]
	}
	dot := strings.LastIndexByte(path, '.')
	name, before := path[dot+1:], path[:max(0, dot)]
	if inner, ok := strings.CutSuffix(before, "]"); ok {
		_, key, _ = strings.Cut(inner[strings.LastIndexByte(inner, '[')+1:], "=")
	}
	return name, key
}
