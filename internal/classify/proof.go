package classify

import (
	"cmp"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A proof determines which earlier findings a scan proved to be over.
type proof struct {
	now     time.Time
	whole   bool
	sources []string
	// judged is sorted by the keys of the subjects.
	judged []*model.Judged
	// doubted are the resources that a claim that could not be compared may be on.
	doubted      map[model.Key]bool
	snapshots    map[string]*model.Snapshot
	declarations map[string]*model.Declaration
}

func newProof(in *Input) *proof {
	p := &proof{now: in.Now, whole: in.Whole, sources: in.Sources, snapshots: map[string]*model.Snapshot{}, declarations: map[string]*model.Declaration{},
		judged: make([]*model.Judged, len(in.Judged)), doubted: map[model.Key]bool{}}
	for i := range in.Judged {
		p.judged[i] = &in.Judged[i]
		p.addDoubted(&in.Judged[i])
	}
	slices.SortStableFunc(p.judged, func(a, b *model.Judged) int { return a.Subject.Key.Compare(b.Subject.Key) })
	for i := range in.Snapshots {
		p.snapshots[in.Snapshots[i].Source] = &in.Snapshots[i]
	}
	for i := range in.Declarations {
		p.declarations[in.Declarations[i].Name] = &in.Declarations[i]
	}
	return p
}

// judgedOn returns the last result of comparing a resource; nil if there is none.
func (p *proof) judgedOn(key model.Key) *model.Judged {
	end, _ := slices.BinarySearchFunc(p.judged, key, func(j *model.Judged, key model.Key) int {
		return cmp.Or(j.Subject.Key.Compare(key), -1)
	})
	if end == 0 || p.judged[end-1].Subject.Key != key {
		return nil
	}
	return p.judged[end-1]
}

// addDoubted adds the resources that unchecked claims on the subject cover: several
// candidates, or the possible replacement of a resource that could not be read.
func (p *proof) addDoubted(j *model.Judged) {
	for i := range j.Outcomes {
		o := &j.Outcomes[i]
		if o.Verdict != model.Unchecked || o.Claim == nil {
			continue
		}
		for _, ref := range o.Claim.Covers {
			p.doubted[model.Key{Source: j.Subject.Source, Kind: ref.Kind, ID: ref.ID}] = true
		}
	}
}

// readAt returns when a resource was last read, or the present time if that failed.
func (p *proof) readAt(key model.Key) time.Time {
	if s := p.snapshots[key.Source]; s != nil && !s.Taken.IsZero() {
		return s.ReadAt(model.Ref{Kind: key.Kind, ID: key.ID})
	}
	return p.now
}

// isResolved reports whether an earlier finding that this scan did not return is over, because both
// of its sides were read. Otherwise it stays open.
func (p *proof) isResolved(f *model.Finding) bool {
	if p.whole && p.isRemoved(f) {
		return true
	}
	if f.Kind == RecordKind {
		return p.recordRead(f)
	}
	if !p.partiesRead(f) {
		return false
	}
	if f.Kind == PartKind {
		return true
	}
	snapshot := p.snapshots[f.Source]
	if snapshot == nil || snapshot.StaleIn(f.Kind, f.Place) != "" {
		return false
	}
	if f.Check == "" && p.isDoubted(f) {
		return false
	}
	if judged := p.judgedOn(f.Key); judged != nil {
		return checkedAgain(judged, f)
	}
	ref := model.Ref{Kind: f.Kind, ID: f.Key.ID}
	if slices.ContainsFunc(snapshot.Unread, func(u model.Unread) bool { return u.Includes(ref) }) {
		return false
	}
	covered, _ := snapshot.Covers(f.Kind, f.Place)
	return covered || !snapshot.HasKind(f.Kind) || isWithdrawn(f, snapshot)
}

// isWithdrawn reports whether a finding was about a claim alone, which is gone: its kind may be misspelt, since the source does
// not read it. A finding about what was read of a kind stays open.
func isWithdrawn(f *model.Finding, snapshot *model.Snapshot) bool {
	return f.Verdict == model.Unchecked && f.Declaration != "" && snapshot.Kinds[f.Kind] == nil
}

// checkedAgain reports whether the scan compared what the finding shows. A check needs only the
// resource itself, in a state in which it can be judged.
func checkedAgain(judged *model.Judged, f *model.Finding) bool {
	if f.Check != "" {
		live := judged.Subject.Live
		return judged.Subject.Unread == "" && (live == nil || !slices.Contains(live.Undecided, f.Check))
	}
	return judged.Checked(f.Changes)
}

// isDoubted reports whether a claim that could not be read or compared may be on the resource.
func (p *proof) isDoubted(f *model.Finding) bool {
	return p.doubted[f.Key] || (f.Declaration == "" || f.Verdict == model.Unmanaged) && p.mayBeDeclared(f)
}

// recordRead reports whether the record that the finding is about was read again.
func (p *proof) recordRead(f *model.Finding) bool {
	d := p.declarations[f.Declaration]
	return d != nil && slices.ContainsFunc(d.States, func(s model.StateRead) bool { return s.Address == f.Address })
}

// isRemoved reports whether the finding's source or declaration is no longer part of
// the estate.
func (p *proof) isRemoved(f *model.Finding) bool {
	return f.Source != "" && !slices.Contains(p.sources, f.Source) || f.Declaration != "" && p.declarations[f.Declaration] == nil
}

// partiesRead reports whether all declarations that the finding depends on were read.
func (p *proof) partiesRead(f *model.Finding) bool {
	return !slices.ContainsFunc(p.parties(f), func(name string) bool { return !p.read(f, name) })
}

// parties returns the declarations on which the finding depends: its own, those of a dispute and,
// for a moved resource, the inventories of the source.
func (p *proof) parties(f *model.Finding) []string {
	var names []string
	if f.Declaration != "" {
		names = append(names, f.Declaration)
	}
	for i := range f.Changes {
		for _, c := range f.Changes[i].Claims {
			names = append(names, c.Declaration)
		}
	}
	for name, d := range p.declarations {
		if f.Verdict == model.Moved && d.Inventory && slices.Contains(d.Governs, f.Source) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// read reports whether a declaration that the finding depends on was read, at least all
// parts that may declare the finding's resource. A disputing declaration that was removed from the
// estate counts as read.
func (p *proof) read(f *model.Finding, name string) bool {
	d := p.declarations[name]
	if d == nil {
		return name != f.Declaration && p.whole
	}
	r := model.Resource{Key: f.Key, Place: f.Place, Name: f.Name}
	if f.Kind == PartKind && f.Check == "" || !slices.ContainsFunc(d.Problems, func(p model.Problem) bool { return p.MayDeclare(&r) }) {
		return true
	}
	judged := p.judgedOn(f.Key)
	return judged != nil && slices.ContainsFunc(judged.Subject.Claims, func(c *model.Claim) bool { return c.Declaration == name })
}

// mayBeDeclared reports whether a part of a declaration that could not be read may declare
// the finding's resource. A resource that is not live any more needs no declaration.
func (p *proof) mayBeDeclared(f *model.Finding) bool {
	if f.Verdict != model.Unmanaged || !p.governed(f.Source) {
		return p.unreadable(f.Source)
	}
	judged := p.judgedOn(f.Key)
	if judged == nil {
		return false
	}
	unjudged := judged.Subject.Unjudged
	return judged.Subject.Partial != "" || unjudged != nil && unjudged.Declaration != ""
}

// governed reports whether a declaration governs the source.
func (p *proof) governed(source string) bool {
	for _, d := range p.declarations {
		if slices.Contains(d.Governs, source) {
			return true
		}
	}
	return false
}

// unreadable reports whether a declaration that governs the source was not read in
// full and may declare an unclaimed resource. If no declaration governs the source, it
// reports whether one that is not part of the scan may.
func (p *proof) unreadable(source string) bool {
	governed := false
	for _, d := range p.declarations {
		if slices.Contains(d.Governs, source) {
			governed = true
			if len(d.Problems) > 0 {
				return true
			}
		}
	}
	return !governed && !p.whole
}
