//go:build e2e

package secrets

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// An object is a Kubernetes object in JSON.
type object = map[string]any

// A place returns an object with a secret. With "" it returns the object without the field of
// the secret.
type place func(name, secret string) object

func metadata(name string) object { return object{"name": name, "namespace": "shop"} }

// deployment returns one with a variable, an argument, and changes of the container.
func deployment(change func(container object)) func(name string) object {
	return func(name string) object {
		container := object{"name": "c", "image": "registry.example.org/app:1.4", "env": []any{object{"name": "MODE", "value": "fast"}}, "args": []any{"--verbose"}}
		change(container)
		labels := object{"app": name}
		return object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(name), "spec": object{
			"replicas": 0, "selector": object{"matchLabels": labels},
			"template": object{"metadata": object{"labels": labels}, "spec": object{"containers": []any{container}}},
		}}
	}
}

// variable returns an environment variable; %s in its text is the secret.
func variable(variable, text string) place {
	return func(name, secret string) object {
		return deployment(func(c object) {
			if secret != "" {
				c["env"] = append(c["env"].([]any), object{"name": variable, "value": filled(text, secret)})
			}
		})(name)
	}
}

// arguments returns a container's last arguments.
func arguments(texts ...string) place { return words("args", texts...) }

// command returns a container's command.
func command(texts ...string) place { return words("command", texts...) }

func words(field string, texts ...string) place {
	return func(name, secret string) object {
		return deployment(func(c object) {
			list, _ := c[field].([]any)
			for _, text := range texts {
				if strings.Contains(text, "%s") && secret == "" {
					continue
				}
				list = append(list, filled(text, secret))
			}
			c[field] = list
		})(name)
	}
}

// probe returns a header of a probe.
func probe(header, text string) place {
	return func(name, secret string) object {
		return deployment(func(c object) {
			headers := []any{object{"name": "Accept", "value": "text/plain"}}
			if secret != "" {
				headers = append(headers, object{"name": header, "value": filled(text, secret)})
			}
			c["livenessProbe"] = object{"httpGet": object{"path": "/", "port": 80, "httpHeaders": headers}}
		})(name)
	}
}

// hook returns the command of a pre-stop hook.
func hook(texts ...string) place {
	return func(name, secret string) object {
		inner := words("command", texts...)(name, secret)
		list := inner["spec"].(object)["template"].(object)["spec"].(object)["containers"].([]any)[0].(object)["command"]
		return deployment(func(c object) { c["lifecycle"] = object{"preStop": object{"exec": object{"command": list}}} })(name)
	}
}

// setting returns a key of a ConfigMap.
func setting(key, text string) place {
	return func(name, secret string) object {
		data := object{"color": "blue"}
		if secret != "" {
			data[key] = filled(text, secret)
		}
		return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(name), "data": data}
	}
}

// annotation returns an annotation of a Service, or of another kind.
func annotation(kind, key, text string) place {
	return func(name, secret string) object {
		meta := metadata(name)
		if secret != "" {
			meta["annotations"] = object{key: filled(text, secret)}
		}
		switch kind {
		case "Ingress":
			return object{"apiVersion": "networking.k8s.io/v1", "kind": kind, "metadata": meta, "spec": object{
				"defaultBackend": object{"service": object{"name": "web", "port": object{"number": 80}}}}}
		case "Secret":
			return object{"apiVersion": "v1", "kind": kind, "metadata": meta, "type": "Opaque", "data": object{"k": "eA=="}}
		}
		return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": object{"color": "blue"}}
	}
}

// secretData returns a key of a Secret, encoded as data, or plain as stringData.
func secretData(field, typ, key, text string) place {
	return func(name, secret string) object {
		value := func(text string) string {
			if field == "data" {
				return base64.StdEncoding.EncodeToString([]byte(text))
			}
			return text
		}
		data := object{key: value(filled(text, "nothing"))}
		if secret != "" {
			data[key] = value(filled(text, secret))
		}
		return object{"apiVersion": "v1", "kind": "Secret", "metadata": metadata(name), "type": typ, field: data}
	}
}

// custom returns a field of a custom resource.
func custom(path, text string) place {
	return func(name, secret string) object {
		spec := object{"size": 3}
		if secret != "" {
			at, steps := spec, strings.Split(path, ".")
			for _, step := range steps[:len(steps)-1] {
				below := object{}
				at[step], at = below, below
			}
			at[steps[len(steps)-1]] = filled(text, secret)
		}
		return object{"apiVersion": "example.org/v1", "kind": "Database", "metadata": metadata(name), "spec": spec}
	}
}

// filled inserts a secret into a text.
func filled(text, secret string) string { return strings.ReplaceAll(text, "%s", secret) }

// encoded encodes objects as a manifest.
func encoded(objects []object) string {
	var b strings.Builder
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			panic(fmt.Sprintf("encode an object: %v", err))
		}
		b.WriteString("---\n" + string(text) + "\n")
	}
	return b.String()
}

// databases defines the custom resource.
const databases = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"databases.example.org"},"spec":{"group":"example.org",
"names":{"kind":"Database","plural":"databases","singular":"database","listKind":"DatabaseList"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`
