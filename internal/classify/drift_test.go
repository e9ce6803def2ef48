package classify

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// A rule with conditions sees what a change brought, took away or left.
func TestConditionsSeeTheChange(t *testing.T) {
	t.Parallel()
	in := func(path string, with ...model.Condition) []model.Condition {
		return []model.Condition{{Path: path, With: with}}
	}
	allow, open := model.Condition{Path: "act", In: []string{"allow"}}, model.Condition{Path: "from", In: []string{"", "all"}}
	rules := model.SeverityRule{Path: "rules", Where: in("rules", allow, open)}
	from := model.SeverityRule{Path: "rules.from", Where: in("rules", allow, open)}
	flag := model.SeverityRule{Path: "flag", Where: []model.Condition{{Path: "flag", In: []string{"off", ""}}}}
	context := model.SeverityRule{Path: "name", Where: []model.Condition{{Path: "public", In: []string{"true"}}}}
	lost := model.SeverityRule{Path: "acts", Removed: true, Where: []model.Condition{{Path: "acts", In: []string{"deny"}}}}
	plain := model.SeverityRule{Path: "box.image"}
	box := model.SeverityRule{Path: "box", Where: []model.Condition{{Path: "box", Present: true}}}
	anyone := model.SeverityRule{Path: "from", Where: []model.Condition{{Path: "from", In: []string{"", "all"}}}}
	for reason, tc := range map[string]struct {
		rule           model.SeverityRule
		resource       string
		path, livePath string
		declared, live string // "" for an absent side
		want           bool
	}{
		"the element that changed":                    {rules, `{"rules":[{"act":"allow","from":"all"}]}`, "rules[0].from", "", `"a"`, `"all"`, true},
		"the other way":                               {rules, `{"rules":[{"act":"allow","from":"a"}]}`, "rules[0].from", "", `"all"`, `"a"`, false},
		"another element":                             {rules, `{"rules":[{"act":"allow","from":"all"},{"act":"allow","from":"b"}]}`, "rules[1].from", "", `"a"`, `"b"`, false},
		"beside it in the element":                    {rules, `{"rules":[{"act":"allow","from":"all","port":1}]}`, "rules[0].port", "", `2`, `1`, true},
		"beside it, for one field":                    {from, `{"rules":[{"act":"allow","from":"all","port":1}]}`, "rules[0].port", "", `2`, `1`, false},
		"the position is of another list":             {rules, `{"rules":[{"act":"deny","from":"a"},{"act":"allow","from":"all"}]}`, "rules[0].from", "", `"b"`, `"all"`, true},
		"the position is live":                        {rules, `{"rules":[{"act":"allow","from":"all"},{"act":"deny","from":"all"}]}`, "x", "rules[1].from", `"b"`, `"all"`, false},
		"an added element":                            {rules, `{"rules":[{"act":"deny"},{"act":"allow"}]}`, "rules[1]", "", ``, `{"act":"allow"}`, true},
		"an added element, for one field":             {from, `{"rules":[{"act":"allow","from":"all"}]}`, "rules[0]", "", ``, `{"act":"allow","from":"all"}`, true},
		"an added element without the field":          {from, `{"rules":[{"act":"allow"}]}`, "rules[0]", "", ``, `{"act":"allow"}`, false},
		"an added element beside":                     {rules, `{"rules":[{"act":"allow"},{"act":"deny"}]}`, "rules[1]", "", ``, `{"act":"deny"}`, false},
		"a list with one more":                        {rules, `{"rules":[{"act":"deny"},{"act":"allow"}]}`, "rules", "", `[{"act":"deny"}]`, `[{"act":"deny"},{"act":"allow"}]`, true},
		"a list with one more beside":                 {rules, `{"rules":[{"act":"allow"},{"act":"deny"}]}`, "rules", "", `[{"act":"allow"}]`, `[{"act":"allow"},{"act":"deny"}]`, false},
		"a list with one less":                        {rules, `{"rules":[{"act":"allow"}]}`, "rules", "", `[{"act":"allow"},{"act":"deny"}]`, `[{"act":"allow"}]`, false},
		"a list in a map":                             {rules, `{"rules":{"act":"allow","from":[]}}`, "rules", "", `{"act":"allow","from":[]}`, `{"act":"allow","from":[]}`, true},
		"a field removed":                             {rules, `{"rules":[{"act":"allow"}]}`, "rules[0].from", "", `"a"`, ``, true},
		"a field removed that said no more":           {rules, `{"rules":[{"act":"allow"}]}`, "rules[0].from", "", `"all"`, ``, false},
		"the last of a list removed":                  {rules, `{"rules":[{"act":"allow"}]}`, "rules[0].from[=a]", "", `"a"`, ``, true},
		"one of a list removed":                       {rules, `{"rules":[{"act":"allow","from":["all"]}]}`, "rules[0].from[=a]", "", `"a"`, ``, false},
		"an element removed":                          {rules, `{"rules":[{"act":"allow"}]}`, "rules[1]", "", `{"act":"deny"}`, ``, false},
		"a field of an element that is gone":          {rules, `{"rules":[{"act":"allow"}]}`, "x", "rules[-1].from", `"a"`, ``, false},
		"a field that no element has so":              {rules, `{"rules":[{"act":"allow","from":"all"}]}`, "rules[1].from", "", `"a"`, ``, false},
		"one of a list removed, and another one left": {rules, `{"rules":[{"act":"allow","from":["b"]}]}`, "rules[0].from[=a]", "", `"a"`, ``, false},
		"two of a list removed, one of them all":      {rules, `{"rules":[{"act":"allow"}]}`, "rules[0].from", "", `["a","all"]`, ``, false},
		"beside it, and removed":                      {rules, `{"rules":[{"act":"allow"}]}`, "rules[0].port", "", `80`, ``, true},
		"beside it, removed, and it is safe":          {rules, `{"rules":[{"act":"deny"}]}`, "rules[0].port", "", `80`, ``, false},
		"another element, and removed":                {from, `{"rules":[{"act":"allow","from":"all"}]}`, "rules[0].port", "", `80`, ``, false},
		"a part of what a condition wants":            {box, `{"box":{"name":"x"}}`, "box.image", "", `"y"`, ``, false},
		"a part of it, changed":                       {box, `{"box":{"image":"x"}}`, "box.image", "", `"y"`, `"x"`, true},
		"all of what a condition wants":               {box, `{}`, "box", "", `{"image":"y"}`, ``, false},
		"no element is as the change":                 {model.SeverityRule{Where: in("rules", allow)}, `{"rules":[{"act":"allow","from":"all"}]}`, "rules[0].from", "", `"a"`, `"ALL"`, true},
		"no element is so, and none fits":             {model.SeverityRule{Where: in("rules", allow)}, `{"rules":[{"act":"deny","from":"all"}]}`, "rules[0].from", "", `"a"`, `"ALL"`, false},
		"a list where nothing was":                    {anyone, `{"from":["all"]}`, "from", "", ``, `["all"]`, true},
		"a safe list where nothing was":               {anyone, `{"from":["a"]}`, "from", "", ``, `["a"]`, false},
		"an empty list where nothing was":             {anyone, `{"from":[]}`, "from", "", ``, `[]`, false},
		"an empty list where one was":                 {anyone, `{"from":[]}`, "from", "", `["a"]`, `[]`, true},
		"an empty list where all was":                 {anyone, `{"from":[]}`, "from", "", `["all"]`, `[]`, false},
		"an empty text where nothing was":             {anyone, `{"from":""}`, "from", "", ``, `""`, true},
		"a text where a list was":                     {anyone, `{"from":"all"}`, "from", "", `["a"]`, `"all"`, true},
		"a list in which only the order is another":   {anyone, `{"from":["all","a"]}`, "from", "", `["a","all"]`, `["all","a"]`, false},
		"a flag":                             {flag, `{"flag":"off"}`, "flag", "", `"on"`, `"off"`, true},
		"a flag removed":                     {flag, `{}`, "flag", "", `"on"`, ``, true},
		"a flag removed that was off":        {flag, `{}`, "flag", "", `"off"`, ``, false},
		"another flag":                       {flag, `{"flag":"off","flags":"x"}`, "flags", "", ``, `"x"`, false},
		"a condition on another field":       {context, `{"public":true,"name":"x"}`, "name", "", `"y"`, `"x"`, true},
		"on another field, and removed":      {context, `{"public":true}`, "name", "", `"y"`, ``, true},
		"in the words of the declaration":    {context, `{"public":true,"name":"x"}`, "title", "name", `"y"`, `"X"`, true},
		"not so, in these words":             {context, `{"public":false,"name":"x"}`, "title", "name", `"y"`, `"X"`, false},
		"what was removed":                   {lost, `{"acts":["audit"]}`, "acts[=deny]", "", `"deny"`, ``, true},
		"something else was removed":         {lost, `{"acts":["deny"]}`, "acts[=audit]", "", `"audit"`, ``, false},
		"what was removed from a list":       {lost, `{"acts":["audit"]}`, "acts", "", `["audit","deny"]`, `["audit"]`, true},
		"something else from a list":         {lost, `{"acts":["deny"]}`, "acts", "", `["audit","deny"]`, `["deny"]`, false},
		"it was added":                       {lost, `{"acts":["deny"]}`, "acts", "", `["audit"]`, `["audit","deny"]`, false},
		"it was replaced by a text":          {lost, `{"acts":"x"}`, "acts", "", `["deny"]`, `"x"`, false},
		"a part of a removed element":        {model.SeverityRule{Path: "box.image", Removed: true}, `{}`, "box", "", `{"image":"x"}`, ``, true},
		"no part of a removed element":       {model.SeverityRule{Path: "box.image", Removed: true}, `{}`, "box", "", `{"name":"x"}`, ``, false},
		"a part of it was removed":           {model.SeverityRule{Path: "box", Removed: true}, `{"box":{}}`, "box.image", "", `"x"`, ``, false},
		"without conditions":                 {plain, `{"box":{"image":"x"}}`, "box.image", "", `"y"`, `"x"`, true},
		"without conditions, the whole":      {plain, `{"box":{"image":"x"}}`, "box", "", ``, `{"image":"x"}`, true},
		"without conditions, the whole less": {plain, `{"box":{"name":"x"}}`, "box", "", ``, `{"name":"x"}`, false},
		"without conditions, a similar name": {plain, `{"box":{"images":"x"}}`, "box.images", "", ``, `"x"`, false},
		"a name with dots":                   {model.SeverityRule{Path: `data["a.b"]`}, `{"data":{"a.b":"x"}}`, `data["a.b"]`, "", `"y"`, `"x"`, true},
		"another name with dots":             {model.SeverityRule{Path: `data["a.b"]`}, `{"data":{"a.c":"x"}}`, `data["a.c"]`, "", `"y"`, `"x"`, false},
		"a map below":                        {model.SeverityRule{Path: "data"}, `{"data":{"a.c":"x"}}`, `data["a.c"]`, "", `"y"`, `"x"`, true},
		"nothing on both sides":              {flag, `{}`, "flag", "", ``, ``, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := &model.Subject{Live: &model.Resource{Value: *parsed(t, tc.resource)}}
			c := &model.Change{Path: tc.path, LivePath: tc.livePath, Declared: parsed(t, tc.declared), Live: parsed(t, tc.live)}
			if got := newChangedField(s, nil, c).fits(&tc.rule); got != tc.want {
				t.Errorf("fits: %t", got)
			}
			c.Declared, c.Recorded = nil, c.Declared
			if got := newChangedField(s, nil, c).fits(&tc.rule); got != tc.want {
				t.Errorf("fits with a recorded side: %t", got)
			}
		})
	}
}

