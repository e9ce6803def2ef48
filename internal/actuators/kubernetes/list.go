package kubernetes

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// cutIndex cuts a path at its first element of a list without keys; ok is false if it has none.
func cutIndex(path string) (list, rest string, ok bool) {
	for at := strings.IndexByte(path, '['); at >= 0; {
		bracket, after := model.CutBracket(path[at:])
		if inside := strings.Trim(bracket, "[]"); inside != "" && strings.Trim(inside, "0123456789") == "" {
			return path[:at], path[at:], true
		}
		next := strings.IndexByte(after, '[')
		if next < 0 {
			break
		}
		at = len(path) - len(after) + next
	}
	return path, "", false
}

// setList adds the changes of the finding in one list without keys to the patch, and to the plan. The positions
// in their paths are those in the declaration, and may be others in the live list. So the list is replaced as a whole: it must be the
// declared one but for these changes, and the patch tests that it still is what it was.
func (b *base) setList(p *jsonpatch.Patch, o *object, list string) error {
	held, why := jsonpatch.Find(o.sealed.Value, list)
	raw, _ := jsonpatch.Find(o.raw, list)
	declared, _ := jsonpatch.FindDeclared(b.source.Declared, list)
	switch {
	case why != "":
		return refuse(guardStillSo, "%s: %s", list, why)
	case held == nil || raw == nil:
		return refuse(guardStillSo, "%s changed since the scan: look again", list)
	case declared == nil || declared.Kind() != model.List:
		return refuse(guardStillSo, "%s is not declared any more as the finding says: look again", list)
	case isSealed(held) || isSealed(declared):
		return refuse(guardKind, "%s is a list without keys that has a secret: apply the declaration", list)
	case !raw.Equal(*held):
		return refuse(guardStillSo, "%s: the API server has the value in another form", list)
	}
	drifted, r := b.drifted(list, declared)
	if r != nil {
		return r
	}
	if !isAsWanted(b.actuator.schema(b.finding.Kind), list, drifted, held) {
		return refuse(guardStillSo, "%s changed since the scan, or differs in more than this finding, and is only replaced as a whole: look again, or apply the declaration", list)
	}
	if why := p.Set(list, raw, declared); why != "" {
		return refuse(guardStillSo, "%s: %s", list, why)
	}
	b.plan.Changes = append(b.plan.Changes, reconcile.FieldChange{Path: list, Old: held, New: declared})
	return nil
}

// drifted returns a declared list with the live values of the finding. Elements that only the live list has are
// its last ones.
func (b *base) drifted(list string, declared *model.Value) (*model.Value, *reconcile.Refusal) {
	changes := jsonpatch.Patch{Live: declared}
	added := map[string][]model.Value{}
	var to []string
	for i := range b.finding.Changes {
		c := &b.finding.Changes[i]
		in, rest, ok := cutIndex(c.Path)
		if !ok || in != list {
			continue
		}
		if parent, isElement := cutElement(rest); isElement && c.Declared == nil {
			if c.Live != nil {
				added[parent], to = append(added[parent], *c.Live), append(to, parent)
			}
			continue
		}
		if why := changes.Set(rest, c.Declared, c.Live); why != "" {
			return nil, refuse(guardStillSo, "%s is not declared any more as the finding says: look again", c.Path)
		}
	}
	result := changes.Result()
	for _, parent := range to {
		if parent == "" {
			result = model.ListOf(slices.Concat(result.Items(), added[parent])...)
		} else if below, _ := jsonpatch.Find(result, parent); below != nil {
			longer := model.ListOf(slices.Concat(below.Items(), added[parent])...)
			result = jsonpatch.With(result, parent, &longer)
		}
		delete(added, parent)
	}
	return &result, nil
}

// cutElement cuts the last step off a path that leads to an element of a list without keys.
func cutElement(path string) (parent string, ok bool) {
	steps, ok := fieldpath.Parse(path)
	if !ok || steps[len(steps)-1].Kind != fieldpath.Index {
		return "", false
	}
	return path[:strings.LastIndexByte(path, '[')], true
}
