package classify

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestRuleValue(t *testing.T) {
	t.Parallel()
	text := func(s string) *model.Value { v := model.StringOf(s); return &v }
	digest, count := model.DigestOf("feedface"), model.IntOf(3)
	list := model.ListOf(model.StringOf("x"), model.DigestOf("feedface"))
	for reason, tc := range map[string]struct {
		rule   Rule
		change model.Change
		hidden bool
	}{
		"the live value":                          {Rule{Value: "managed by *"}, model.Change{Live: text("managed by backup")}, true},
		"another live value":                      {Rule{Value: "managed by *"}, model.Change{Live: text("by hand")}, false},
		"what is declared where nothing is live":  {Rule{Value: "blue"}, model.Change{Declared: text("blue")}, true},
		"what is declared does not count else":    {Rule{Value: "blue"}, model.Change{Declared: text("blue"), Live: text("red")}, false},
		"neither live nor declared":               {Rule{Value: "*"}, model.Change{Recorded: text("blue")}, false},
		"a star stops at a slash":                 {Rule{Value: "*"}, model.Change{Live: text("a/b")}, false},
		"a number is as it is written":            {Rule{Value: "3"}, model.Change{Live: &count}, true},
		"the path and the value":                  {Rule{Path: "a.*", Value: "red"}, model.Change{Live: text("red")}, true},
		"the value, and not the path":             {Rule{Path: "b.*", Value: "red"}, model.Change{Live: text("red")}, false},
		"a broken pattern fits nothing":           {Rule{Value: "["}, model.Change{Live: text("[")}, false},
		"a secret, by any pattern":                {Rule{Value: "*"}, model.Change{Secret: true, Live: &digest}, false},
		"a secret, by how it is shown":            {Rule{Value: "(secret)"}, model.Change{Secret: true, Live: &digest}, false},
		"a secret, by its digest":                 {Rule{Value: "feedface"}, model.Change{Secret: true, Live: &digest}, false},
		"a digest without the mark of a secret":   {Rule{Value: "feedface"}, model.Change{Live: &digest}, false},
		"a digest in a list":                      {Rule{Value: "*feedface*"}, model.Change{Live: &list}, false},
		"a secret in the clear, to be quite safe": {Rule{Value: "hunter2"}, model.Change{Secret: true, Live: text("hunter2")}, false},
		"a rule without a value hides secrets":    {Rule{Path: "a.b"}, model.Change{Secret: true, Live: &digest}, true},
		"the path, and another value":             {Rule{Path: "a.*", Value: "red"}, model.Change{Live: text("blue")}, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			o := changed("a.b")
			tc.change.Path = "a.b"
			o.Changes = []model.Change{tc.change}
			in := input(o)
			tc.rule.Reason = "r"
			in.Rules = []Rule{tc.rule}
			result := Findings(in)
			if f := result.Current[0]; (f.Hidden != "") != tc.hidden {
				t.Errorf("hidden %q, want %t", f.Hidden, tc.hidden)
			}
			if dead := result.Rules[0].Dead(); dead == tc.hidden {
				t.Errorf("the rule is dead: %t", dead)
			}
		})
	}
}

// TestRulePath matches the path of a field with its list keys, and without them.
func TestRulePath(t *testing.T) {
	t.Parallel()
	const image, plain = `spec.containers[name=a].image`, "spec.replicas"
	for reason, tc := range map[string]struct {
		pattern, path string
		hidden        bool
	}{
		"the path":                       {"spec.replicas", plain, true},
		"a glob":                         {"spec.*", plain, true},
		"another path":                   {"spec.paused", plain, false},
		"the beginning of the path":      {"spec", plain, false},
		"without list keys":              {"spec.containers.image", image, true},
		"a glob without list keys":       {"spec.containers.*", image, true},
		"with a list key":                {`spec.containers\[name=a\].image`, image, true},
		"with another list key":          {`spec.containers\[name=b\].image`, image, false},
		"any list key":                   {`spec.containers\[*\].image`, image, true},
		"brackets are a class of a glob": {"spec.container[s].image", image, true},
		"no pattern":                     {"", image, true},
	} {
		in := input(changed(tc.path))
		in.Rules = []Rule{{Path: tc.pattern, Reason: "r"}}
		if got := Findings(in).Current[0].Hidden != ""; got != tc.hidden {
			t.Errorf("%s: hidden %t", reason, got)
		}
	}
}

