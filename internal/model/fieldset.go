package model

import (
	"cmp"
	"slices"
)

// A FieldSet is a set of field paths, as a tree of steps. The zero FieldSet is empty.
type FieldSet struct {
	// Self reports whether the node itself is in the set.
	Self  bool
	steps []fieldStep
}

type fieldStep struct {
	Step
	below FieldSet
}

// A StepKind is the kind of a Step.
type StepKind uint8

// The kinds of steps: the field of a map, an element of a keyed list, an item of a set, and a
// position in an ordered list.
const (
	FieldStep StepKind = iota
	KeyStep
	ItemStep
	IndexStep
)

// A Step identifies a child of a node. Text is the name of the field for a FieldStep, the key
// fields as a JSON object for a KeyStep, the item as JSON for an ItemStep, and the decimal position
// for an IndexStep.
type Step struct {
	Kind StepKind
	Text string
}

func (s Step) compare(t Step) int {
	return cmp.Or(cmp.Compare(s.Kind, t.Kind), cmp.Compare(s.Text, t.Text))
}

// Put adds the child below at step, replacing an existing one.
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

// Empty reports whether the set contains no path.
func (f *FieldSet) Empty() bool { return !f.Self && len(f.steps) == 0 }

// Depth returns how closely the set matches the node at path. It returns the number of steps if the
// set contains the node or something below it, a lower number if it contains only a node above, and
// -1 if it contains none of these. Of two writers, the one with the greater depth wrote the node
// last.
func (f *FieldSet) Depth(path []Step) int {
	node := f
	for depth, step := range path {
		i, ok := node.find(step)
		if !ok {
			if depth > 0 && len(node.steps) == 0 {
				return depth
			}
			return -1
		}
		node = &node.steps[i].below
	}
	return len(path)
}

// Child returns the set below the step, or nil if the set does not contain the step.
func (f *FieldSet) Child(step Step) *FieldSet {
	if i, ok := f.find(step); ok {
		return &f.steps[i].below
	}
	return nil
}

// Leaf reports whether the node has no children.
func (f *FieldSet) Leaf() bool { return len(f.steps) == 0 }

// Len returns the number of children.
func (f *FieldSet) Len() int { return len(f.steps) }

// Steps returns the steps to the children, sorted.
func (f *FieldSet) Steps() []Step {
	steps := make([]Step, len(f.steps))
	for i, s := range f.steps {
		steps[i] = s.Step
	}
	return steps
}
