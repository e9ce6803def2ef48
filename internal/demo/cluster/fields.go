package cluster

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// entry returns an entry of metadata.managedFields.
func entry(manager string, apiVersion any, at time.Time, fields map[string]any) map[string]any {
	return map[string]any{"manager": manager, "operation": "Update", "apiVersion": apiVersion, "time": at.UTC().Format(time.RFC3339),
		"fieldsType": "FieldsV1", "fieldsV1": fields}
}

// unowned reports whether a field is never owned.
func unowned(path string) bool {
	switch path {
	case ".apiVersion", ".kind", ".status", ".metadata.name", ".metadata.namespace", ".metadata.uid", ".metadata.creationTimestamp",
		".metadata.generation", ".metadata.resourceVersion", ".metadata.managedFields":
		return true
	}
	return false
}

// leaves returns the fields of an object as a set of FieldsV1.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/
func leaves(object Object) map[string]any { return fieldsOf("", nil, object) }

// changedLeaves returns the fields of after that before lacks or that have another value there.
func changedLeaves(before, after Object) map[string]any { return fieldsOf("", before, after) }

// fieldsOf returns the fields of after that differ from before, as a set of FieldsV1.
func fieldsOf(path string, before, after any) map[string]any {
	set := map[string]any{}
	switch after := after.(type) {
	case map[string]any:
		was, _ := before.(map[string]any)
		for name, value := range after {
			if at := path + "." + name; !unowned(at) && !reflect.DeepEqual(was[name], value) {
				own(set, "f:"+name, value, fieldsOf(at, was[name], value))
			}
		}
	case []any:
		was := keyed(before)
		for step, value := range keyed(after) {
			if !reflect.DeepEqual(was[step], value) {
				own(set, step, value, fieldsOf(path+"[]", was[step], value))
			}
		}
	}
	return set
}

// own adds a field and the set of fields below it to a set. It skips a non-empty map or list with
// an empty set, because none of its fields is owned.
func own(set map[string]any, step string, value any, below map[string]any) {
	object, _ := value.(map[string]any)
	if len(below) > 0 || len(object) == 0 && len(keyed(value)) == 0 {
		set[step] = below
	}
}

// keyed returns the items of a list by their FieldsV1 keys, or nothing for an atomic list.
func keyed(list any) map[string]any {
	items, _ := list.([]any)
	steps := make(map[string]any, len(items))
	for _, item := range items {
		object, ok := item.(map[string]any)
		if !ok {
			return nil
		}
		key := keyOf(object)
		if key == nil {
			return nil
		}
		text, err := json.Marshal(key)
		if err != nil {
			return nil
		}
		steps["k:"+string(text)] = item
	}
	return steps
}

// keyOf returns the fields that identify an item in its list, or nil if there are none.
func keyOf(item map[string]any) map[string]any {
	if port, ok := item["containerPort"]; ok {
		return map[string]any{"containerPort": port, "protocol": protocolOf(item)}
	}
	if port, ok := item["port"]; ok {
		return map[string]any{"port": port, "protocol": protocolOf(item)}
	}
	if path, ok := item["mountPath"]; ok {
		return map[string]any{"mountPath": path}
	}
	if name, ok := item["name"]; ok {
		return map[string]any{"name": name}
	}
	return nil
}

func protocolOf(item map[string]any) string {
	if protocol, ok := item["protocol"]; ok {
		return fmt.Sprint(protocol)
	}
	return "TCP"
}

// take removes the fields of one set from another.
func take(from, other map[string]any) {
	for step, below := range other {
		mine, ok := from[step].(map[string]any)
		theirs, _ := below.(map[string]any)
		if !ok {
			continue
		}
		if take(mine, theirs); len(theirs) == 0 || len(mine) == 0 {
			delete(from, step)
		}
	}
}
