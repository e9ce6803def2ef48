package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// errSet is the error of a part of an ApplicationSet that driftd does not evaluate.
var errSet = errors.New("driftd does not evaluate")

// maxParameters bounds a file with parameters, in bytes.
const maxParameters = 1 << 20

// generate queues the Applications of an ApplicationSet.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/
func (r *argoReader) generate(set application) {
	made, err := r.generated(set)
	if err != nil {
		r.all.limited(set.address, sketch{unknown: true}, "ApplicationSet %s: %v", set.name, err)
	}
	for _, o := range made {
		r.take([]object{o}, set.depth+1)
	}
}

// generated returns the Applications of an ApplicationSet.
func (r *argoReader) generated(set application) ([]object, error) {
	if !set.spec.At("templatePatch").IsEmpty() {
		return nil, fmt.Errorf("has a templatePatch, which %w", errSet)
	}
	goTemplate := set.spec.At("goTemplate").Text() == "true"
	generators := set.spec.At("generators").Items()
	if len(generators) == 0 {
		return nil, errors.New("has no generators")
	}
	var objects []object
	var failed error
	for _, generator := range generators {
		parameters, err := r.parameters(generator, goTemplate)
		if other, ok := errors.AsType[*elsewhereError](err); ok {
			r.generateLater(set, generator, other.at)
			continue
		}
		if err != nil {
			failed = err
			continue
		}
		for _, p := range parameters {
			if len(objects) > r.loader.argocd.MaxApplications {
				return nil, fmt.Errorf("makes more than %d Applications; raise max_applications", r.loader.argocd.MaxApplications)
			}
			template, err := filled(set.spec.At("template"), p, goTemplate)
			if err != nil {
				failed = err
				continue
			}
			objects = append(objects, r.fromTemplate(set, template))
		}
	}
	return objects, failed
}

// fromTemplate returns the Application of a filled template.
func (r *argoReader) fromTemplate(set application, template model.Value) object {
	metadata := template.At("metadata")
	if metadata.At("namespace").Str() == "" {
		metadata = metadata.With("namespace", model.StringOf(path.Dir(set.name)))
	}
	return object{address: set.address, files: set.files, value: model.MapOf(
		model.Field{Name: "apiVersion", Value: model.StringOf("argoproj.io/v1alpha1")}, model.Field{Name: "kind", Value: model.StringOf("Application")},
		model.Field{Name: "metadata", Value: metadata.Without("finalizers")}, model.Field{Name: "spec", Value: template.At("spec")})}
}

// parameters returns the parameters that a generator makes, one value for each Application.
func (r *argoReader) parameters(generator model.Value, goTemplate bool) ([]model.Value, error) {
	var name string
	for _, f := range generator.Fields() {
		if f.Value.IsEmpty() && f.Name != "list" {
			continue
		}
		if name != "" {
			return nil, fmt.Errorf("has a generator with %s and %s, which %w", shown(name), shown(f.Name), errSet)
		}
		name = f.Name
	}
	settings := generator.At(name)
	if name != "list" && name != "git" {
		return nil, fmt.Errorf("has the generator %s, which %w", orNone(name, "without a name"), errSet)
	}
	for _, field := range []string{"template", "elementsYaml", "pathParamPrefix"} {
		if !settings.At(field).IsEmpty() {
			return nil, fmt.Errorf("has the generator %s with %s, which %w", name, field, errSet)
		}
	}
	if name == "list" {
		var all []model.Value
		for _, element := range settings.At("elements").Items() {
			if !goTemplate {
				element = flattened(element)
			}
			all = append(all, element)
		}
		return all, nil
	}
	return r.gitParameters(settings, goTemplate)
}

// An elsewhereError is the error of a generator on another checkout than the one that is read.
type elsewhereError struct{ at checkout }

// Error implements error.
func (e *elsewhereError) Error() string { return "has a git generator at " + e.at.shown() }

// generateLater defers one generator of an ApplicationSet to its checkout.
func (r *argoReader) generateLater(set application, generator model.Value, at checkout) {
	set.spec = set.spec.With("generators", model.ListOf(generator))
	r.deferred = append(r.deferred, deferred{at, func() error {
		r.generate(set)
		return nil
	}, func(reason string) {
		r.all.limited(set.address, sketch{unknown: true}, "ApplicationSet %s: has a git generator at %s%s", set.name, at.shown(), reason)
	}})
}