// TestRuleOfWholeFindings holds that a rule for fields hides no finding on a whole
// resource, and that a rule without them does.
func TestRuleOfWholeFindings(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		rule   Rule
		hidden bool
	}{
		"a path":              {Rule{Path: "*"}, false},
		"a value":             {Rule{Value: "*"}, false},
		"a path and a kind":   {Rule{Kind: "Thing", Path: "*"}, false},
		"a kind":              {Rule{Kind: "Thing"}, true},
		"everything":          {Rule{}, true},
		"another kind":        {Rule{Kind: "Other"}, false},
		"a resource":          {Rule{Resource: "p/*"}, true},
		"another resource":    {Rule{Resource: "q/*"}, false},
		"a source":            {Rule{Source: "s"}, true},
		"another source":      {Rule{Source: "t"}, false},
		"it ends now":         {Rule{Kind: "Thing", Expires: now}, false},
		"it ends in a second": {Rule{Kind: "Thing", Expires: now.Add(time.Second)}, true},
		"it has ended":        {Rule{Kind: "Thing", Expires: earlier}, false},
	} {
		in := input(model.Outcome{Verdict: model.Missing, Claim: &model.Claim{Declaration: "d"}})
		tc.rule.Reason = "r"
		in.Rules = []Rule{tc.rule}
		r := Findings(in)
		if got := r.Current[0].Hidden != ""; got != tc.hidden || r.Rules[0].Findings != map[bool]int{true: 1}[tc.hidden] || r.Rules[0].Fields != 0 {
			t.Errorf("%s: hidden %t, and the rule hid %+v", reason, got, r.Rules[0])
		}
	}
}

// TestRulesTakeFields has rules that each take one field of a finding with a and b.
func TestRulesTakeFields(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		paths         []string
		left, ignored string
		hidden        string
		counts        []int
	}{
		"none fits":           {[]string{"c"}, "a b", "", "", []int{0}},
		"the first field":     {[]string{"a"}, "b", "a", "", []int{1}},
		"the last field":      {[]string{"b"}, "a", "b", "", []int{1}},
		"both, one by one":    {[]string{"a", "b"}, "b", "a", "b", []int{1, 0}},
		"both at once":        {[]string{"?"}, "a b", "", "?", []int{0}},
		"the second rule":     {[]string{"c", "b"}, "a", "b", "", []int{0, 1}},
		"the same rule twice": {[]string{"a", "a"}, "b", "a", "", []int{1, 0}},
	} {
		o := changed("a")
		o.Changes = append(o.Changes, changed("b").Changes...)
		in := input(o)
		for _, path := range tc.paths {
			in.Rules = append(in.Rules, Rule{Path: path, Reason: path})
		}
		r := Findings(in)
		f := r.Current[0]
		var ignored []string
		for _, c := range f.Ignored {
			ignored = append(ignored, c.Path)
		}
		if left := strings.Join(pathsOf(&f), " "); left != tc.left || strings.Join(ignored, " ") != tc.ignored || f.Hidden != tc.hidden {
			t.Errorf("%s: %q left, %q ignored, hidden %q", reason, left, ignored, f.Hidden)
		}
		for i, want := range tc.counts {
			if r.Rules[i].Fields != want {
				t.Errorf("%s: rule %d took %d fields, want %d", reason, i+1, r.Rules[i].Fields, want)
			}
		}
	}
}

