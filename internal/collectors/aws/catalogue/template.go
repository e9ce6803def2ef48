package catalogue

import (
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// expand returns a template with the texts of a row, or "" if a text is missing. "{a.b}" is a text of
// nested maps, "{a|b}" the first that is set, and "{$region}" one of env. After "@" stands a filter.
// "name" returns the part of an ARN, URL or path after the last slash or colon, "record" a name of DNS, and
// "function" the function that writes to a group of logs. "arn" returns the text only if it is an ARN.
// "regional" returns an ARN, or any other text after the region, if env has one, and a colon.
func expand(template string, row model.Value, env map[string]string) string {
	// The concatenation with an empty text makes no copy, and most templates are one field of the row.
	var all string
	for {
		literal, rest, open := strings.Cut(template, "{")
		all += literal
		if !open {
			return all
		}
		var inside string
		inside, template, _ = strings.Cut(rest, "}")
		text := ""
		for name := range strings.SplitSeq(inside, "|") {
			if text = lookUp(name, row, env); text != "" {
				break
			}
		}
		if text == "" {
			return ""
		}
		all += text
	}
}

func lookUp(name string, row model.Value, env map[string]string) string {
	if variable, ok := strings.CutPrefix(name, "$"); ok {
		return env[variable]
	}
	path, filter, _ := strings.Cut(name, "@")
	text := at(row, path).Text()
	switch filter {
	case "name":
		return text[strings.LastIndexAny(text, "/:")+1:]
	case "function":
		name, ok := strings.CutPrefix(text, "/aws/lambda/")
		if !ok {
			return ""
		}
		return name
	case "arn":
		if !strings.HasPrefix(text, "arn:") {
			return ""
		}
	case "regional":
		if region := env["region"]; text != "" && !strings.HasPrefix(text, "arn:") && region != "" {
			return region + ":" + text
		}
	case "record":
		return strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(text, "."), `\052`, "*"))
	}
	return text
}

// at returns the value at a path of names separated by dots. Of a list it takes the first
// element, or of a list of keys and values the value of a key. The path wholeRow leads to v itself.
func at(v model.Value, path string) model.Value {
	if path == wholeRow {
		return v
	}
	for name := range strings.SplitSeq(path, ".") {
		if items := v.Items(); len(items) > 0 {
			v = items[0]
			for _, entry := range items {
				if entry.At("key").Str() == name {
					v = model.MapOf(model.Field{Name: name, Value: entry.At("value")})
				}
			}
		}
		v = v.At(name)
	}
	return v
}

// wholeRow is the path of a row itself, for a form that reads several of its values.
const wholeRow = "."

// parentRow is the name under which a row has the row that it is in.
const parentRow = "^"

// documentAt returns a row in place of which the JSON document at a path stands; the row
// itself without a path. A text that is no document is an empty one.
func documentAt(row model.Value, path string) model.Value {
	if path == "" {
		return row
	}
	document, err := decode.JSON([]byte(at(row, path).Str()))
	if err != nil || document.Kind() != model.Map {
		document = model.MapOf()
	}
	if statement := document.At("Statement"); statement.Kind() == model.Map {
		document = document.With("Statement", model.ListOf(statement))
	}
	return document.With(parentRow, row)
}

// rowsAt returns the rows at a path below a row, each with the row that it is in. known
// reports whether the first name of the path exists.
func rowsAt(row model.Value, path string) (rows []model.Value, known bool) {
	if path == "" {
		return []model.Value{row}, true
	}
	name, rest, _ := strings.Cut(path, ".")
	list, known := row.Get(name)
	items := list.Items()
	if list.Kind() == model.Map {
		items = []model.Value{list}
	}
	for _, item := range items {
		if item.Kind() != model.Map {
			item = model.MapOf(model.Field{Name: "text", Value: item})
		}
		below, _ := rowsAt(item.With(parentRow, row), rest)
		rows = append(rows, below...)
	}
	return rows, known
}
