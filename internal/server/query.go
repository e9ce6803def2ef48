package server

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/filter"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
	"github.com/driftd/driftd/internal/suggest"
	"github.com/driftd/driftd/internal/timeparse"
)

// A params holds the validated parameters of a request.
type params struct {
	url.Values
	now time.Time
}

// params reads a request's parameters. It returns an error for a name that is not in names.
func (a API) params(r *http.Request, names ...string) (params, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return params{}, badRequest("the query is malformed", "encode it, as in ?key=prod%2Fkubernetes%2FService%2Fshop%2Fweb")
	}
	for name := range values {
		if slices.Contains(names, name) {
			continue
		}
		hint := "this page has no parameters"
		if len(names) > 0 {
			hint = "want " + strings.Join(names, ", ")
		}
		return params{}, badRequest(fmt.Sprintf("unknown parameter %q", name), hint)
	}
	return params{values, a.Now().UTC()}, nil
}

// moment parses a time parameter; the default is back before now.
func (p params) moment(name string, back time.Duration) (time.Time, error) {
	text := p.Get(name)
	if text == "" {
		return p.now.Add(-back), nil
	}
	at, err := timeparse.Parse(text, p.now)
	if err != nil {
		return at, badRequest(name+": "+err.Error(), "")
	}
	if at = at.UTC(); at.Year() < 1 || at.Year() > 9999 {
		return at, badRequest(fmt.Sprintf("%s: %q is not in the years 1 to 9999", name, text), "the year is that in UTC")
	}
	return at, nil
}

// list parses a parameter that may be repeated or comma-separated, without empty values.
func (p params) list(name string) []string {
	return slices.DeleteFunc(p.patterns(name), func(value string) bool { return value == "" })
}

// patterns parses a parameter that may be repeated or comma-separated. A value has its commas after backslashes.
func (p params) patterns(name string) []string {
	var all []string
	for _, text := range p.Values[name] {
		all = append(all, splitList(text)...)
	}
	return all
}

// splitList returns the values of a comma-separated list, of which joinable returned each.
func splitList(text string) []string {
	var all []string
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == ',':
			all = append(all, b.String())
			b.Reset()
			continue
		case text[i] == '\\' && i+1 < len(text):
			if i++; text[i] != ',' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(text[i])
	}
	return append(all, b.String())
}

// joinable returns a pattern as a value of a comma-separated list: with a backslash before each comma, which the pattern may
// have already.
func joinable(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == ',':
			b.WriteByte('\\')
		case pattern[i] == '\\' && i+1 < len(pattern):
			b.WriteByte('\\')
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

func (p params) flag(name string) (bool, error) {
	if p.Get(name) == "" {
		return false, nil
	}
	yes, err := strconv.ParseBool(p.Get(name))
	if err != nil {
		return false, badRequest(fmt.Sprintf("%s=%q", name, p.Get(name)), "want true or false")
	}
	return yes, nil
}

// number parses a number from least to most; the default is instead.
func (p params) number(name string, instead, least, most int) (int, error) {
	text := p.Get(name)
	if text == "" {
		return instead, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, badRequest(fmt.Sprintf("%s=%q", name, text), fmt.Sprintf("want a number from %d to %d", least, most))
	}
	return n, nil
}

// A selection selects the findings of a request.
type selection struct {
	since    time.Time
	verdicts []model.Verdict
	sources  []string
	resolved bool
	hidden   bool
	filter   filter.Filter
}

// stored returns the part of the selection that does not need the names of kinds.
func (s *selection) stored() store.Filter {
	return store.Filter{Since: s.since, Verdicts: s.verdicts, Resolved: s.resolved,
		Fits: func(o *model.Outline) bool { return s.wantsSource(o.Source) && (s.hidden || o.Shown()) }}
}

// selectionNames returns the parameters of a selection.
func selectionNames() []string { return []string{"since", "verdict", "source", "resolved", "hidden"} }

// listNames returns the parameters of a list of findings.
func listNames() []string {
	names := append(selectionNames(), "severity")
	for _, list := range filterLists(&filter.Filter{}) {
		names = append(names, list.name)
	}
	return append(names, "limit", "offset")
}

// A filterList is a list of a filter with the name of its parameter.
type filterList struct {
	name   string
	values *[]string
}

func filterLists(f *filter.Filter) []filterList {
	return []filterList{{"kind", &f.Kinds}, {"namespace", &f.Namespaces}, {"owner", &f.Owners}, {"actor", &f.Actors}, {"resource", &f.Resources}}
}

// filterValues returns the parameters of a filter.
func filterValues(f *filter.Filter) url.Values {
	v := url.Values{}
	for _, s := range f.Severities {
		v.Add("severity", string(s))
	}
	for _, list := range filterLists(f) {
		for _, value := range *list.values {
			v.Add(list.name, joinable(value))
		}
	}
	return v
}

func (p params) filter() (f filter.Filter, err error) {
	for _, s := range p.list("severity") {
		f.Severities = append(f.Severities, model.Severity(s))
	}
	for _, list := range filterLists(&f) {
		*list.values = p.patterns(list.name)
	}
	if err := f.Check(); err != nil {
		return f, badRequest(err.Error(), "")
	}
	return f, nil
}

// parseVerdict parses the name of a verdict.
func parseVerdict(name string) (model.Verdict, error) {
	names := make([]string, 0, len(model.Verdicts()))
	for _, v := range model.Verdicts() {
		if string(v) == name {
			return v, nil
		}
		names = append(names, string(v))
	}
	hint := "want one of " + strings.Join(names, ", ")
	if near, ok := suggest.Word(name, names); ok {
		hint = fmt.Sprintf("did you mean %q? (one of %s)", near, strings.Join(names, ", "))
	}
	return "", badRequest(fmt.Sprintf("unknown verdict %q", name), hint)
}

func (p params) selection() (s selection, err error) {
	if p.Get("since") != "" {
		if s.since, err = p.moment("since", 0); err != nil {
			return s, err
		}
	}
	for _, name := range p.list("verdict") {
		verdict, err := parseVerdict(name)
		if err != nil {
			return s, err
		}
		s.verdicts = append(s.verdicts, verdict)
	}
	s.sources = p.list("source")
	if err := filter.CheckPatterns(s.sources); err != nil {
		return s, badRequest(err.Error(), "")
	}
	if s.resolved, err = p.flag("resolved"); err != nil {
		return s, err
	}
	if s.hidden, err = p.flag("hidden"); err != nil {
		return s, err
	}
	s.filter, err = p.filter()
	return s, err
}

// narrow returns the run with only the selected sources.
func (s selection) narrow(run model.Run) model.Run {
	run.Sources = slices.DeleteFunc(slices.Clone(run.Sources), func(r model.SourceRun) bool { return !s.wantsSource(r.Name) })
	run.Coverage = slices.DeleteFunc(slices.Clone(run.Coverage), func(c model.Coverage) bool { return !s.wantsSource(c.Source) })
	return run
}

func (s selection) wantsSource(name string) bool {
	return len(s.sources) == 0 || model.GlobName(s.sources, name)
}
