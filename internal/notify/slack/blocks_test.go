package slack_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A testingT is a *testing.T or a *rapid.T.
type testingT interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// checkBlocks checks that the text and the blocks of a message respect Slack's limits, and
// that data contains no markup.
func checkBlocks(t testingT, text string, raw []byte) {
	t.Helper()
	var blocks []map[string]any
	if err := json.Unmarshal(raw, &blocks); err != nil {
		t.Fatalf("blocks %q: %v", raw, err)
	}
	if len(blocks) == 0 || len(blocks) > 50 {
		t.Errorf("got %d blocks, want 1 to 50", len(blocks))
	}
	if len(raw) > 13000 {
		t.Errorf("the blocks have %d bytes, want at most 13000", len(raw))
	}
	checkText(t, text)
	for _, b := range blocks {
		n := 0
		walk(b, func(key, value string) {
			if key == "text" || key == "fallback" {
				n += utf8.RuneCountInString(value)
				checkHarmless(t, value, false)
				if value == "" {
					t.Errorf("empty text in %v", b)
				}
			}
			if page, err := url.Parse(value); key == "url" && (err != nil || page.Scheme != "https" && page.Scheme != "http" || page.Host == "" || strings.ContainsAny(value, "<>|\" \n")) {
				t.Errorf("a link leads to %q", value)
			}
			if limit := map[string]int{"value": 2000, "url": 3000, "action_id": 255}[key]; limit > 0 && utf8.RuneCountInString(value) > limit {
				t.Errorf("%s has more than %d characters", key, limit)
			}
		})
		if n > 3000 {
			t.Errorf("a block has %d characters, want at most 3000", n)
		}
		checkBlock(t, b)
	}
}

// checkText checks that the text of a notification or of a message without blocks respects
// Slack's limits, and that data contains no markup.
func checkText(t testingT, text string) {
	t.Helper()
	if n := utf8.RuneCountInString(text); n == 0 || n > 4000 {
		t.Errorf("the text has %d characters", n)
	}
	checkHarmless(t, text, true)
}

// checkBlock checks that a block has an expected type and respects its limits.
func checkBlock(t testingT, b map[string]any) {
	t.Helper()
	switch b["type"] {
	case "rich_text":
	case "actions":
		for _, e := range b["elements"].([]any) {
			e := e.(map[string]any)
			if label, ok := e["text"].(map[string]any); ok && utf8.RuneCountInString(label["text"].(string)) > 75 {
				t.Errorf("label %v is longer than 75 characters", label)
			}
			checkConfirm(t, e)
			options, _ := e["options"].([]any)
			for _, o := range options {
				if value := o.(map[string]any)["value"].(string); utf8.RuneCountInString(value) > 150 {
					t.Errorf("value %q of an option is longer than 150 characters", value)
				}
			}
		}
	default:
		t.Errorf("unexpected block of type %v", b["type"])
	}
}

// checkConfirm checks that the confirmation dialog of a button respects Slack's limits.
func checkConfirm(t testingT, button map[string]any) {
	t.Helper()
	confirmText, ok := button["confirm"].(map[string]any)
	if !ok {
		return
	}
	for name, limit := range map[string]int{"title": 100, "text": 300, "confirm": 30, "deny": 30} {
		object, _ := confirmText[name].(map[string]any)
		if text, _ := object["text"].(string); text == "" || utf8.RuneCountInString(text) > limit || object["type"] != "plain_text" {
			t.Errorf("the confirmation's %s is %v", name, object)
		}
	}
}

// checkHarmless checks that a text contains no control characters and no brackets, in which
// Slack writes mentions. If marks is set, it must contain no marks and mentions either: Slack
// interprets them only in the text of notifications.
func checkHarmless(t testingT, text string, marks bool) {
	t.Helper()
	if strings.ContainsAny(text, "<>") {
		t.Errorf("brackets in %q", text)
	}
	if marks && strings.ContainsAny(text, "*~`@") {
		t.Errorf("marks in %q", text)
	}
	if !utf8.ValidString(text) {
		t.Errorf("invalid UTF-8: %q", text)
	}
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Bidi_Control)) {
			t.Errorf("%U in %q", r, text)
		}
	}
}

// walk calls visit for each string in node.
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

// render returns blocks as text, with *bold*, ~struck~, `code` and [links].
func render(t testingT, raw string) string {
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
				b.WriteString("(" + element["text"].(map[string]any)["text"].(string) + confirmText(element) + ")")
			case "static_select":
				b.WriteString("(" + element["placeholder"].(map[string]any)["text"].(string) + " v" + confirmText(element) + ")")
			}
		}
	}
	return b.String()
}

// confirmText returns the text of a button's confirmation dialog. It returns "" if there is
// none.
func confirmText(button map[string]any) string {
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
