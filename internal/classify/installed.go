package classify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// maxNamed bounds the objects in the reason of a finding about an installation.
const maxNamed = 10

// foldInstalled removes from c the findings about unmanaged objects that the record of a deployment
// tool contains, and adds their objects to one finding about the record. Since anyone with write
// access to the record can forge it, some findings stay: those that are rated high or worse, that
// an earlier decision accepted or that have another owner, those of a record whose finding a rule
// hides, and those outside of the namespace of the record. An acceptance of the finding about the
// record covers the contents of the objects.
func (c *current) foldInstalled(in *Input, p *proof, rules *ignorer) {
	rater := newRater(in.Severities, in.Now)
	groups, gone := c.installed(in, p, rater), map[int]bool{}
	unmanaged := c.unmanaged()
	for _, key := range sortedKeys(groups) {
		at := c.aboutInstallation(key, unmanaged, in, p, rules)
		if at < 0 {
			continue
		}
		c.describe(at, groups[key], rater, p)
		for _, i := range groups[key] {
			gone[i] = true
			if c.folded == nil {
				c.folded = map[model.Key]model.Key{}
			}
			c.folded[c.findings[i].Key] = key
		}
	}
	c.remove(gone)
}

// installed returns the indexes of the findings to combine into one about an installation, by the
// key of the installation.
func (c *current) installed(in *Input, p *proof, rater *rater) map[model.Key][]int {
	groups, accepted := map[model.Key][]int{}, map[model.Key]bool{}
	for i := range in.Earlier {
		f := &in.Earlier[i]
		accepted[f.Key] = accepted[f.Key] || f.Verdict == model.Unmanaged && f.Accepted()
	}
	for i := range c.findings {
		by := c.installers[i]
		if by == (model.Ref{}) || c.findings[i].Hidden != "" || accepted[c.findings[i].Key] {
			continue
		}
		f := &c.findings[i]
		key := model.Key{Source: f.Source, Kind: by.Kind, ID: by.ID}
		if c.rated(i, rater).Rank() > model.High.Rank() && within(f, p.judgedOn(key), in.Owners) {
			groups[key] = append(groups[key], i)
		}
	}
	return c.withoutInstallers(groups)
}

// rated returns the severity of a finding by the configured rules.
func (c *current) rated(i int, rater *rater) model.Severity {
	f := c.findings[i]
	rater.rate(&f, &c.evidence[i])
	return f.Severity
}

// within reports whether a finding may become part of one about an installation: the people who
// read findings on the object read that one, too. A client with rights in one namespace can forge a
// record in it that lists objects of others.
func within(f *model.Finding, installation *model.Judged, owners []OwnerRule) bool {
	if installation == nil || installation.Subject.Live == nil {
		return false
	}
	s := installation.Subject
	about := model.Finding{Verdict: model.Unmanaged, Key: s.Key, Place: s.Place, Name: s.Name, Labels: labels(s, nil)}
	return owner(f, owners) == owner(&about, owners) &&
		(s.Live.Record == nil || f.Place == "" || f.Place == s.Place)
}

// withoutInstallers returns the groups without the findings about installations that have a group
// themselves. An installation may list itself, or one that lists it, or one that lists others: each
// would go with what it includes, so that no finding names the objects any more.
func (c *current) withoutInstallers(groups map[model.Key][]int) map[model.Key][]int {
	kept := map[model.Key][]int{}
	for key, group := range groups {
		group = slices.DeleteFunc(slices.Clone(group), func(i int) bool { return len(groups[c.findings[i].Key]) > 0 })
		if len(group) > 0 {
			kept[key] = group
		}
	}
	return kept
}

// foldedInto returns the ID of the finding about the installation that an earlier finding became
// part of; "" if it did not. unmanaged are the indexes of the unmanaged findings.
func (c *current) foldedInto(earlier *model.Finding, unmanaged map[model.Key]int) string {
	into, ok := c.folded[earlier.Key]
	at, found := unmanaged[into]
	if !ok || !found || earlier.Verdict != model.Unmanaged {
		return ""
	}
	return c.findings[at].ID
}

func sortedKeys(groups map[model.Key][]int) []model.Key {
	keys := make([]model.Key, 0, len(groups))
	for key := range groups {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, model.Key.Compare)
	return keys
}