// gitParameters returns the parameters of a git generator on the repository that is read.
func (r *argoReader) gitParameters(settings model.Value, goTemplate bool) ([]model.Value, error) {
	url, revision := settings.At("repoURL").Str(), settings.At("revision").Str()
	at, known := r.locate(url, revision)
	switch {
	case !known:
		return nil, fmt.Errorf("has a git generator on %s, which is another repository: list it in repositories to read it, too", orNone(url, "no repository"))
	case !r.isHere(at):
		return nil, &elsewhereError{at}
	}
	var all []model.Value
	for _, kind := range []string{"directories", "files"} {
		found, err := r.matching(settings.At(kind).Items(), kind == "directories")
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			element := model.MapOf()
			if kind == "files" {
				if element, err = r.parameterFile(name); err != nil {
					return nil, err
				}
				name = path.Dir(name)
			}
			element = element.With("path", pathParameters(name))
			if values, ok := settings.Get("values"); ok {
				element = element.With("values", values)
			}
			if !goTemplate {
				element = flattened(element)
			}
			all = append(all, element)
		}
	}
	return all, nil
}

// pathParameters returns the parameters of a folder.
func pathParameters(dir string) model.Value {
	var segments []model.Value
	for _, s := range strings.Split(dir, "/") {
		segments = append(segments, model.StringOf(s))
	}
	return model.MapOf(
		model.Field{Name: "path", Value: model.StringOf(dir)}, model.Field{Name: "basename", Value: model.StringOf(path.Base(dir))},
		model.Field{Name: "basenameNormalized", Value: model.StringOf(normalized(path.Base(dir)))}, model.Field{Name: "segments", Value: model.ListOf(segments...)})
}

var notInName = lazyregexp.New(`[^-a-z0-9.]`)

// normalized returns a text as the name of an object.
func normalized(text string) string {
	return strings.Trim(notInName().ReplaceAllString(strings.ToLower(text), "-"), "-.")
}

// flattened returns the parameters in the form of templates without goTemplate: nested fields have
// names with dots, and the path of a folder is the parameter path.
func flattened(v model.Value) model.Value {
	flat := model.MapOf()
	var add func(name string, v model.Value)
	add = func(name string, v model.Value) {
		switch v.Kind() {
		case model.Map:
			for _, f := range v.Fields() {
				switch {
				case strings.HasSuffix("."+name, ".path") && f.Name == "path":
					add(name, f.Value)
				case name == "":
					add(f.Name, f.Value)
				default:
					add(name+"."+f.Name, f.Value)
				}
			}
		case model.List:
			base := strings.TrimSuffix(name, ".segments")
			for i, item := range v.Items() {
				add(base+"["+strconv.Itoa(i)+"]", item)
			}
		default:
			flat = flat.With(name, model.StringOf(v.Text()))
		}
	}
	add("", v)
	return flat
}

// A gitPatterns selects folders or files for a git generator.
type gitPatterns struct{ include, exclude []*regexp.Regexp }

func (p *gitPatterns) add(exclude bool, pattern string) error {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	if exclude {
		p.exclude = append(p.exclude, compiled)
	} else {
		p.include = append(p.include, compiled)
	}
	return nil
}

func (p *gitPatterns) match(name string) bool {
	return matchesAny(p.include, name) && !matchesAny(p.exclude, name)
}

// generatorPatterns returns the patterns of a git generator, and those that Argo CD uses for files unless its new globbing is
// enabled, in which * also matches slashes and a folder includes its content.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Git-File-Globbing/
func generatorPatterns(entries []model.Value) (exact, greedy gitPatterns, err error) {
	for _, entry := range entries {
		text := strings.Trim(entry.At("path").Str(), "/")
		exclude := entry.At("exclude").Text() == "true"
		if _, err = patterns([]string{text}); err == nil {
			err = exact.add(exclude, strings.TrimSuffix(expression("/"+text), "(/|$)")+"$")
		}
		if err == nil {
			err = greedy.add(exclude, greedyExpression(text))
		}
		if err != nil {
			return exact, greedy, fmt.Errorf("has the pattern %s, which %w", shown(text), errSet)
		}
	}
	return exact, greedy, nil
}

// greedyExpression returns a regular expression for a pathspec of git ls-files.
func greedyExpression(text string) string {
	body := strings.NewReplacer(`\*`, `.*`, `\?`, `.`, `\[!`, `[^`, `\[`, `[`, `\]`, `]`).Replace(regexp.QuoteMeta(text))
	if !strings.ContainsAny(text, "*?[") {
		body += "(/.*)?"
	}
	return "^" + body + "$"
}

