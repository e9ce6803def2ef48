package slack_test

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A failer is a test, rapid's too.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// checkBlocks holds a message to Slack's limits, and to what no foreign name may
// make of it.
func checkBlocks(t failer, text string, raw []byte) {
	t.Helper()
	var blocks []map[string]any
	if err := json.Unmarshal(raw, &blocks); err != nil {
		t.Fatalf("blocks %q: %v", raw, err)
	}
	if len(blocks) == 0 || len(blocks) > 50 {
		t.Errorf("%d blocks", len(blocks))
	}
	if len(raw) > 13000 {
		t.Errorf("the blocks weigh %d bytes", len(raw))
	}
	checkText(t, text)
	for _, b := range blocks {
		n := 0
		walk(b, func(key, value string) {
			if key == "text" || key == "fallback" {
				n += utf8.RuneCountInString(value)
				harmless(t, value, false)
				if value == "" {
					t.Errorf("an empty text in %v", b)
				}
			}
			if limit := map[string]int{"value": 2000, "url": 3000, "action_id": 255}[key]; limit > 0 && utf8.RuneCountInString(value) > limit {
				t.Errorf("%s has more than %d characters", key, limit)
			}
		})
		if n > 3000 {
			t.Errorf("a block has %d characters", n)
		}
		checkKnown(t, b)
	}
}

// checkText holds the text of a notification, or of a message without blocks, to
// Slack's limits, and to what no foreign name may make of it.
func checkText(t failer, text string) {
	t.Helper()
	if n := utf8.RuneCountInString(text); n == 0 || n > 4000 {
		t.Errorf("the text has %d characters", n)
	}
	harmless(t, text, true)
}

// checkKnown holds a block to the kinds that are used here, and their limits.
func checkKnown(t failer, b map[string]any) {
	t.Helper()
	switch b["type"] {
	case "rich_text":
	case "actions":
		for _, e := range b["elements"].([]any) {
			e := e.(map[string]any)
			if label, ok := e["text"].(map[string]any); ok && utf8.RuneCountInString(label["text"].(string)) > 75 {
				t.Errorf("the label %v", label)
			}
			checkConfirm(t, e)
			options, _ := e["options"].([]any)
			for _, o := range options {
				if value := o.(map[string]any)["value"].(string); utf8.RuneCountInString(value) > 150 {
					t.Errorf("the option %q", value)
				}
			}
		}
	default:
		t.Errorf("a block of type %v", b["type"])
	}
}

// checkConfirm holds what asks back to Slack's limits.
func checkConfirm(t failer, button map[string]any) {
	t.Helper()
	asks, ok := button["confirm"].(map[string]any)
	if !ok {
		return
	}
	for name, limit := range map[string]int{"title": 100, "text": 300, "confirm": 30, "deny": 30} {
		said, _ := asks[name].(map[string]any)
		if text, _ := said["text"].(string); text == "" || utf8.RuneCountInString(text) > limit || said["type"] != "plain_text" {
			t.Errorf("the confirmation's %s is %v", name, said)
		}
	}
}

// harmless fails when a text holds what Slack, or an eye, takes for something
// else. Marks count only in the text of notifications: nothing else has any.
func harmless(t failer, text string, marks bool) {
	t.Helper()
	if strings.ContainsAny(text, "<>") {
		t.Errorf("brackets in %q", text)
	}
	if marks && strings.ContainsAny(text, "*~`@") {
		t.Errorf("marks in %q", text)
	}
	if !utf8.ValidString(text) {
		t.Errorf("no text: %q", text)
	}
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Bidi_Control)) {
			t.Errorf("%U in %q", r, text)
		}
	}
}

func walk(node any, visit func(key, value string)) {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			if text, ok := value.(string); ok {
				visit(key, text)
			}
			walk(value, visit)
		}
	case []any:
		for _, item := range node {
			walk(item, visit)
		}
	}
}

// read writes blocks as people see them: *bold*, ~struck~, `code`, [links].
func read(t failer, raw string) string {
	t.Helper()
	var blocks []map[string]any
	if err := json.Unmarshal([]byte(raw), &blocks); err != nil {
		t.Fatalf("blocks %q: %v", raw, err)
	}
	var b strings.Builder
	for i, block := range blocks {
		if i > 0 {
			b.WriteString("\n\n")
		}
		for j, element := range block["elements"].([]any) {
			element := element.(map[string]any)
			if j > 0 && block["type"] == "actions" {
				b.WriteString(" ")
			}
			switch element["type"] {
			case "rich_text_section":
				if j > 0 {
					b.WriteString("\n")
				}
				inline(&b, element)
			case "rich_text_preformatted":
				var lines strings.Builder
				inline(&lines, element)
				b.WriteString("\n| " + strings.ReplaceAll(lines.String(), "\n", "\n| "))
			case "button":
				b.WriteString("(" + element["text"].(map[string]any)["text"].(string) + asks(element) + ")")
			case "static_select":
				b.WriteString("(" + element["placeholder"].(map[string]any)["text"].(string) + " v" + asks(element) + ")")
			}
		}
	}
	return b.String()
}

// asks is what a button asks back.
func asks(button map[string]any) string {
	if confirm, ok := button["confirm"].(map[string]any); ok {
		return ": " + confirm["text"].(map[string]any)["text"].(string)
	}
	return ""
}

func inline(b *strings.Builder, section map[string]any) {
	for _, e := range section["elements"].([]any) {
		e := e.(map[string]any)
		text, _ := e["text"].(string)
		style, _ := e["style"].(map[string]any)
		for name, mark := range map[string]string{"bold": "*", "strike": "~", "code": "`"} {
			if style[name] == true && name != "strike" {
				text = mark + text + mark
			}
		}
		if style["strike"] == true {
			text = "~" + text + "~"
		}
		switch e["type"] {
		case "date":
			text = e["fallback"].(string)
		case "link":
			text = "[" + text + "](" + e["url"].(string) + ")"
		case "user":
			text = "@" + e["user_id"].(string)
		case "usergroup":
			text = "@" + e["usergroup_id"].(string)
		}
		b.WriteString(text)
	}
}