// unmanaged returns the indexes of the first unmanaged findings by their keys.
func (c *current) unmanaged() map[model.Key]int {
	found := map[model.Key]int{}
	for i := range c.findings {
		f := &c.findings[i]
		if _, ok := found[f.Key]; !ok && f.Verdict == model.Unmanaged {
			found[f.Key] = i
		}
	}
	return found
}

// aboutInstallation returns the index of the unmanaged finding about an installation. If there is
// none in unmanaged, it adds one. It returns -1 if a rule hides the finding.
func (c *current) aboutInstallation(key model.Key, unmanaged map[model.Key]int, in *Input, p *proof, rules *ignorer) int {
	at, ok := unmanaged[key]
	if !ok {
		judged := p.judgedOn(key)
		if judged == nil || judged.Subject.Live == nil {
			return -1
		}
		out := model.Outcome{Verdict: model.Unmanaged, Actor: judged.Subject.Live.LastWriter()}
		at = len(c.findings)
		c.add(judged.Subject, &out, in, rules)
	}
	if c.findings[at].Hidden != "" {
		return -1
	}
	return at
}

// describe adds the objects of findings to the finding about their installation.
func (c *current) describe(at int, objects []int, rater *rater, p *proof) {
	f := &c.findings[at]
	contents := c.contents(objects, p)
	for _, i := range objects {
		folded := &c.findings[i]
		_, kind, _ := strings.Cut(folded.Kind, "/")
		f.Objects = append(f.Objects, kind+" "+folded.Key.ID)
		if severity := c.rated(i, rater); severity.Rank() < f.Severity.Rank() {
			f.Severity, f.Exposure = severity, cmp.Or(f.Exposure, folded.Exposure)
		}
	}
	slices.Sort(f.Objects)
	named := f.Objects[:min(len(f.Objects), maxNamed)]
	text := fmt.Sprintf("installed %d objects that no declaration has: %s", len(f.Objects), strings.Join(named, ", "))
	if len(f.Objects) == 1 {
		text = "installed an object that no declaration has: " + named[0]
	}
	if more := len(f.Objects) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	f.Reason = strings.TrimPrefix(f.Reason+"; "+text, "; ")
	f.Basis = basis(f, nil, contents...)
}

// contents returns the contents of the objects of findings, sorted by object. It omits the fields
// that other objects among them determine, such as the number of replicas of a workload that is
// scaled.
func (c *current) contents(objects []int, p *proof) []model.Value {
	within := map[model.Ref]bool{}
	for _, i := range objects {
		within[model.Ref{Kind: c.findings[i].Kind, ID: c.findings[i].Key.ID}] = true
	}
	sorted := slices.Clone(objects)
	slices.SortFunc(sorted, func(i, j int) int { return c.findings[i].Key.Compare(c.findings[j].Key) })
	values := make([]model.Value, 0, len(sorted))
	for _, i := range sorted {
		judged := p.judgedOn(c.findings[i].Key)
		s, v := judged.Subject, installedContent(judged)
		for _, d := range slices.Concat(s.Delegated, s.Live.Delegated) {
			if !d.Adds && (within[d.By] || slices.Contains(s.Delegated, d)) {
				v = withoutPath(v, strings.Split(d.Path, "."))
			}
		}
		values = append(values, v)
	}
	return values
}

// installedContent returns the content of an object that an installation lists.
func installedContent(judged *model.Judged) model.Value {
	for i := range judged.Outcomes {
		if o := &judged.Outcomes[i]; o.InstalledBy != (model.Ref{}) {
			return o.Content
		}
	}
	return model.Value{}
}

// withoutPath returns a value without the field at a path of names.
func withoutPath(v model.Value, path []string) model.Value {
	field, ok := v.Get(path[0])
	switch {
	case !ok:
		return v
	case len(path) == 1:
		return v.Without(path[0])
	}
	return v.With(path[0], withoutPath(field, path[1:]))
}

// remove removes the findings at the indexes.
func (c *current) remove(gone map[int]bool) {
	if len(gone) == 0 {
		return
	}
	kept := current{folded: c.folded}
	for i := range c.findings {
		if gone[i] {
			continue
		}
		kept.findings = append(kept.findings, c.findings[i])
		kept.claims = append(kept.claims, c.claims[i])
		kept.evidence = append(kept.evidence, c.evidence[i])
		kept.installers = append(kept.installers, c.installers[i])
	}
	*c = kept
}