func TestRuleString(t *testing.T) {
	t.Parallel()
	for want, rule := range map[string]Rule{
		"": {Reason: "r", Expires: time.Unix(1, 0)},
		"source=prod kind=Deployment.apps resource=shop/* path=spec.replicas value=3": {
			Source: "prod", Kind: "Deployment.apps", Resource: "shop/*", Path: "spec.replicas", Value: "3", Reason: "r"},
		"kind=qemu value=managed by *": {Kind: "qemu", Value: "managed by *"},
	} {
		if got := rule.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOwners(t *testing.T) {
	t.Parallel()
	kind := func(pattern, owner string) OwnerRule {
		return OwnerRule{model.Selector{Kinds: []string{pattern}}, owner}
	}
	for reason, tc := range map[string]struct {
		rules []OwnerRule
		want  string
	}{
		"nobody says":                      {nil, ""},
		"the first that fits":              {[]OwnerRule{kind("Thing", "one"), kind("*", "two")}, "one"},
		"the same, the other way round":    {[]OwnerRule{kind("*", "two"), kind("Thing", "one")}, "two"},
		"those that do not fit are passed": {[]OwnerRule{kind("Other", "zero"), kind("test/*", "one"), kind("Thing", "two")}, "one"},
		"none fits":                        {[]OwnerRule{kind("Other", "zero")}, ""},
		"one that fits may say nobody":     {[]OwnerRule{kind("Thing", ""), kind("*", "two")}, ""},
		"by the resource's labels":         {[]OwnerRule{{model.Selector{Labels: map[string]string{"team": "shop"}}, "team-shop"}}, "team-shop"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			in := input(changed("a"))
			in.Owners = tc.rules
			label(in.Judged[0].Subject, model.MapOf(model.Field{Name: "team", Value: model.StringOf("shop")}))
			if got := Findings(in).Current[0].Owner; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// label makes a subject live, with labels.
func label(s *model.Subject, labels model.Value) {
	s.Kind = &model.Kind{Labels: "meta.labels"}
	s.Live = &model.Resource{Key: s.Key, Value: model.MapOf(
		model.Field{Name: "meta", Value: model.MapOf(model.Field{Name: "labels", Value: labels})})}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	text := model.StringOf
	for reason, tc := range map[string]struct {
		labels model.Value
		want   map[string]string
	}{
		"a map":                    {model.MapOf(model.Field{Name: "app", Value: text("web")}, model.Field{Name: "team", Value: text("")}), map[string]string{"app": "web", "team": ""}},
		"a map of what is no text": {model.MapOf(model.Field{Name: "n", Value: model.IntOf(1)}, model.Field{Name: "s", Value: model.DigestOf("feedface")}), map[string]string{"n": "", "s": ""}},
		"a list":                   {model.ListOf(text("web"), text("prod"), text("web")), map[string]string{"web": "", "prod": ""}},
		"a list with what is none": {model.ListOf(text(""), model.IntOf(1), model.DigestOf("feedface"), text("web")), map[string]string{"web": ""}},
		"a text of tags":           {text("web;prod; old "), map[string]string{"web": "", "prod": "", "old": ""}},
		"a text with empty tags":   {text(";web;;"), map[string]string{"web": ""}},
		"an empty map":             {model.MapOf(), nil},
		"an empty list":            {model.ListOf(), nil},
		"an empty text":            {text(""), nil},
		"something else":           {model.IntOf(3), nil},
		"nothing":                  {model.Value{}, nil},
		"a secret":                 {model.DigestOf("feedface"), nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			in := input(changed("a"))
			label(in.Judged[0].Subject, tc.labels)
			if diff := cmp.Diff(tc.want, Findings(in).Current[0].Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLabelsAreLiveOrElseDeclared(t *testing.T) {
	t.Parallel()
	labelled := func(app string) model.Value {
		return model.MapOf(model.Field{Name: "meta", Value: model.MapOf(
			model.Field{Name: "labels", Value: model.MapOf(model.Field{Name: "app", Value: model.StringOf(app)})})})
	}
	kind, live := &model.Kind{Labels: "meta.labels"}, &model.Resource{Value: labelled("live")}
	claim := &model.Claim{Declaration: "d", Value: labelled("declared")}
	foreign := &model.Claim{Declaration: "d", Value: labelled("declared"), Lens: lens{}}
	for reason, tc := range map[string]struct {
		kind  *model.Kind
		live  *model.Resource
		claim *model.Claim
		want  map[string]string
	}{
		"live":                                 {kind, live, claim, map[string]string{"app": "live"}},
		"live, and claimed by nobody":          {kind, live, nil, map[string]string{"app": "live"}},
		"declared where nothing is live":       {kind, nil, claim, map[string]string{"app": "declared"}},
		"live without labels":                  {kind, &model.Resource{}, claim, nil},
		"declared in words of its own":         {kind, nil, foreign, nil},
		"a kind that has none":                 {&model.Kind{}, live, claim, nil},
		"a kind of which nothing is known":     {nil, live, claim, nil},
		"neither live nor declared by anybody": {kind, nil, nil, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			in := input(model.Outcome{Verdict: model.Missing, Claim: tc.claim})
			s := in.Judged[0].Subject
			s.Kind, s.Live = tc.kind, tc.live
			if diff := cmp.Diff(tc.want, Findings(in).Current[0].Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

// A lens is one of which nothing is asked.
type lens struct{ model.Lens }

// TestSecretsAreNoLabels holds that what a declaration keeps secret does not come
// out as a label of the live resource.
func TestSecretsAreNoLabels(t *testing.T) {
	t.Parallel()
	s := &model.Subject{Kind: &model.Kind{Labels: "metadata"}, Live: &model.Resource{Value: model.MapOf(model.Field{Name: "metadata", Value: model.MapOf(
		model.Field{Name: "role", Value: model.StringOf("web")}, model.Field{Name: "password", Value: model.StringOf("hunter2")})})}}
	digest := model.DigestOf("digest")
	entry := model.MapOf(model.Field{Name: "metadata", Value: model.MapOf(model.Field{Name: "password", Value: digest})})
	for reason, test := range map[string]struct {
		claims []*model.Claim
		want   map[string]string
	}{
		"nobody says that it is one":  {[]*model.Claim{{}}, map[string]string{"role": "web", "password": "hunter2"}},
		"an entry is one":             {[]*model.Claim{{}, {Value: entry}}, map[string]string{"role": "web"}},
		"the record says that it is":  {[]*model.Claim{{Recorded: &entry}}, map[string]string{"role": "web"}},
		"all that people sort by are": {[]*model.Claim{{Value: model.MapOf(model.Field{Name: "metadata", Value: digest})}}, nil},
	} {
		s.Claims = test.claims
		if got := labels(s, nil); !maps.Equal(got, test.want) {
			t.Errorf("%s: labels %v, want %v", reason, got, test.want)
		}
	}
}
