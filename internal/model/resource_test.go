package model_test

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestConditionHolds(t *testing.T) {
	t.Parallel()
	text := func(name, value string) model.Value {
		return model.MapOf(model.Field{Name: name, Value: model.StringOf(value)})
	}
	value := model.MapOf(model.Field{Name: "volumes", Value: model.ListOf(text("a", "x"), text("b", ""))},
		model.Field{Name: "none", Value: model.ListOf()}, model.Field{Name: "mode", Value: model.StringOf("on")})
	for reason, tc := range map[string]struct {
		condition model.Condition
		want      bool
	}{
		"the text":                     {model.Condition{Path: "mode", In: []string{"off", "on"}}, true},
		"another text":                 {model.Condition{Path: "mode", In: []string{"off"}}, false},
		"a field that is not there":    {model.Condition{Path: "gone", In: []string{""}}, true},
		"an element":                   {model.Condition{Path: "volumes.a", In: []string{"x"}}, true},
		"present":                      {model.Condition{Path: "mode", Present: true}, true},
		"present in an element":        {model.Condition{Path: "volumes.a", Present: true}, true},
		"present without content":      {model.Condition{Path: "volumes.b", Present: true}, true},
		"not present":                  {model.Condition{Path: "gone", Present: true}, false},
		"not present in an element":    {model.Condition{Path: "volumes.c", Present: true}, false},
		"not present in an empty list": {model.Condition{Path: "none.a", Present: true}, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if got := tc.condition.Holds(value); got != tc.want {
				t.Errorf("Holds() = %t", got)
			}
		})
	}
}
