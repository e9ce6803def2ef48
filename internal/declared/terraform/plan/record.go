package plan

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/driftd/driftd/internal/declared/folder"
	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
	"github.com/driftd/driftd/internal/declared/terraform/state"
	"github.com/driftd/driftd/internal/model"
)

// maxDirectory bounds the parts of a plan file that are read for the metadata of its state, in bytes.
const maxDirectory = 1 << 20

// record returns the metadata of the state that a plan was made from, or that there is none. ok is false if the plan file does
// not show it, as one that is encrypted or that was made elsewhere.
func (r *runner) record(planFile string) (record model.StateRead, ok bool) {
	head, err := planned(planFile)
	if err != nil {
		return record, false
	}
	workspace, err := r.workspace()
	if err != nil {
		return record, false
	}
	address := StateAddress(&r.Options, workspace)
	if head.Serial == 0 {
		return model.StateRead{Address: address, PlannedBy: r.cli.version}, true
	}
	if stored, err := headOf(r.stateFile(workspace)); err == nil && stored.Serial == head.Serial && stored.Lineage == head.Lineage {
		record = stored.Record(address)
	} else {
		record = head.Record(address)
		record.Version = "" // The program writes its own to the plan.
	}
	record.PlannedBy = r.cli.version
	return record, true
}

// StateAddress returns the address of the state of a root in a workspace.
func StateAddress(o *Options, workspace string) string {
	return fmt.Sprintf("%s (workspace %s)", cmp.Or(o.Shown, o.Dir), workspace)
}

// stateFile returns the path of the state of a root with a local backend; "" for another backend.
func (r *runner) stateFile(workspace string) string {
	switch m := workcopy.Scan(r.root); {
	case m.Backend != "" && m.Backend != "local":
		return ""
	case workspace == DefaultWorkspace:
		return r.localPath("path", "terraform.tfstate")
	}
	return filepath.Join(r.localPath("workspace_dir", "terraform.tfstate.d"), workspace, "terraform.tfstate")
}

// localPath returns a path in the settings of a local backend.
func (r *runner) localPath(name, otherwise string) string {
	set, _ := r.backend[name].(string)
	return r.inCopy(cmp.Or(set, r.block[name], otherwise))
}

// headOf returns the metadata of a state in a file.
func headOf(path string) (_ *state.State, err error) {
	f, err := folder.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return state.ReadHead(f)
}

// planned returns the metadata of the state in a plan file.
func planned(path string) (head *state.State, err error) {
	err = inPlanFile(path, "tfstate", 0, func(content io.Reader) (err error) {
		head, err = state.ReadHead(content)
		return err
	})
	return head, err
}

// inPlanFile calls f with an entry of a plan file, of which it reads up to maxDirectory bytes and some more.
func inPlanFile(path, name string, more int64, f func(io.Reader) error) (err error) {
	file, err := folder.OpenFile(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	// A provider may have replaced the file with one that has any number of entries.
	bounded := &boundedReaderAt{file, maxDirectory}
	archive, err := zip.NewReader(bounded, info.Size())
	if err != nil {
		return err
	}
	bounded.left += more
	content, err := archive.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	return f(content)
}

// A boundedReaderAt reads a limited number of bytes.
type boundedReaderAt struct {
	io.ReaderAt

	left int64
}

var errPlanFile = errors.New("the plan file has too many entries")

// ReadAt implements io.ReaderAt.
func (b *boundedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errPlanFile
	}
	return b.ReaderAt.ReadAt(p, off)
}
