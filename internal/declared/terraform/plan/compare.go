package plan

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/driftd/driftd/internal/declared/terraform/plan/policy"
	"github.com/driftd/driftd/internal/declared/terraform/plan/workcopy"
	"github.com/driftd/driftd/internal/diff"
)

// byPlans is the cause of a value that differs between two plans.
const byPlans = "a data source, the time of the plan, or a provider"

// compare adds the values that differ between two plans without a refresh to a result. The plans are made once for each content of the
// files: the result is kept in CacheDir. Plans that fail are no result, but a note.
func (r *runner) compare(ctx context.Context, res *Result) []policy.Note {
	if backend := workcopy.Scan(r.root).Backend; backend == "cloud" || backend == "remote" {
		return nil // The plans run at a service that counts and lists them.
	}
	found, err := r.compared(ctx)
	if err != nil {
		return []policy.Note{{Place: cmp.Or(r.Shown, r.Dir), Text: fmt.Sprintf("not checked whether two plans of it are equal, next try with the next plan: %v", err)}}
	}
	res.Undetermined, res.Varying = false, append(res.Varying, found...)
	res.withoutChance(found)
	slices.SortFunc(res.Varying, func(a, b Varying) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Path, b.Path), cmp.Compare(a.By, b.By))
	})
	return nil
}

// withoutChance leaves out the instances whose addresses differ between plans. Those that are live are not checked.
func (res *Result) withoutChance(found []Varying) {
	others := map[string]bool{}
	for _, v := range found {
		if v.Path == "" {
			others[v.Address] = true
		}
	}
	res.Instances = slices.DeleteFunc(res.Instances, func(i Instance) bool { return i.Action == "create" && others[withoutKeys(i.Address)] })
	for k := range res.Instances {
		if i := &res.Instances[k]; i.Action == "delete" && others[withoutKeys(i.Address)] {
			i.Unchecked = "each plan of the same files has other instances of this resource"
		}
	}
}

// compared returns the kept result for the files of the root, or makes it.
func (r *runner) compared(ctx context.Context) ([]Varying, error) {
	sum := sha256.Sum256([]byte(r.content + "\x00" + r.cli.path + "\x00" + r.cli.version + "\x00" + string(r.lock)))
	name := filepath.Join(r.CacheDir, "compared", hex.EncodeToString(sum[:16])+".json")
	if text, err := os.ReadFile(name); err == nil {
		var found []Varying
		if json.Unmarshal(text, &found) == nil {
			return found, nil
		}
	}
	first, err := r.unrefreshed(ctx, "first plan without refresh")
	if err != nil {
		return nil, err
	}
	// The time of a plan has no fraction of a second.
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(time.Second):
	}
	second, err := r.unrefreshed(ctx, "second plan without refresh")
	if err != nil {
		return nil, err
	}
	found := between(first, second)
	text, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	return found, keep(name, text)
}

// unrefreshed makes a plan without a refresh, and returns its instances by address.
func (r *runner) unrefreshed(ctx context.Context, name string) (map[string]*Instance, error) {
	p, _, err := r.plan(ctx, name, tfexec.Refresh(false))
	if err != nil {
		return nil, err
	}
	if p.Errored {
		return nil, &failure{name, "it has errors"}
	}
	in := Input{Plan: p, AsPlanned: true}
	if in.Schemas, err = r.schemas(ctx, p); err != nil {
		return nil, err
	}
	instances := map[string]*Instance{}
	result := Read(in, r.Sealer)
	for i := range result.Instances {
		if found := &result.Instances[i]; found.Deposed == "" && found.Type != CheckType {
			instances[found.Address] = found
		}
	}
	return instances, nil
}

// between returns the values that differ between two plans.
func between(first, second map[string]*Instance) []Varying {
	found := map[Varying]bool{}
	for address, a := range first {
		b := second[address]
		switch {
		case b == nil:
			found[Varying{Address: withoutKeys(address), By: byPlans}] = true
		case a.Declared != nil && b.Declared != nil:
			for _, c := range diff.Fields(a.Schema, *a.Declared, *b.Declared) {
				found[Varying{address, c.Path, byPlans}] = true
			}
		}
	}
	for address := range second {
		if first[address] == nil {
			found[Varying{Address: withoutKeys(address), By: byPlans}] = true
		}
	}
	return slices.Collect(maps.Keys(found))
}

// digest returns a digest of the files in the private copy, and of the variables of the options.
func (w *work) digest() (string, error) {
	sum := sha256.New()
	vars, err := json.Marshal(w.Vars)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(sum, "%q %q %s\n", w.Workspace, w.VarFiles, vars)
	top := filepath.Join(w.dir, copied)
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.Open(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q ", strings.TrimPrefix(path, top))
		n, err := io.Copy(sum, content)
		fmt.Fprintf(sum, " %d\n", n)
		return cmp.Or(err, content.Close())
	})
	if err != nil {
		return "", fmt.Errorf("read private copy: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
