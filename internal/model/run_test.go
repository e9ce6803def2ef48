package model

import "testing"

func TestRunHolds(t *testing.T) {
	t.Parallel()
	run := Run{Sources: []SourceRun{{Name: "prod"}}, Declarations: []DeclarationRun{{Name: "shop"}}}
	of := func(source, declaration string) Finding {
		return Finding{Key: Key{Source: source}, Declaration: declaration}
	}
	for reason, tc := range map[string]struct {
		finding Finding
		want    bool
	}{
		"both were looked at":                        {of("prod", "shop"), true},
		"nobody declares it":                         {of("prod", ""), true},
		"a declaration that could not be read":       {of("", "shop"), true},
		"the source is another scan's":               {of("edge", "shop"), false},
		"the declaration is another scan's":          {of("prod", "infra"), false},
		"the declaration is, and there is no source": {of("", "infra"), false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if got := run.Includes(&tc.finding); got != tc.want {
				t.Errorf("Holds() = %v, want %v: %s", got, tc.want, reason)
			}
		})
	}
}