// matching returns the folders or files that match the patterns of a git generator. Argo CD lists neither the top of the
// repository nor hidden folders as folders.
func (r *argoReader) matching(entries []model.Value, directories bool) ([]string, error) {
	exact, greedy, err := generatorPatterns(entries)
	if err != nil || len(exact.include) == 0 {
		return nil, err
	}
	var found []string
	count := 0
	err = fs.WalkDir(r.tree.files, ".", func(name string, e fs.DirEntry, err error) error {
		if count++; count > r.loader.config.MaxFiles*10 {
			return fmt.Errorf("searches more than %d files", r.loader.config.MaxFiles*10)
		}
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", r.tree.address(name), bounded.Cause(err))
		case name == ".":
			return nil
		case e.IsDir() && (e.Name() == ".git" || directories && strings.HasPrefix(e.Name(), ".")):
			return fs.SkipDir
		case e.IsDir() != directories:
			return nil
		case !directories && exact.match(name) != greedy.match(name):
			return fmt.Errorf("has a git generator of files whose patterns match %s in one of the two globbing modes of Argo CD only: "+
				"use patterns that match the same files in both modes", r.tree.address(name))
		case exact.match(name):
			found = append(found, name)
		}
		return nil
	})
	slices.Sort(found)
	return found, err
}

// parameterFile returns the parameters in a file.
func (r *argoReader) parameterFile(name string) (model.Value, error) {
	data, err := r.tree.readFile(name, maxParameters)
	if err != nil {
		return model.Value{}, fmt.Errorf("%s: %w", r.tree.address(name), bounded.Cause(err))
	}
	docs, err := decode.YAML(bytes.NewReader(data))
	if err != nil || len(docs) != 1 || docs[0].Value.Kind() != model.Map {
		return model.Value{}, fmt.Errorf("%s has no parameters that driftd reads", r.tree.address(name))
	}
	return docs[0].Value, nil
}

var (
	anyPlaceholder = lazyregexp.New(`\{\{.*?\}\}`)
	goPlaceholder  = lazyregexp.New(`^\{\{-?\s*(?:\.([A-Za-z0-9_.]+)|index \.path\.segments ([0-9]+))\s*-?\}\}$`)
	oldPlaceholder = lazyregexp.New(`^\{\{\s*([A-Za-z0-9_.\-/\[\]]+)\s*\}\}$`)
)

// filled returns a template with its placeholders replaced by parameters. A placeholder that is
// more than the name of a parameter is an error.
func filled(v, parameters model.Value, goTemplate bool) (model.Value, error) {
	switch v.Kind() {
	case model.Map:
		fields := make([]model.Field, 0, len(v.Fields()))
		for _, f := range v.Fields() {
			name, err := filledText(f.Name, parameters, goTemplate)
			if err != nil {
				return v, err
			}
			value, err := filled(f.Value, parameters, goTemplate)
			if err != nil {
				return v, err
			}
			fields = append(fields, model.Field{Name: name, Value: value})
		}
		return model.MapOf(fields...), nil
	case model.List:
		items := make([]model.Value, 0, len(v.Items()))
		for _, item := range v.Items() {
			value, err := filled(item, parameters, goTemplate)
			if err != nil {
				return v, err
			}
			items = append(items, value)
		}
		return model.ListOf(items...), nil
	case model.String:
		text, err := filledText(v.Str(), parameters, goTemplate)
		return model.StringOf(text), err
	}
	return v, nil
}

func filledText(text string, parameters model.Value, goTemplate bool) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	var failed error
	text = anyPlaceholder().ReplaceAllStringFunc(text, func(found string) string {
		value, ok := parameter(found, parameters, goTemplate)
		if !ok {
			failed = fmt.Errorf("has %s in its template, which %w", shown(found), errSet)
		}
		return value
	})
	if failed == nil && goTemplate && strings.Contains(text, "{{") {
		failed = fmt.Errorf("has a template that %w", errSet)
	}
	return text, failed
}

// parameter returns the value of a placeholder.
func parameter(placeholder string, parameters model.Value, goTemplate bool) (string, bool) {
	if !goTemplate {
		m := oldPlaceholder().FindStringSubmatch(placeholder)
		if m == nil {
			return "", false
		}
		v, ok := parameters.Get(m[1])
		return v.Text(), ok
	}
	m := goPlaceholder().FindStringSubmatch(placeholder)
	if m == nil {
		return "", false
	}
	v := parameters
	if m[2] != "" {
		items := parameters.At("path", "segments").Items()
		n, err := strconv.Atoi(m[2])
		if err != nil || n >= len(items) {
			return "", false
		}
		return items[n].Text(), true
	}
	for name := range strings.SplitSeq(m[1], ".") {
		var ok bool
		if v, ok = v.Get(name); !ok {
			return "", false
		}
	}
	return v.Text(), v.Kind() != model.Map && v.Kind() != model.List
}
