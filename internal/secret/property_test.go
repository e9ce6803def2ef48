package secret_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
)

// drawSecret draws a secret that contains a digit.
func drawSecret(t *rapid.T) string {
	return "q" + rapid.StringMatching(`[A-Za-z0-9]{8,12}[0-9]`).Draw(t, "secret")
}

// drawText draws a text that contains a secret in one of the forms, between other lines.
func drawText(t *rapid.T, content string) string {
	form := rapid.SampledFrom(texts).Draw(t, "form")
	text := strings.ReplaceAll(form.text, planted, content)
	if form.reason == "base64 of a file" || !strings.Contains(form.text, planted) {
		text = "password: " + content
	}
	line := rapid.StringMatching(`([a-z]{1,8} ?){0,3}`)
	if !strings.ContainsAny(text, "\n\x00{") {
		text = line.Draw(t, "before") + "\n" + text + "\n" + line.Draw(t, "after")
	}
	return text
}

func TestPlantedSecretsAreSealed(t *testing.T) {
	t.Parallel()
	r := room(secret.Options{})
	rapid.Check(t, func(t *rapid.T) {
		pw := drawSecret(t)
		text := drawText(t, pw)
		if sealed := r.Value("", model.StringOf(text)); strings.Contains(sealed.Text(), pw) {
			t.Errorf("%q became %s", text, sealed)
		}
	})
}

// drawValue draws a tree of names and texts, some of them secret.
func drawValue(t *rapid.T, depth int) model.Value {
	name := rapid.SampledFrom([]string{"password", "name", "value", "env", "args", "command", "data", "token", "secrets", "url", "x-y", "key"})
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0 && depth > 0:
		items := make([]model.Value, rapid.IntRange(0, 3).Draw(t, "items"))
		for i := range items {
			items[i] = drawValue(t, depth-1)
		}
		return model.ListOf(items...)
	case kind <= 2 && depth > 0:
		fields := make([]model.Field, rapid.IntRange(0, 4).Draw(t, "fields"))
		for i := range fields {
			fields[i] = model.Field{Name: name.Draw(t, "name"), Value: drawValue(t, depth-1)}
		}
		return model.MapOf(fields...)
	case kind == 3:
		return model.IntOf(int64(rapid.IntRange(0, 9999).Draw(t, "number")))
	case kind == 4:
		return model.StringOf(drawText(t, drawSecret(t)))
	}
	return model.StringOf(rapid.SampledFrom([]string{"", "a", "--password", "--token=x1", "DB_PASSWORD", "$(X)", "true", "nginx:1.2", "mysql", "-pabc",
		"(secret-0123456789ab)", "u:(secret-0123456789ab)@tcp(x)", "password"}).Draw(t, "text"))
}

func TestSealingIsStable(t *testing.T) {
	t.Parallel()
	r := room(secret.Options{})
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(t, 4)
		once := r.Value("", v)
		if again := r.Value("", v); !again.Equal(once) {
			t.Errorf("%s became %s and %s", v, once, again)
		}
		if again := r.Again("", once); !again.Equal(once) {
			t.Errorf("%s became %s, and sealed again %s", v, once, again)
		}
	})
}

// TestOtherSecretsDiffer checks that the sealed text changes if the secret changes.
func TestOtherSecretsDiffer(t *testing.T) {
	t.Parallel()
	r := room(secret.Options{})
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSecret(t), drawSecret(t)
		form := rapid.SampledFrom(texts).Draw(t, "form").text
		if a == b || !strings.Contains(form, planted) {
			return
		}
		x := r.Value("", model.StringOf(strings.ReplaceAll(form, planted, a)))
		if y := r.Value("", model.StringOf(strings.ReplaceAll(form, planted, b))); x.Equal(y) {
			t.Errorf("%q: %q and %q are both %s", form, a, b, x)
		}
	})
}
