package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/driftd/driftd/internal/filter"
	"github.com/driftd/driftd/internal/model"
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

// query returns the selection without the filter.
func (q *queryFlags) query() server.Query {
	return server.Query{Since: q.since, Verdicts: q.verdicts, Sources: q.sources, Resolved: q.resolved, Hidden: q.hidden}
}

// filter returns the filter of the flags and the resources.
func (q *queryFlags) filter(resources []string) filter.Filter {
	f := filter.Filter{Kinds: q.kinds, Namespaces: q.namespaces, Owners: q.owners, Actors: q.actors, Resources: resources}
	for _, s := range q.severities {
		f.Severities = append(f.Severities, model.Severity(s))
	}
	return f
}

// filtered returns the whole selection.
func (q *queryFlags) filtered(resources []string) server.Query {
	query := q.query()
	query.Filter = q.filter(resources)
	return query
}

// check returns an error for each word of a closed list that does not exist, and for each
// malformed pattern.
func (q *queryFlags) check(resources []string) error {
	f := q.filter(resources)
	return errors.Join(f.Check(), suggest.Check("verdict", q.verdicts, verdictWords()), filter.CheckPatterns(q.sources))
}

// pickDrift returns the findings of a report that the flags and the resources select, in their order.
// It keeps the findings that are unchecked, because a filter must not hide that something was not
// checked. It modifies the slice.
func (q *queryFlags) pickDrift(found []model.Finding, resources []string) ([]model.Finding, error) {
	f := q.filter(resources)
	fits, err := f.Fits(filter.NamesOf(found, func(f model.Finding) string { return f.Kind }))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(f model.Finding) bool {
		o := f.Outline()
		return f.Verdict != model.Unchecked && !fits(&o)
	}), nil
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
