package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// inJSON seals a JSON text by the names and forms in it, and keeps its formatting. ok is false
// if the text is not a JSON object or array.
func (w *walker) inJSON(t string) (sealed string, ok bool) {
	trimmed := strings.TrimSpace(t)
	if len(trimmed) < 2 || trimmed[0] != '{' && trimmed[0] != '[' {
		return t, false
	}
	tree, err := decode.JSON([]byte(trimmed))
	if err != nil {
		return t, false
	}
	inner := walker{room: w.room, kind: "", again: w.again, inSecret: w.inSecret}
	result, changed := inner.tree(tree, frame{})
	if !changed {
		// The tree has only one of two fields with the same name.
		return t, true
	}
	sealed, err = w.rewrite(t, result)
	return sealed, err == nil
}

// isManifest reports whether a text is a manifest of a Secret in YAML, or has one among others.
func isManifest(t string) bool {
	if !strings.Contains(t, "kind: Secret") {
		return false
	}
	isSecret, hasData := false, false
	for line := range strings.Lines(t) {
		line = strings.TrimSpace(line)
		isSecret = isSecret || line == "kind: Secret"
		hasData = hasData || line == "data:" || line == "stringData:"
	}
	return isSecret && hasData
}

// rewrite replaces the scalars of a JSON text that are sealed in the tree.
func (w *walker) rewrite(t string, tree model.Value) (string, error) {
	r := rewriter{walker: w, text: t, decoder: json.NewDecoder(strings.NewReader(t))}
	r.decoder.UseNumber()
	if err := r.value(tree); err != nil {
		return "", err
	}
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("text behind the document")
	}
	r.out.WriteString(t[r.written:])
	return r.out.String(), nil
}

type rewriter struct {
	*walker

	text    string
	decoder *json.Decoder
	out     strings.Builder
	// written is the end of the text that was copied.
	written int
}

func (r *rewriter) value(sealed model.Value) error {
	before := int(r.decoder.InputOffset())
	token, err := r.decoder.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return r.object(sealed)
		}
		return r.list(sealed)
	case string:
		if sealed.Kind() != model.String || sealed.Text() != t {
			return r.put(before, t, sealed)
		}
	case json.Number:
		if sealed.Kind() == model.Secret {
			return r.put(before, t.String(), sealed)
		}
	}
	return nil
}

// put writes a sealed scalar. before is the end of the previous token.
func (r *rewriter) put(before int, was string, sealed model.Value) error {
	from := before
	for from < len(r.text) && strings.IndexByte(" \t\r\n:,", r.text[from]) >= 0 {
		from++
	}
	text := sealed.Str()
	if sealed.Kind() != model.String {
		text = r.mark(was)
	}
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return err
	}
	r.out.WriteString(r.text[r.written:from])
	r.out.Write(bytes.TrimSuffix(quoted.Bytes(), []byte("\n")))
	r.written = int(r.decoder.InputOffset())
	return nil
}

func (r *rewriter) object(sealed model.Value) error {
	for r.decoder.More() {
		key, err := r.decoder.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if err := r.value(sealed.At(name)); err != nil {
			return err
		}
	}
	_, err := r.decoder.Token()
	return err
}

func (r *rewriter) list(sealed model.Value) error {
	for i := 0; r.decoder.More(); i++ {
		var item model.Value
		if items := sealed.Items(); i < len(items) {
			item = items[i]
		}
		if err := r.value(item); err != nil {
			return err
		}
	}
	_, err := r.decoder.Token()
	return err
}

// minBase64 is the minimum length of a text that is decoded as base64.
const minBase64 = 24

// maybeBase64 reports whether a text may be base64.
func maybeBase64(t string) bool {
	if len(t) < minBase64 || !isBase64(t[0]) || !isBase64(t[len(t)/2]) && t[len(t)/2] != '\n' {
		return false
	}
	return strings.IndexFunc(t, func(r rune) bool { return r > 127 || !isBase64(byte(r)) && r != '\n' && r != '\r' }) < 0
}

// inBase64 decodes a base64 text, seals the secrets in it and encodes it again. ok is false if
// it is not base64 or contains no secrets.
func (w *walker) inBase64(t string) (sealed string, ok bool) {
	if !maybeBase64(t) {
		return t, false
	}
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(t))
	if err != nil || !utf8.Valid(plain) || bytes.IndexByte(plain, 0) >= 0 {
		return t, false
	}
	content := string(plain)
	sealed = w.inText(content)
	if sealed == content {
		return t, false
	}
	return base64.StdEncoding.EncodeToString([]byte(sealed)), true
}
