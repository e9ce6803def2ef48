package manifests

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// An ignoreRule makes the tool that applies objects leave fields of them as they are.
type ignoreRule struct {
	matches func(model.Value, string) bool
	fields  []model.Unenforced
}

// ignoreRules are the rules of one Application or HelmRelease.
type ignoreRules []ignoreRule

// of returns the fields of an object that the tool leaves as they are. namespace is that of an object that names none.
func (all ignoreRules) of(object model.Value, namespace string) []model.Unenforced {
	var fields []model.Unenforced
	for _, rule := range all {
		if rule.matches(object, namespace) {
			fields = append(fields, rule.fields...)
		}
	}
	return fields
}

// anyField selects each field of a resource.
func anyField() []model.Pick {
	all := model.MapOf()
	return []model.Pick{{Where: &all}}
}

// pointer returns the path of a JSON pointer; ok is false if it is none, or that of the whole resource.
func pointer(text string) (picks []model.Pick, ok bool) {
	if !strings.HasPrefix(text, "/") {
		return nil, false
	}
	for _, name := range strings.Split(text[1:], "/") {
		picks = append(picks, model.Pick{Name: strings.NewReplacer("~1", "/", "~0", "~").Replace(name)})
	}
	return picks, true
}

// jqStep matches one step of an expression of jq: .name, ."name", ["name"], [0], [], or | select(.name == "value").
var jqStep = lazyregexp.New(`^\s*(?:\.?\["([^"\\]+)"\]|\.?\[([0-9]+)\]|(\.?\[\])|\."([^"\\]+)"|\.([A-Za-z_][A-Za-z0-9_]*)|\|\s*select\(\s*\.([A-Za-z_][A-Za-z0-9_]*)\s*==\s*"([^"\\]*)"\s*\)\s*\|?)\??\s*`)

// jqPath returns the path of an expression of jq; ok is false if it is more than a path.
func jqPath(text string) (picks []model.Pick, ok bool) {
	for text != "" {
		m := jqStep().FindStringSubmatch(text)
		if m == nil {
			return nil, false
		}
		text = text[len(m[0]):]
		switch last := len(picks) - 1; {
		case m[3] != "":
			picks = append(picks, anyField()...)
		case m[6] != "" && (last < 0 || picks[last].Where == nil):
			return nil, false
		case m[6] != "":
			where := picks[last].Where.With(m[6], model.StringOf(m[7]))
			picks[last].Where = &where
		default:
			picks = append(picks, model.Pick{Name: m[1] + m[2] + m[4] + m[5]})
		}
	}
	return picks, len(picks) > 0
}

// argoFields returns the fields that an entry of ignoreDifferences ignores. where names the entry.
func argoFields(entry model.Value, how, where string) []model.Unenforced {
	why := fmt.Sprintf("Argo CD ignores this field%s (%s)", how, where)
	var fields, open []model.Unenforced
	for _, text := range texts(entry.At("jsonPointers")) {
		if picks, ok := pointer(text); ok {
			fields = append(fields, model.Unenforced{Path: picks, Why: why})
		}
	}
	for _, text := range texts(entry.At("jqPathExpressions")) {
		if picks, ok := jqPath(text); ok {
			fields = append(fields, model.Unenforced{Path: picks, Why: why})
			continue
		}
		open = append(open, model.Unenforced{Path: anyField(), Why: fmt.Sprintf("Argo CD may ignore this field%s: driftd does not evaluate an expression of jq (%s)", how, where)})
	}
	for _, name := range texts(entry.At("managedFieldsManagers")) {
		if name != "" {
			fields = append(fields, model.Unenforced{Path: anyField(), Writer: name, Why: why})
		}
	}
	return append(fields, open...)
}

// ignoredBy returns the rules of an Application.
// https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/
func ignoredBy(a *application) ignoreRules {
	how := ""
	if slices.Contains(texts(a.spec.At("syncPolicy", "syncOptions")), "RespectIgnoreDifferences=true") {
		how = ", in syncs too"
	}
	var rules ignoreRules
	for _, entry := range a.spec.At("ignoreDifferences").Items() {
		rules = append(rules, ignoreRule{func(o model.Value, namespace string) bool {
			kind, group, _ := strings.Cut(kindOf(o), ".")
			return fits(entry, "group", group, false) && fits(entry, "kind", kind, false) && fits(entry, "name", o.At("metadata", "name").Str(), true) &&
				fits(entry, "namespace", namespaceOf(o, namespace), true)
		}, argoFields(entry, how, "ignoreDifferences of Application "+shown(a.name))})
	}
	return rules
}

// fits reports whether the pattern in a field of an entry matches. optional reports whether an empty one matches all.
func fits(entry model.Value, field, text string, optional bool) bool {
	pattern := entry.At(field).Str()
	matches, err := path.Match(pattern, text)
	return err == nil && matches || optional && pattern == ""
}

