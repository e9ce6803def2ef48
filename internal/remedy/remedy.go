// Package remedy suggests next steps for a finding: how to put the live system back, how to adopt the live
// state in the declaration, how to accept it, and whom to ask. It is pure. A suggestion never contains the
// value of a secret.
package remedy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// A Suggestion lists the possible next steps for a finding.
type Suggestion struct {
	// Finding is the ID of the finding.
	Finding string `json:"finding"`
	// Next is a summary in one line.
	Next string `json:"next"`
	// PutBack changes the live system, Adopt changes the declaration, and Accept changes neither.
	PutBack Step `json:"put_back"`
	Adopt   Step `json:"adopt"`
	Accept  Step `json:"accept"`
	Ask     Step `json:"ask"`
}

// A Step is one possible next step for a finding. If it has no blocks, it is described in words only.
type Step struct {
	Title  string   `json:"title"`
	Blocks []Block  `json:"blocks"`
	Notes  []string `json:"notes"`
}

// A Block is text to copy: commands or a part of a declaration.
type Block struct {
	// Language is sh, yaml or hcl.
	Language string `json:"language"`
	Text     string `json:"text"`
}

// Facts are the data that a suggestion requires in addition to the finding.
type Facts struct {
	// Live is the last stored value of the live resource, or nil if there is none.
	Live *model.Value
	// Declared is the type of the declaration ("manifests", "helm", "terraform", "netbox"), or "" if it is
	// unknown.
	Declared string
	// Planned reports whether driftd plans the Terraform root that declares the resource, or that may
	// declare an unmanaged one.
	Planned bool
	// Import is the Terraform import block of an unmanaged resource, or "" if no mapping table has one.
	Import string
	// Provider is the provider of the import block.
	Provider string
}

// The types of declarations.
const (
	manifests = "manifests"
	helm      = "helm"
	terraform = "terraform"
	netbox    = "netbox"
)

// For returns the suggestion for a finding.
func For(f *model.Finding, facts Facts) Suggestion {
	shown := f.Public()
	if !shown.Resolved.IsZero() {
		return resolved(shown.ID)
	}
	facts.Declared = cmp.Or(facts.Declared, declaredAs(shown.Address))
	applied(&shown)
	c := &issue{Finding: &shown, Facts: facts}
	s := Suggestion{Finding: shown.ID, Next: phrase.NextStep(&shown), PutBack: c.putBack(), Adopt: c.adopt(), Accept: c.accept(), Ask: c.ask()}
	for _, ignored := range phrase.Ignored(&shown) {
		s.PutBack.note("Not shown here: %s.", ignored)
	}
	for _, step := range []*Step{&s.PutBack, &s.Adopt, &s.Accept, &s.Ask} {
		step.clean()
	}
	return s
}

// applied gives each change of a finding without a declared side, as those against a Terraform
// state, its recorded value as the declared one. A field of a changed resource has the value that
// was last applied, or the declaration moved and the verdict is another one.
func applied(f *model.Finding) {
	if f.Verdict != model.Changed {
		return
	}
	changes := slices.Clone(f.Changes)
	for i := range changes {
		if c := &changes[i]; c.Declared == nil {
			c.Declared = c.Recorded
		}
	}
	f.Changes = changes
}

// resolved returns the suggestion for a finding that is over.
func resolved(id string) Suggestion {
	nothing := Step{Title: "Nothing to do", Blocks: []Block{}, Notes: []string{}}
	return Suggestion{Finding: id, Next: "The finding is resolved", PutBack: nothing, Adopt: nothing, Accept: nothing, Ask: nothing}
}

// A Section is a step of a suggestion, and its name.
type Section struct {
	Name string
	Step
}

// Sections returns the steps of the suggestion in display order.
func (s *Suggestion) Sections() []Section {
	return []Section{{"Put back", s.PutBack}, {"Adopt", s.Adopt}, {"Accept", s.Accept}, {"Ask", s.Ask}}
}

// An issue is a finding, as Finding.Public returns it, with what else is known.
type issue struct {
	*model.Finding
	Facts
}

// declaredAs returns the type of a declaration whose claims have such addresses; "" if it does
// not follow.
func declaredAs(address string) string {
	file, _ := splitAddress(address)
	switch {
	case strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".yml") || strings.HasSuffix(file, ".json"):
		return manifests
	case strings.HasPrefix(address, "virtual-machines/") || strings.HasPrefix(address, "devices/"):
		return netbox
	case strings.Contains(address, ".") && !strings.ContainsAny(address[:strings.IndexByte(address, '.')], "/: "):
		return terraform
	}
	return ""
}

// splitAddress splits "deploy/web.yaml:12" into the file and the line; the line is "" if the
// address has none.
func splitAddress(address string) (file, line string) {
	i := strings.LastIndexByte(address, ':')
	if i < 0 || !isNumber(address[i+1:]) {
		return address, ""
	}
	return address[:i], address[i+1:]
}

// isNumber reports whether a text is digits only.
func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func words(title string, notes ...string) Step { return Step{Title: title, Notes: notes} }

func (s *Step) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// add appends a block, unless it is empty.
func (s *Step) add(language, text string) {
	if text != "" {
		s.Blocks = append(s.Blocks, Block{Language: language, Text: text})
	}
}

// commands appends a block of shell commands. A command with an argument that cannot be quoted
// removes the whole block, and a note explains it.
func (s *Step) commands(lines ...command) {
	texts := make([]string, len(lines))
	for i, line := range lines {
		text, ok := line.text()
		if !ok {
			s.note("No command is suggested, because a name or a value has characters that a terminal does not show.")
			return
		}
		texts[i] = text
	}
	s.add("sh", strings.Join(texts, "\n"))
}

// clean makes notes visible, and removes blocks with characters that a terminal does not show.
func (s *Step) clean() {
	hidden := func(b Block) bool {
		return strings.ContainsFunc(b.Text, func(r rune) bool { return r != '\n' && !phrase.Prints(r) }) || strings.ToValidUTF8(b.Text, "") != b.Text
	}
	if slices.ContainsFunc(s.Blocks, hidden) {
		s.Blocks = slices.DeleteFunc(s.Blocks, hidden)
		s.note("A part is left out, because it has characters that a terminal does not show.")
	}
	if s.Blocks == nil {
		s.Blocks = []Block{}
	}
	notes := make([]string, len(s.Notes))
	for i, n := range s.Notes {
		notes[i] = phrase.Clip(phrase.Visible(n), maxNote)
	}
	s.Title, s.Notes = phrase.Line(s.Title, maxNote), notes
}

// maxNote bounds the length of a note in characters.
const maxNote = 600

// path returns the path of a change in the live resource.
func path(c *model.Change) string { return cmp.Or(c.LivePath, c.Path) }

// place names the declaration: its address, or its name.
func (c *issue) place() string { return cmp.Or(c.Address, c.Declaration, "the declaration") }
