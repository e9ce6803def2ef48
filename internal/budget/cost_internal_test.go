package budget

import (
	"testing"

	"github.com/driftd/driftd/internal/decode"
)

// FuzzCost holds that the weight of a document does not exceed the count of its text, for
// any division of the text.
func FuzzCost(f *testing.F) {
	for _, seed := range []string{`{"a":[1,null,{"b":"c,d"}],"é":"\"\\"}`, "[[],[],{}]", ` "x"`, "[{},{}", "<a/>", "\ufeff{}", `{"a":"\u00e9"`} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		var whole, parts scanner
		cost := whole.cost(text)
		at = min(max(at, 0), len(text))
		if got := parts.cost(text[:at]) + parts.cost(text[at:]); got != cost {
			t.Errorf("%q costs %d, in two parts %d", text, cost, got)
		}
		if v, err := decode.JSON(text); err == nil && v.Weight() > cost+perItem+perExponent { // of the document itself
			t.Errorf("%q weighs %d and costs %d", text, v.Weight(), cost)
		}
	})
}
