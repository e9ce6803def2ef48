package secret

import (
	"path"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A Room seals secrets. It is safe for concurrent use. A nil Room seals nothing.
type Room struct {
	sealer model.Sealer
	rules  *rules
}

// New returns a Room. The patterns in the options must be valid; see Check.
func New(sealer model.Sealer, o Options) *Room { return &Room{sealer: sealer, rules: newRules(o)} }

// Sealer returns the sealer for values that a schema marks as sensitive. Every collector
// and loader of this room must use it.
func (r *Room) Sealer() model.Sealer { return r.sealer.WithParts(r.Text, marks) }

// marks reports whether a text is the mark of the secret with the given digest.
func marks(text, digest string) bool {
	return isMark(text) && strings.HasPrefix(digest, text[len(markBegin):markSize-1])
}

// Value seals a value of a resource of a kind.
func (r *Room) Value(kind string, v model.Value) model.Value { return r.value(kind, v, false) }

// Again seals a value that was already sealed according to earlier rules. Its marks remain unchanged.
func (r *Room) Again(kind string, v model.Value) model.Value { return r.value(kind, v, true) }

func (r *Room) value(kind string, v model.Value, again bool) model.Value {
	if r == nil {
		return v
	}
	w := r.walker(kind, again)
	sealed, _ := w.tree(v, frame{})
	return sealed
}

func (r *Room) walker(kind string, again bool) walker {
	return walker{room: r, kind: kind, again: again, inSecret: path.Base(kind) == "Secret"}
}

// Text returns a text with each secret part replaced by a mark. Existing marks remain, because reasons
// quote sealed values.
func (r *Room) Text(text string) string {
	if r == nil {
		return text
	}
	w := walker{room: r, again: true}
	return w.inText(text)
}

// pointer seals the value behind a pointer.
func (r *Room) pointer(kind string, v *model.Value, again bool) *model.Value {
	if v == nil {
		return nil
	}
	sealed := r.value(kind, *v, again)
	return &sealed
}

// A walker seals one tree.
type walker struct {
	room  *Room
	kind  string
	again bool
	// inSecret reports whether the tree is a Secret of Kubernetes, or a text inside of one.
	inSecret bool
	// path is the current position. It is maintained only if traced returns true.
	path []model.Step
	// found, if not nil, is called for each value that is sealed.
	found func(path, why, content string)
}

func (w *walker) traced() bool {
	return w.found != nil || len(w.room.rules.paths)+len(w.room.rules.bare) > 0
}

// at returns the current path, with and without keys.
func (w *walker) at() (full, bare string) {
	var b, c strings.Builder
	for _, s := range w.path {
		if s.Kind == model.FieldStep {
			model.WriteField(&b, s.Text)
			model.WriteField(&c, s.Text)
		} else {
			b.WriteString("[" + s.Text + "]")
		}
	}
	return b.String(), c.String()
}
