package fieldpath_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/fieldpath"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"spec.replicas":                         "f:spec f:replicas",
		"containers[name=web].image":            "f:containers k:name=web f:image",
		"ports[containerPort=80,protocol=TCP]":  "f:ports k:containerPort=80,protocol=TCP",
		`labels["app.kubernetes.io/name"]`:      "f:labels f:app.kubernetes.io/name",
		`x[name="a]\",b"].y`:                    `f:x k:name=a]",b f:y`,
		"rules[0].verbs[=get]":                  "f:rules i:0 f:verbs =:get",
		`finalizers[="a,b"]`:                    "f:finalizers =:a,b",
		"":                                      "no",
		"a..b":                                  "no",
		"a[":                                    "no",
		"a[]":                                   "no",
		"a[x]":                                  "no",
		`a["x]`:                                 "no",
		`a[="x"y]`:                              "no",
		"a[99999999999999999999999999999999].b": "no",
		"a[=x,y]":                               "no",
		"metadata.annotations[\"a\\u001b\"].name": "f:metadata f:annotations f:a\x1b f:name",
	}
	for path, want := range tests {
		if got := formatSteps(fieldpath.Parse(path)); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

func formatSteps(steps []fieldpath.Step, ok bool) string {
	if !ok {
		return "no"
	}
	texts := make([]string, len(steps))
	for i, s := range steps {
		switch s.Kind {
		case fieldpath.Field:
			texts[i] = "f:" + s.Name
		case fieldpath.Index:
			texts[i] = "i:" + strconv.Itoa(s.Index)
		case fieldpath.Item:
			texts[i] = "=:" + s.Item
		case fieldpath.Keyed:
			var keys []string
			for _, k := range s.Keys {
				keys = append(keys, k.Name+"="+k.Value)
			}
			texts[i] = "k:" + strings.Join(keys, ",")
		}
	}
	return strings.Join(texts, " ")
}

func TestElement(t *testing.T) {
	t.Parallel()
	list, err := decode.JSON([]byte(`[{"name":"a","port":80},{"name":"b","port":80},"x",1,"1",{"name":"b","port":81}]`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"[name=a]": 0, "[name=b,port=81]": 5, "[name=b]": -1, "[port=81]": 5, "[name=c]": -1, "[kind=a]": -1,
		"[=x]": 2, "[=1]": -1, "[=y]": -1, "[0]": 0, "[5]": 5, "[6]": -1,
	} {
		steps, ok := fieldpath.Parse(path)
		if !ok || len(steps) != 1 {
			t.Fatalf("%s has no step", path)
		}
		if got := steps[0].Element(list); got != want {
			t.Errorf("%s: got %d, want %d", path, got, want)
		}
	}
}
