package terraform

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestPathText(t *testing.T) {
	t.Parallel()
	steps := []model.Step{{Text: "disk"}, {Kind: model.IndexStep, Text: "0"}, {Text: "labels"}, {Text: "a.b"}, {Text: "x-y_Z9"}}
	if got := pathText(steps); got != `disk[0].labels["a.b"].x-y_Z9` {
		t.Error(got)
	}
	if got := pathText(nil); got != "" {
		t.Error(got)
	}
	if got := pathText([]model.Step{{Text: ""}}); got != `[""]` {
		t.Error(got)
	}
}
