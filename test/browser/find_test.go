//go:build e2e

package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A thing is an element in the accessibility tree: a role and a name.
type thing struct {
	tab        *tab
	role, name string
	id         cdp.BackendNodeID
	// value is its content.
	value string
}

// things returns the elements of a role whose names contain a text, in the order of the page.
func (p *tab) things(ctx context.Context, role, part string) ([]thing, error) {
	document, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: "document"})
	if err != nil {
		return nil, err
	}
	found, err := chromedp.Call(ctx, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{ObjectID: document.Result.ObjectID, Role: role})
	if err != nil {
		return nil, err
	}
	var list []thing
	for _, node := range found.Nodes {
		if name := textOf(node.Name); !node.Ignored && strings.Contains(name, part) {
			list = append(list, thing{p, role, name, node.BackendDOMNodeID, textOf(node.Value)})
		}
	}
	return list, nil
}

// textOf returns the text of a value.
func textOf(v *accessibility.Value) string {
	var text string
	if v == nil || json.Unmarshal(v.Value, &text) != nil {
		return ""
	}
	return text
}

// find waits for the first element of a role whose name contains a text; one with exactly that
// name takes precedence.
func (p *tab) find(role, part string) thing {
	p.Helper()
	var list []thing
	var last error
	if !eventually(p.ctx, func(ctx context.Context) bool {
		list, last = p.things(ctx, role, part)
		return len(list) > 0
	}) {
		p.Fatalf("no %s %q is on %s: %v\n%s", role, part, p.address(), last, p.text())
	}
	if i := slices.IndexFunc(list, func(t thing) bool { return t.name == part }); i >= 0 {
		return list[i]
	}
	return list[0]
}

// has reports whether there is an element of a role whose name contains a text.
func (p *tab) has(role, part string) bool {
	p.Helper()
	list, err := p.things(p.ctx, role, part)
	if err != nil {
		p.Fatalf("look for %s %q: %v", role, part, err)
	}
	return len(list) > 0
}

// click clicks in the middle of the element. An element that the page has drawn anew is found
// again.
func (t thing) click() {
	t.tab.Helper()
	var middle []float64
	var last error
	if !eventually(t.tab.ctx, func(ctx context.Context) bool {
		if last != nil {
			if list, err := t.tab.things(ctx, t.role, t.name); err == nil && len(list) > 0 {
				t = list[0]
			}
		}
		middle, last = t.middle(ctx)
		return last == nil
	}) {
		t.tab.Fatalf("click %s %q: %v", t.role, t.name, last)
	}
	t.tab.do("click "+t.name, chromedp.MouseClickXY(middle[0], middle[1]))
}

// middle scrolls to the element, and returns the position of its middle.
func (t thing) middle(ctx context.Context) ([]float64, error) {
	if _, err := chromedp.Call(ctx, dom.ScrollIntoViewIfNeeded, dom.ScrollIntoViewIfNeededParams{BackendNodeID: t.id}); err != nil {
		return nil, err
	}
	found, err := chromedp.Call(ctx, dom.GetContentQuads, dom.GetContentQuadsParams{BackendNodeID: t.id})
	if err != nil {
		return nil, err
	}
	if len(found.Quads) == 0 || len(found.Quads[0]) != 8 {
		return nil, errors.New("it is nowhere to be seen")
	}
	q := found.Quads[0]
	return []float64{(q[0] + q[4]) / 2, (q[1] + q[5]) / 2}, nil
}

// follow clicks the element, and waits for another page.
func (t thing) follow() *tab {
	t.tab.Helper()
	before := eval[float64](t.tab, "performance.timeOrigin")
	t.click()
	t.tab.await(jsf("performance.timeOrigin !== %v && document.readyState === 'complete'", before))
	return t.tab
}

// write replaces the content of the element.
func (t thing) write(text string) {
	t.tab.Helper()
	call(t.tab, dom.Focus, dom.FocusParams{BackendNodeID: t.id})
	t.tab.do("clear "+t.name, chromedp.Evaluate[chromedp.Void]("document.activeElement.select()"))
	if text == "" {
		t.tab.press("\b")
		return
	}
	t.tab.do("write into "+t.name, chromedp.KeyEvent(text))
}

// jsf formats an expression of JavaScript with values.
func jsf(format string, values ...any) string {
	for i, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			text = []byte("null")
		}
		values[i] = json.RawMessage(text)
	}
	return fmt.Sprintf(strings.ReplaceAll(strings.ReplaceAll(format, "%v", "%s"), "%q", "%s"), values...)
}
