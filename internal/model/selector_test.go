package model

import "testing"

func TestSelectorFits(t *testing.T) {
	t.Parallel()
	f := &Finding{Verdict: Changed, Severity: High, Key: Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/web"},
		Place: "shop", Name: "web", Declaration: "deploy", Owner: "team-shop",
		Actor: Actor{Name: "kubectl-edit"}, Changes: []Change{{Path: "a", Actor: &Actor{Name: "mara"}}, {Path: "b"}},
		Labels: map[string]string{"app": "web", "tag": "", "path": "a/b"}}
	for reason, tc := range map[string]struct {
		selector Selector
		want     bool
	}{
		"an empty selector fits everything":       {Selector{}, true},
		"empty lists fit everything":              {Selector{Sources: []string{}, Verdicts: []Verdict{}, Labels: map[string]string{}}, true},
		"an empty pattern fits everything":        {Selector{Sources: []string{""}, Owners: []string{""}}, true},
		"a source":                                {Selector{Sources: []string{"prod"}}, true},
		"a source is not a part of its name":      {Selector{Sources: []string{"pro"}}, false},
		"a glob":                                  {Selector{Sources: []string{"p*"}}, true},
		"of a list one is enough":                 {Selector{Sources: []string{"edge", "prod"}}, true},
		"none of a list":                          {Selector{Sources: []string{"edge", "lab"}}, false},
		"a kind in full":                          {Selector{Kinds: []string{"kubernetes/Deployment.apps"}}, true},
		"a kind by its own name":                  {Selector{Kinds: []string{"Deployment.apps"}}, true},
		"a kind by a glob on its own name":        {Selector{Kinds: []string{"*.apps"}}, true},
		"all kinds of one type of source":         {Selector{Kinds: []string{"kubernetes/*"}}, true},
		"another kind":                            {Selector{Kinds: []string{"Deployment"}}, false},
		"a star stops at a slash":                 {Selector{Resources: []string{"*web"}}, false},
		"a star for each part":                    {Selector{Resources: []string{"*/w*"}}, true},
		"a question mark is one character":        {Selector{Resources: []string{"shop/we?"}}, true},
		"a broken pattern fits nothing":           {Selector{Resources: []string{"[", "shop/["}}, false},
		"a broken one beside one that fits":       {Selector{Resources: []string{"[", "shop/web"}}, true},
		"a namespace":                             {Selector{Namespaces: []string{"shop"}}, true},
		"another namespace":                       {Selector{Namespaces: []string{"web"}}, false},
		"a declaration":                           {Selector{Declarations: []string{"dep*"}}, true},
		"another declaration":                     {Selector{Declarations: []string{"infra"}}, false},
		"an owner":                                {Selector{Owners: []string{"team-*"}}, true},
		"another owner":                           {Selector{Owners: []string{"team"}}, false},
		"an actor":                                {Selector{Actors: []string{"kubectl-*"}}, true},
		"the actor of a field":                    {Selector{Actors: []string{"mara"}}, true},
		"another actor":                           {Selector{Actors: []string{"unknown"}}, false},
		"a verdict":                               {Selector{Verdicts: []Verdict{Missing, Changed}}, true},
		"another verdict":                         {Selector{Verdicts: []Verdict{Missing}}, false},
		"verdicts are no globs":                   {Selector{Verdicts: []Verdict{"*"}}, false},
		"a severity":                              {Selector{Severities: []Severity{High}}, true},
		"a worse severity is another":             {Selector{Severities: []Severity{Critical}}, false},
		"a label and its value":                   {Selector{Labels: map[string]string{"app": "web"}}, true},
		"a label with any value":                  {Selector{Labels: map[string]string{"app": ""}}, true},
		"a label with another value":              {Selector{Labels: map[string]string{"app": "db"}}, false},
		"a label by a glob":                       {Selector{Labels: map[string]string{"app": "w*"}}, true},
		"a star in a label stops at a slash too":  {Selector{Labels: map[string]string{"path": "*"}}, false},
		"a tag has no value":                      {Selector{Labels: map[string]string{"tag": ""}}, true},
		"a tag fits a star":                       {Selector{Labels: map[string]string{"tag": "*"}}, true},
		"a label that is not there":               {Selector{Labels: map[string]string{"team": ""}}, false},
		"names of labels are no globs":            {Selector{Labels: map[string]string{"a*": ""}}, false},
		"of labels all must be there":             {Selector{Labels: map[string]string{"app": "web", "team": ""}}, false},
		"all that is given fits":                  {Selector{Sources: []string{"prod"}, Verdicts: []Verdict{Changed}, Labels: map[string]string{"app": ""}}, true},
		"one of all that is given does not":       {Selector{Sources: []string{"prod"}, Verdicts: []Verdict{Changed}, Owners: []string{"x"}}, false},
		"a name that people use is no resource's": {Selector{Resources: []string{"web"}}, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if got := tc.selector.Fits(f); got != tc.want {
				t.Errorf("%+v fits: %t", tc.selector, got)
			}
		})
	}
}

// TestSelectorFitsMembers matches members of a declaration by its name.
func TestSelectorFitsMembers(t *testing.T) {
	t.Parallel()
	f := &Finding{Key: Key{Source: "plan:infra/prod/dns"}, Declaration: "infra/prod/dns"}
	for _, tc := range []struct {
		selector Selector
		want     bool
	}{
		{Selector{Sources: []string{"*"}, Declarations: []string{"*"}}, true},
		{Selector{Sources: []string{"plan:*"}}, true},
		{Selector{Sources: []string{"plan:infra"}, Declarations: []string{"infra"}}, true},
		{Selector{Declarations: []string{"infra/prod/dns"}}, true},
		{Selector{Declarations: []string{"infra/*/dns"}}, true},
		{Selector{Declarations: []string{"infra/*"}}, false},
		{Selector{Declarations: []string{"other"}}, false},
		{Selector{Sources: []string{"plan:other", "infra"}}, false},
	} {
		if got := tc.selector.Fits(f); got != tc.want {
			t.Errorf("%+v: got %t", tc.selector, got)
		}
	}
}

func TestSelectorFitsWhatHasNothing(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		selector Selector
		want     bool
	}{
		"an empty selector":             {Selector{}, true},
		"a star fits nothing at all":    {Selector{Owners: []string{"*"}, Namespaces: []string{"*"}}, true},
		"a word does not":               {Selector{Owners: []string{"team"}}, false},
		"an unknown actor":              {Selector{Actors: []string{"unknown"}}, true},
		"a label that nobody gave it":   {Selector{Labels: map[string]string{"app": ""}}, false},
		"a verdict that it has not got": {Selector{Verdicts: []Verdict{Changed}}, false},
	} {
		if got := tc.selector.Fits(&Finding{}); got != tc.want {
			t.Errorf("%s: %+v fits: %t", reason, tc.selector, got)
		}
	}
}
