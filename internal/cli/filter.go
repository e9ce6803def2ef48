package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/suggest"
)

// filterHelp is the part of a command's help that describes its filters.
const filterHelp = `Filters take several values, separated by commas or repeated, of which one must
match; all filters must match. Values of --source, --owner, --kind, --namespace,
--actor and RESOURCE are patterns, in which * matches any characters but /. A kind
is also matched by the names that kubectl accepts, as in deploy, deployments and
deployments.apps. A RESOURCE is the end of a key: deploy/shop/api, shop/api, 'shop/*'.`

// queryFlags are the flags that select findings.
type queryFlags struct {
	since                                                            string
	sources, verdicts, severities, owners, kinds, namespaces, actors []string
	resolved, hidden                                                 bool
}

func (q *queryFlags) add(c *command, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&q.since, "since", "", "only what appeared, changed or was resolved since then: 24h, 7d, 2026-01-31T14:00:00Z")
	flags.StringSliceVar(&q.verdicts, "verdict", nil, "only these verdicts: changed, missing, unmanaged …")
	flags.StringSliceVar(&q.severities, "severity", nil, "only these severities: "+strings.Join(severityWords(), ", "))
	flags.StringSliceVar(&q.sources, "source", nil, "only these sources")
	flags.StringSliceVar(&q.kinds, "kind", nil, "only these kinds: Deployment.apps, deploy, qemu, 'kubernetes/*'")
	flags.StringSliceVarP(&q.namespaces, "namespace", "n", nil, "only these namespaces, projects or nodes")
	flags.StringSliceVar(&q.owners, "owner", nil, "only these owners; none is one")
	flags.StringSliceVar(&q.actors, "actor", nil, "only changes by these actors; unknown is one")
	c.completeFilters(cmd)
}

func severityWords() []string { return texts(model.Severities()) }

func verdictWords() []string { return texts(model.Verdicts()) }

func texts[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// narrowing returns the names of the flags that leave findings out.
func narrowing() []string {
	return []string{"since", "verdict", "severity", "source", "kind", "namespace", "owner", "actor"}
}

// filters reports whether a flag or an argument leaves findings out.
func filters(cmd *cobra.Command, resources []string) bool {
	return len(resources) > 0 || slices.ContainsFunc(narrowing(), cmd.Flags().Changed)
}

// query returns the part of the selection that the daemon makes.
func (q *queryFlags) query() server.Query {
	return server.Query{Since: q.since, Verdicts: q.verdicts, Sources: q.sources, Resolved: q.resolved, Hidden: q.hidden}
}

// check returns an error for each word of a closed list that does not exist, and for each
// malformed pattern.
func (q *queryFlags) check(resources []string) error {
	errs := []error{suggest.Check("severity", q.severities, severityWords()), suggest.Check("verdict", q.verdicts, verdictWords())}
	for _, patterns := range [][]string{q.sources, q.kinds, q.namespaces, q.owners, q.actors, resources} {
		for _, p := range patterns {
			if _, err := path.Match(p, ""); err != nil {
				errs = append(errs, fmt.Errorf("malformed pattern %q: write \\[ for the character [", p))
			}
		}
	}
	return errors.Join(errs...)
}

// pick returns the findings that the flags and the resources select, in their order. It modifies
// the slice.
func (q *queryFlags) pick(found []model.Finding, resources []string) ([]model.Finding, error) {
	fits, err := q.fits(found, resources)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(f model.Finding) bool { return !fits(&f) }), nil
}

// pickDrift is pick for a report: it keeps the findings that are unchecked, because a filter must
// not hide that something was not checked.
func (q *queryFlags) pickDrift(found []model.Finding, resources []string) ([]model.Finding, error) {
	fits, err := q.fits(found, resources)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(f model.Finding) bool { return f.Verdict != model.Unchecked && !fits(&f) }), nil
}

// noOwner is the value of --owner for findings that have none.
const noOwner = "none"

