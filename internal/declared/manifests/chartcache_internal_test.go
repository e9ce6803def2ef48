package manifests

import (
	"strconv"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestChartCaches verifies that all charts of a reading are kept within the limit, and that none is kept beyond it.
func TestChartCaches(t *testing.T) {
	t.Parallel()
	rendered := content{objects: []object{{value: model.MapOf(model.Field{Name: "kind", Value: model.StringOf("ConfigMap")})}}}
	each := rendered.objects[0].value.Weight()
	const charts = 200
	for reason, tt := range map[string]struct {
		limit int64
		want  int
	}{
		"room for all":  {charts * (each + 3), charts},
		"room for none": {each - 1, 0},
	} {
		all := chartCaches{limit: tt.limit}
		for i := range charts {
			all.put(all.of(strconv.Itoa(i)), chartKey{byte(i)}, rendered)
		}
		kept := 0
		for i := range charts {
			if _, ok := all.of(strconv.Itoa(i)).get(chartKey{byte(i)}); ok {
				kept++
			}
		}
		if kept != tt.want {
			t.Errorf("%s: %d charts are kept, want %d", reason, kept, tt.want)
		}
	}
}
