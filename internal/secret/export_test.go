package secret

import "github.com/driftd/driftd/internal/model"

// Found calls found for each sealed part of a value, with its path and the reason.
func (r *Room) Found(kind string, v model.Value, found func(path, why, content string)) model.Value {
	w := r.walker(kind, false)
	w.found = found
	sealed, _ := w.tree(v, frame{})
	return sealed
}