// fits returns a function that reports whether the flags and the resources select a finding. The
// kinds of the findings can be named.
func (q *queryFlags) fits(found []model.Finding, resources []string) (func(*model.Finding) bool, error) {
	names := newKindNames(found)
	kinds, kindErr := names.patterns(q.kinds)
	keys, keyErr := names.keys(resources)
	if err := errors.Join(kindErr, keyErr); err != nil {
		return nil, err
	}
	selector := model.Selector{Kinds: kinds, Namespaces: q.namespaces, Actors: q.actors}
	for _, s := range q.severities {
		selector.Severities = append(selector.Severities, model.Severity(s))
	}
	return func(f *model.Finding) bool {
		return selector.Fits(f) && (len(q.owners) == 0 || model.GlobAny(q.owners, cmp.Or(f.Owner, noOwner))) && (len(keys) == 0 || matchesKey(keys, f.Key.String()))
	}, nil
}

// filterWords returns the flags and arguments of the filters other than those in except, as they
// are written on a command line.
func filterWords(cmd *cobra.Command, resources []string, except ...string) []string {
	words := slices.Clone(resources)
	for _, name := range narrowing() {
		flag := cmd.Flags().Lookup(name)
		if !flag.Changed || slices.Contains(except, name) {
			continue
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			words = append(words, "--"+name+"="+v)
		}
	}
	return words
}

// matchesKey reports whether a pattern matches the whole key, or its last parts.
func matchesKey(patterns []string, key string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		from := len(key)
		for parts := strings.Count(p, "/") + 1; parts > 0 && from >= 0; parts-- {
			from = strings.LastIndexByte(key[:from], '/')
		}
		end := key[from+1:]
		return p == end || model.Glob(p, end)
	})
}

// kindNames are the names under which kinds can be given.
type kindNames struct {
	kubernetes kube.Names
	// present are the kinds of the findings.
	present []string
}

func newKindNames(found []model.Finding) kindNames {
	kinds := map[string]bool{}
	var present []string
	for i := range found {
		if kind := found[i].Kind; !kinds[kind] {
			kinds[kind] = true
			present = append(present, kind)
		}
	}
	slices.Sort(present)
	return kindNames{kube.NewNames(present), present}
}

// find returns the kinds with a name. Of kinds of Kubernetes, one that is named exactly, as
// Service is, comes before others of the same name in other groups.
func (n kindNames) find(name string) []string {
	kinds := slices.Clone(n.kubernetes.Kinds(name))
	if exact := "kubernetes/" + name; slices.Contains(kinds, exact) {
		kinds = []string{exact}
	}
	for _, kind := range n.present {
		if !strings.HasPrefix(kind, "kubernetes/") && (path.Base(kind) == name || strings.EqualFold(phrase.Kind(kind), name)) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// one returns the kind with a name; "" if there is none.
func (n kindNames) one(name string) (string, error) {
	switch kinds := n.find(name); len(kinds) {
	case 0:
		return "", nil
	case 1:
		return kinds[0], nil
	default:
		return "", fmt.Errorf("kind %q is ambiguous: want one of %s", name, strings.Join(kinds, ", "))
	}
}

// patterns returns the kinds that are named, and a word that names none as it is, because it may
// be a pattern.
func (n kindNames) patterns(words []string) ([]string, error) {
	patterns := slices.Clone(words)
	var errs []error
	for i, word := range words {
		kind, err := n.one(word)
		if kind != "" {
			patterns[i] = kind
		}
		errs = append(errs, err)
	}
	return patterns, errors.Join(errs...)
}

// keys returns patterns of the ends of keys for resources: as they are written, and, if the first
// part names a kind, with its full name. A namespace may then be left out.
func (n kindNames) keys(resources []string) ([]string, error) {
	var patterns []string
	var errs []error
	for _, r := range resources {
		patterns = append(patterns, r)
		name, id, ok := strings.Cut(r, "/")
		if !ok {
			continue
		}
		kind, err := n.one(name)
		if errs = append(errs, err); kind == "" {
			continue
		}
		patterns = append(patterns, kind+"/"+id)
		if !strings.Contains(id, "/") {
			patterns = append(patterns, kind+"/*/"+id)
		}
	}
	return patterns, errors.Join(errs...)
}
