package model

import (
	"cmp"
	"slices"
)

// A FieldSet is a set of field paths, as Kubernetes keeps them in
// managedFields: a tree of steps. The zero FieldSet is empty.
type FieldSet struct {
	// Self tells that the node itself is in the set.
	Self  bool
	steps []fieldStep
}

type fieldStep struct {
	Step
	below FieldSet
}

// StepKind tells the kinds of a Step apart.
type StepKind uint8

// The kinds of a step: a map's field, an element of a keyed list, an item of a
// set, a position in an ordered list.
const (
	FieldStep StepKind = iota
	KeyStep
	ItemStep
	IndexStep
)

// A Step leads from a node to one of its children. Text is the field's name;
// for a KeyStep the key fields as a JSON object; for an ItemStep the item as
// JSON; for an IndexStep the position in decimal.
type Step struct {
	Kind StepKind
	Text string
}

func (s Step) compare(t Step) int {
	return cmp.Or(cmp.Compare(s.Kind, t.Kind), cmp.Compare(s.Text, t.Text))
}

// Put adds a child. A child that was put before is replaced.
func (f *FieldSet) Put(step Step, below FieldSet) {
	i, found := f.find(step)
	if found {
		f.steps[i].below = below
		return
	}
	f.steps = slices.Insert(f.steps, i, fieldStep{step, below})
}

func (f *FieldSet) find(step Step) (int, bool) {
	return slices.BinarySearchFunc(f.steps, step, func(e fieldStep, s Step) int { return e.Step.compare(s) })
}

// Empty tells whether the set holds no path.
func (f *FieldSet) Empty() bool { return !f.Self && len(f.steps) == 0 }

// Owns tells whether the node at path is in the set: named itself, or below a
// node that was set as one, or with something below it when below is true.
func (f *FieldSet) Owns(path []Step, below bool) bool {
	node := f
	for _, step := range path {
		i, ok := node.find(step)
		if !ok {
			// A leaf of the set stands for everything below it.
			return node != f && len(node.steps) == 0
		}
		node = &node.steps[i].below
	}
	return len(node.steps) == 0 || node.Self || below
}
