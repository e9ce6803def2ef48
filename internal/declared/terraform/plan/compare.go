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
	"github.com/driftd/driftd/internal/model"
)

// byPlans is the cause of a value that differs between two plans.
const byPlans = "a data source, the time of the plan, or a provider"

// compare adds the values that differ between two plans without a refresh to a result. Plans that fail are no result, but a note.
func (r *runner) compare(ctx context.Context, res *Result) []policy.Note {
	if r.plansAtService() {
		res.Undetermined = true
		return nil
	}
	found, err := r.compared(ctx)
	if err != nil {
		res.Undetermined = true
		return []policy.Note{{Place: cmp.Or(r.Shown, r.Dir), Text: fmt.Sprintf("not checked whether two plans of it are equal, next try with the next plan: %v", err)}}
	}
	res.Varying = append(res.Varying, found.Varying...)
	res.markChance(found)
	slices.SortFunc(res.Varying, func(a, b Varying) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Path, b.Path), cmp.Compare(a.By, b.By))
	})
	return nil
}

// plansAtService reports whether plans run at a service that counts and lists them.
func (r *runner) plansAtService() bool {
	backend := workcopy.Scan(r.root).Backend
	return backend == "cloud" || backend == "remote"
}

// A comparison is the result of comparing two plans of the same files.
type comparison struct {
	Varying []Varying `json:"varying"`
	// Stable are the instances that both plans declare, or that both remove, of the resources of which the plans have other instances.
	Stable []string `json:"stable"`
	// Times is the number of comparisons one after the other, with this one, that found a value.
	Times int `json:"times"`
}

// A comparison that finds a value is repeated by the next plan, and kept for maxCompared after enoughTimes in sequence. Otherwise a
// data source that changes its answer once would hide a value as long as the files are the same.
const (
	enoughTimes = 2
	maxCompared = 24 * time.Hour
)

// markChance marks the instances as unchecked that are planned by chance: those that the plan creates or removes, but that not both
// compared plans have, of a resource of which these plans have other instances.
func (res *Result) markChance(found comparison) {
	differs := map[string]bool{}
	for _, v := range found.Varying {
		if v.Path == "" {
			differs[v.Address] = true
		}
	}
	for k := range res.Instances {
		i := &res.Instances[k]
		if (i.Action == "create" || removes(i)) && i.Deposed == "" && i.Unchecked == "" && differs[withoutKeys(i.Address)] && !slices.Contains(found.Stable, i.Address) {
			i.Unchecked = "plans of the same files have other instances of this resource, and not each has this one: use keys that the files or the state have"
		}
	}
}

func removes(i *Instance) bool { return i.Action == "delete" || i.Action == "forget" }

// compared returns the kept comparison for the files of the root, or makes it.
func (r *runner) compared(ctx context.Context) (comparison, error) {
	sum := sha256.Sum256([]byte(r.content + "\x00" + r.cli.path + "\x00" + r.cli.version + "\x00" + string(r.lock)))
	name := filepath.Join(r.CacheDir, "compared", hex.EncodeToString(sum[:16])+".json")
	kept, holds := keptComparison(name)
	if holds {
		return kept, nil
	}
	first, err := r.unrefreshed(ctx, "first plan without refresh")
	if err != nil {
		return comparison{}, err
	}
	// The time of a plan has no fraction of a second.
	select {
	case <-ctx.Done():
		return comparison{}, context.Cause(ctx)
	case <-time.After(time.Second):
	}
	second, err := r.unrefreshed(ctx, "second plan without refresh")
	if err != nil {
		return comparison{}, err
	}
	found := between(first, second)
	found.Times = kept.Times + 1
	text, err := json.Marshal(found)
	if err != nil {
		return comparison{}, err
	}
	return found, keep(name, text)
}

// keptComparison returns a comparison of the cache, and whether it holds. After maxCompared it is none.
func keptComparison(name string) (kept comparison, holds bool) {
	info, err := os.Stat(name)
	if err != nil {
		return comparison{}, false
	}
	text, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(text, &kept) != nil {
		return comparison{}, false
	}
	if len(kept.Varying) == 0 {
		return kept, true
	}
	if time.Since(info.ModTime()).Abs() >= maxCompared {
		return comparison{}, false
	}
	return kept, kept.Times >= enoughTimes
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

// between compares two plans.
func between(first, second map[string]*Instance) comparison {
	found, stable := map[Varying]bool{}, []string{}
	for address, a := range first {
		b := second[address]
		switch {
		case b == nil || removes(a) != removes(b):
			found[Varying{Address: withoutKeys(address), By: byPlans}] = true
			continue
		case a.Declared != nil && b.Declared != nil:
			for _, c := range diff.Fields(a.Schema, *a.Declared, *b.Declared) {
				found[varyingAt(address, c, byPlans)] = true
			}
		}
		stable = append(stable, address)
	}
	for address := range second {
		if first[address] == nil {
			found[Varying{Address: withoutKeys(address), By: byPlans}] = true
		}
	}
	stable = slices.DeleteFunc(stable, func(address string) bool {
		return !found[Varying{Address: withoutKeys(address), By: byPlans}]
	})
	slices.Sort(stable)
	return comparison{Varying: slices.Collect(maps.Keys(found)), Stable: stable}
}

// varyingAt returns the value that a change between two plans is about.
func varyingAt(address string, c model.Change, by string) Varying {
	isList := func(v *model.Value) bool { return v != nil && v.Kind() == model.List }
	return Varying{Address: address, Path: c.Path, By: by, List: isList(c.Recorded) || isList(c.Live)}
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