func parsed(t *testing.T, text string) *model.Value {
	t.Helper()
	if text == "" {
		return nil
	}
	var v model.Value
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return &v
}

// A finding about a whole resource is rated by what is live, or, of a missing one, by
// what is declared.
func TestConditionsSeeTheWhole(t *testing.T) {
	t.Parallel()
	rule := model.SeverityRule{Where: []model.Condition{{Path: "a", In: []string{"x"}}}, Severity: model.Critical}
	field, removed := rule, rule
	field.Path, removed.Removed = "a", true
	claim := &model.Claim{Value: *parsed(t, `{"a":"x"}`)}
	live := &model.Resource{Value: *parsed(t, `{"a":"x"}`)}
	for reason, tc := range map[string]struct {
		rule  model.SeverityRule
		live  *model.Resource
		claim *model.Claim
		want  bool
	}{
		"what is live":                   {rule, live, nil, true},
		"a field of it":                  {field, live, nil, true},
		"a field without conditions":     {model.SeverityRule{Path: "a", Severity: model.Critical}, live, nil, false},
		"something else is live":         {rule, &model.Resource{}, claim, false},
		"what is declared":               {rule, nil, claim, true},
		"something else is declared":     {rule, nil, &model.Claim{}, false},
		"nothing is declared":            {rule, nil, nil, false},
		"declared in other words":        {rule, nil, &model.Claim{Value: claim.Value, Lens: otherWords{}}, false},
		"nothing was removed":            {removed, live, nil, false},
		"what was removed was declared":  {removed, nil, claim, true},
		"no conditions, and nothing":     {model.SeverityRule{Severity: model.Critical}, nil, nil, true},
		"other IDs, and what is live":    {model.SeverityRule{IDs: []string{"y"}, Severity: model.Critical}, live, nil, false},
		"the ID of what is live":         {model.SeverityRule{IDs: []string{"*/x"}, Severity: model.Critical}, live, nil, true},
		"another verdict, and all of it": {model.SeverityRule{Verdicts: []model.Verdict{model.Moved}, Severity: model.Critical}, live, nil, false},
	} {
		s := &model.Subject{Key: model.Key{ID: "ns/x"}, Kind: &model.Kind{Severities: []model.SeverityRule{tc.rule}}, Live: tc.live}
		if got, _ := rate(s, tc.claim, model.Missing, nil); (got == model.Critical) != tc.want {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

type otherWords struct{}

func (otherWords) Schema() *model.Schema               { return nil }
func (otherWords) View(live model.Value) model.Value   { return live }
func (otherWords) LivePath(model.Value, string) string { return "" }
func (otherWords) LiveValue(model.Value, string, model.Value) (model.Value, bool) {
	return model.Value{}, false
}
func (otherWords) IsShared(string) bool        { return false }
func (otherWords) Misfit(*model.Schema) string { return "" }

func TestParseSteps(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]step{
		`a.b`:             {{name: "a"}, {name: "b"}},
		`a[2].b`:          {{name: "a"}, {element: true, index: 2}, {name: "b"}},
		`a[-1].b`:         {{name: "a"}, {element: true, index: nowhere}, {name: "b"}},
		`a["b.c"][=x]`:    {{name: "a"}, {name: "b.c"}, {element: true, index: anywhere}},
		`["b.c"].d`:       {{name: "b.c"}, {name: "d"}},
		`a[x="]"].b`:      {{name: "a"}, {element: true, index: anywhere}, {name: "b"}},
		`a[x="\"]"]["b"]`: {{name: "a"}, {element: true, index: anywhere}, {name: "b"}},
		`a[0`:             {{name: "a"}, {element: true, index: 0}},
		``:                nil,
	} {
		got := parseSteps(path, true)
		same := len(got) == len(want)
		for i := 0; same && i < len(got); i++ {
			same = got[i] == want[i]
		}
		if !same {
			t.Errorf("%s: %+v", path, got)
		}
	}
	for _, bracket := range []string{"[2]", "[-1]", "[a=b]"} {
		if got := element(bracket, false); got.index != anywhere || !got.element {
			t.Errorf("%s of a declared list: %+v", bracket, got)
		}
	}
}
