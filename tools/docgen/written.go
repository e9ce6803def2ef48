package main

import (
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/config"
)

// written returns a default in the form of the file; "" if there is none.
func written(v reflect.Value, typ string) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch value := v.Interface().(type) {
	case time.Duration:
		return code(duration(value))
	case slog.Level:
		return code(strings.ToLower(value.String()))
	case time.Time, config.Settings:
		return ""
	}
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Map:
		return code(short(v))
	}
	if bytes, ok := v.Interface().(int64); ok && typ == "size" {
		return code(size(bytes))
	}
	return code(fmt.Sprint(v.Interface()))
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

// short formats texts and lists of texts; a map has no default here.
func short(v reflect.Value) string {
	switch {
	case v.Len() == 0 || v.Kind() == reflect.Map:
		return ""
	case v.Kind() == reflect.String:
		return v.String()
	}
	items := make([]string, v.Len())
	for i := range items {
		items[i] = fmt.Sprint(v.Index(i).Interface())
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// duration formats a duration as 90d, 24h, 10m, 1m30s.
func duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == 0:
		return "0"
	case d > day && d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// size formats a size as 512MiB, and as a number of bytes if it is not round.
func size(bytes int64) string {
	units := []string{"KiB", "MiB", "GiB"}
	unit := ""
	for _, u := range units {
		if bytes == 0 || bytes%1024 != 0 {
			break
		}
		bytes, unit = bytes/1024, u
	}
	return strconv.FormatInt(bytes, 10) + unit
}
