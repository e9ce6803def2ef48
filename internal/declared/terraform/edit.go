package terraform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/hcledit"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// maxSource bounds a configuration file that is edited, in bytes.
const maxSource = 8 << 20

// An Edit plans a root with modified content of some of its files, without writing them. A scan uses the
// plan to verify a proposed edit.
type Edit struct {
	plans   *plans
	edits   map[string][]byte
	sources Sources
	outcome Outcome
}

// Sources are the configuration files in the folder of a root.
type Sources struct {
	// Files maps the names of the files to their content.
	Files map[string][]byte
	// Dir is the folder, or "" for a commit of a repository. Revision is the commit, and Path is the path
	// of the root in the repository.
	Dir, Revision, Path string
	// received are the files and folders of the private copy, by absolute path without links, and
	// whether they are folders.
	received map[string]bool
}

// Reads reports whether the plan can read the file, whether or not the file exists. file is an absolute
// path without symbolic links. Reads returns false for state files, which are not part of the
// configuration.
func (s Sources) Reads(file string) bool {
	_, received := s.received[file]
	backup := strings.Contains(filepath.Base(file), ".tfstate.") && filepath.Ext(file) == ".backup"
	return !IsState(file) && !backup && (received || s.received[filepath.Dir(file)] && !workcopy.Skips(filepath.Base(file)))
}

// Outside returns the first file in lexical order that the plan can read and that is not in the folder dir,
// or "" if there is none. Both are absolute paths without symbolic links.
func (s Sources) Outside(dir string) string {
	for _, file := range slices.Sorted(maps.Keys(s.received)) {
		if name, err := filepath.Rel(dir, file); err != nil || !filepath.IsLocal(name) {
			return file
		}
	}
	return ""
}

// An Outcome describes the effect that an apply of a plan would have.
type Outcome struct {
	// Complete reports whether the plan covers the whole root. If it does not, Reason is the reason.
	Complete bool
	Reason   string
	// Import, Add, Change and Destroy are the numbers of instances, as the CLI counts them.
	Import, Add, Change, Destroy int
	// Actions maps addresses to descriptions of their actions other than no-op: "create", "delete",
	// "replace", "forget", "update", or "update of name, cores".
	Actions map[string]string
}

// NewEdit returns an Edit of the root that the loader of plans. The keys of edits are names of files in the
// folder of the root, and the values are their new content. ok is false if of is not a loader that makes
// plans.
func NewEdit(of declared.Loader, edits map[string][]byte) (e *Edit, ok bool) {
	p, ok := of.(*plans)
	if !ok {
		return nil, false
	}
	e = &Edit{edits: edits}
	e.plans = &plans{root: p.root, workTree: p.workTree, edit: e}
	return e, true
}

// Load implements declared.Loader.
func (e *Edit) Load(ctx context.Context) (model.Declaration, error) { return e.plans.Load(ctx) }

// History implements declared.Historian.
func (e *Edit) History(ctx context.Context, revision string, claims []*model.Claim) (model.History, error) {
	return e.plans.History(ctx, revision, claims)
}

// Sources returns the configuration files as the last Load read them, without the edits.
func (e *Edit) Sources() Sources { return e.sources }

// Outcome returns the effect that an apply of the plan of the last Load would have.
func (e *Edit) Outcome() Outcome { return e.outcome }

// Generate returns the configuration of a live resource, as the CLI generates it for an import block. The
// caller must verify it with a plan.
func (e *Edit) Generate(ctx context.Context, i mapping.Import) (text string, err error) {
	p := e.plans
	if p.repository == nil {
		return plan.Generate(ctx, p.options(p.config.Dir, gitrepo.TopOf(p.config.Dir)), i.Block())
	}
	err = p.checkedOut(ctx, func(c checkout) error {
		if c.commit != e.sources.Revision {
			return errors.New("the repository has a newer commit now: try again")
		}
		text, err = plan.Generate(ctx, c.Options, i.Block())
		return err
	})
	return text, err
}

// begin reads the sources in a folder, and adds the edits to the options.
func (e *Edit) begin(options plan.Options) (plan.Options, error) {
	e.outcome, e.sources = Outcome{}, Sources{Files: map[string][]byte{}, Dir: options.Dir, received: map[string]bool{}}
	if options.Shown != "" { // a commit that is checked out
		e.sources.Dir, e.sources.Path = "", options.Shown
	}
	entries, err := os.ReadDir(options.Dir)
	if err != nil {
		return options, fmt.Errorf("read the root: %w", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, "terragrunt.hcl") {
			return options, errors.New("the root is a Terragrunt root, whose files Terragrunt generates")
		}
		if !hcledit.IsSource(name) {
			continue
		}
		if e.sources.Files[name], err = folder.ReadBounded(filepath.Join(options.Dir, name), maxSource); err != nil {
			return options, fmt.Errorf("read %s: %w", name, err)
		}
	}
	options.Edits, options.Received = e.edits, e.receive
	return options, nil
}

// receive records a file or folder of the private copy.
func (e *Edit) receive(path string, isDir bool) { e.sources.received[path] = isDir }

// outcomeOf counts the actions of a plan.
func outcomeOf(result plan.Result) Outcome {
	o := Outcome{Complete: result.Complete, Reason: result.Reason, Actions: map[string]string{}}
	for i := range result.Instances {
		instance := &result.Instances[i]
		if instance.Type == plan.CheckType {
			continue
		}
		if instance.Unchecked != "" {
			o.Complete, o.Reason = false, cmp.Or(o.Reason, instance.Address+": "+instance.Unchecked)
		}
		if instance.Imports {
			o.Import++
		}
		switch instance.Action {
		case "update":
			o.Change++
		case "create":
			o.Add++
		case "delete":
			o.Destroy++
		case "replace":
			o.Add++
			o.Destroy++
		}
		if instance.Action != "no-op" && instance.Action != "" {
			o.Actions[instance.Address] = instance.Action + attributesOf(instance)
		}
	}
	return o
}

// attributesOf returns the names of the attributes that an update changes, as the end of its
// description; "" if they are not known.
func attributesOf(i *plan.Instance) string {
	if i.Action != "update" || i.Declared == nil || i.Live == nil {
		return ""
	}
	var names []string
	for _, field := range i.Declared.Fields() {
		if !field.Value.Equal(i.Live.At(field.Name)) {
			names = append(names, field.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " of " + strings.Join(names, ", ")
}

// String returns the counts in the format of the CLI, and up to three of the actions.
func (o Outcome) String() string {
	text := fmt.Sprintf("%d to import, %d to add, %d to change, %d to destroy", o.Import, o.Add, o.Change, o.Destroy)
	var list []string
	for address, action := range o.Actions {
		list = append(list, address+": "+action)
	}
	slices.Sort(list)
	if more := len(list) - 3; more > 0 {
		list = append(list[:3], fmt.Sprintf("and %d more", more))
	}
	if len(list) > 0 {
		text += " (" + strings.Join(list, "; ") + ")"
	}
	return text
}