// namespaceOf returns the namespace of an object, or that of objects that name none.
func namespaceOf(o model.Value, otherwise string) string {
	if own := o.At("metadata", "namespace").Str(); own != "" {
		return own
	}
	return otherwise
}

// customizations begins the keys of argocd-cm with rules for all Applications.
const customizations = "resource.customizations.ignoreDifferences."

// addConfigured adds the fields that the configuration of Argo CD ignores for all Applications, if it is among the objects.
func (r *argoReader) addConfigured() {
	at := slices.IndexFunc(r.all.objects, func(o object) bool {
		return kindOf(o.value) == "ConfigMap" && o.value.At("metadata", "name").Str() == "argocd-cm" && namespaceOf(o.value, o.namespace) == r.loader.argocd.Namespace
	})
	if at < 0 {
		return
	}
	for _, f := range r.all.objects[at].value.At("data").Fields() {
		name, is := strings.CutPrefix(f.Name, customizations)
		if !is {
			continue
		}
		documents, err := decode.YAML(strings.NewReader(f.Value.Str()))
		if err != nil || len(documents) != 1 {
			continue
		}
		fields := argoFields(documents[0].Value, "", shown(f.Name)+" in argocd-cm")
		for i := range r.all.objects {
			o := &r.all.objects[i]
			kind, group, _ := strings.Cut(kindOf(o.value), ".")
			if name == "all" || name == strings.TrimPrefix(group+"_"+kind, "_") {
				o.unenforced = slices.Concat(o.unenforced, fields)
			}
		}
	}
}

// driftMark is the label or annotation of an object that helm-controller does not correct, if its value is disabled.
const driftMark = "helm.toolkit.fluxcd.io/driftDetection"

// unenforced returns the fields of an object of the release that helm-controller does not correct.
// https://fluxcd.io/flux/components/helm/helmreleases/#drift-detection
func (h *helmRelease) unenforced(rules ignoreRules, o model.Value) []model.Unenforced {
	whole := func(format string, args ...any) []model.Unenforced {
		return []model.Unenforced{{Why: fmt.Sprintf(format, args...)}}
	}
	metadata := o.At("metadata")
	switch mode := h.spec.At("driftDetection", "mode").Str(); {
	case "kubernetes/"+kindOf(o) == kube.ReleaseKind:
		return nil
	case mode == "warn":
		return whole("Flux does not correct this: drift detection only warns (spec.driftDetection.mode of HelmRelease %s)", h.name)
	case mode != "enabled":
		return whole("Flux does not correct this: drift detection is off (spec.driftDetection.mode of HelmRelease %s)", h.name)
	case metadata.At("annotations", driftMark).Str() == "disabled", metadata.At("labels", driftMark).Str() == "disabled":
		return whole("Flux does not correct this: the object is marked %s: disabled", driftMark)
	}
	return rules.of(o, h.target)
}

// ignored returns the rules in driftDetection.ignore.
func (h *helmRelease) ignored() ignoreRules {
	var rules ignoreRules
	for _, entry := range h.spec.At("driftDetection", "ignore").Items() {
		target := entry.At("target")
		may := "ignores"
		if target.At("labelSelector").Str()+target.At("annotationSelector").Str() != "" {
			may = "may ignore"
		}
		rule := ignoreRule{matches: selector(target)}
		for _, text := range entry.At("paths").Items() {
			if picks, ok := pointer(text.Str()); ok || text.Str() == "" {
				what := map[bool]string{true: "field", false: "object"}[ok]
				rule.fields = append(rule.fields, model.Unenforced{Path: picks, Why: fmt.Sprintf("Flux %s this %s (driftDetection.ignore of HelmRelease %s)", may, what, h.name)})
			}
		}
		rules = append(rules, rule)
	}
	return rules
}

// selector returns whether an object is one that a selector of Flux selects, without its labels and annotations. Its texts are
// regular expressions.
func selector(target model.Value) func(model.Value, string) bool {
	patterns := map[string]*regexp.Regexp{}
	for _, f := range target.Fields() {
		expression, err := regexp.Compile("^(?:" + f.Value.Str() + ")$")
		if err != nil {
			return func(model.Value, string) bool { return false }
		}
		patterns[f.Name] = expression
	}
	return func(o model.Value, namespace string) bool {
		kind, group, _ := strings.Cut(kindOf(o), ".")
		version := o.At("apiVersion").Str()
		is := map[string]string{"group": group, "version": version[strings.LastIndexByte(version, '/')+1:], "kind": kind,
			"name": o.At("metadata", "name").Str(), "namespace": namespaceOf(o, namespace)}
		for field, text := range is {
			if p := patterns[field]; p != nil && target.At(field).Str() != "" && !p.MatchString(text) {
				return false
			}
		}
		return true
	}
}
