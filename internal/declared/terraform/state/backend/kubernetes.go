package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// secrets are the secrets of a namespace.
type secrets struct {
	settings          Kubernetes
	namespace, suffix string
	// connect returns a client and the URL of the API server.
	connect func() (*http.Client, string, error)
	server  once[server]
}

type server struct {
	*fetcher
	url *url.URL
}

func openKubernetes(location string, s Settings) (site, error) {
	namespace, suffix, _ := strings.Cut(location, "/")
	if namespace == "" || suffix == "" || strings.ContainsAny(location, "@?*:") || strings.Contains(suffix, "/") {
		return site{}, errors.New("want kubernetes://namespace/suffix, with the backend's secret_suffix as suffix")
	}
	k := &secrets{settings: s.Kubernetes, namespace: namespace, suffix: suffix}
	k.connect = k.kubeconfig
	return site{
		place: k, root: "kubernetes://" + namespace + "/",
		name:   func(workspace string) string { return "tfstate-" + workspace + "-" + suffix },
		access: "grant get on the secret, and list for patterns; check backend.kubernetes.kubeconfig and backend.kubernetes.context",
		forget: k.server.forget,
	}, nil
}

// kubeconfig connects like kubectl, but without credential plugins. In a cluster without a
// kubeconfig, it uses the service account.
func (k *secrets) kubeconfig() (*http.Client, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.settings.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: k.settings.Context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w; set backend.kubernetes.kubeconfig and backend.kubernetes.context", err)
	}
	// client-go does not bound the time of a credential plugin.
	if config.ExecProvider != nil || config.AuthProvider != nil {
		return nil, "", errors.New("the kubeconfig uses a credential plugin; set backend.kubernetes.kubeconfig to one with a token or a certificate")
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	return client, config.Host, nil
}

// get requests the secrets of the namespace, or one of them.
func (k *secrets) get(ctx context.Context, name string, query url.Values) (io.ReadCloser, error) {
	s, err := k.server.get(func() (server, error) {
		client, host, err := k.connect()
		if err != nil {
			return server{}, err
		}
		u, err := parseEndpoint(host)
		client.CheckRedirect = stayHome
		return server{&fetcher{client: client, sign: metadataOnly, pause: firstPause}, u}, err
	})
	if err != nil {
		return nil, err
	}
	path := "/api/v1/namespaces/" + escape(k.namespace) + "/secrets"
	if name != "" {
		path += "/" + escape(name)
	}
	u, err := at(s.url, path, query)
	if err != nil {
		return nil, err
	}
	return s.fetcher.get(ctx, u)
}

// metadataOnly requests a listing of secrets without their data.
func metadataOnly(r *http.Request) error {
	r.Header.Set("Accept", "application/json")
	if r.URL.Query().Has("labelSelector") {
		r.Header.Set("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	}
	return nil
}

// partSize is the size of the part of a state that a full secret holds. Terraform 1.6 and later
// store the rest in secrets with the suffixes "-part-1", "-part-2" and so on.
const partSize = 1 << 20

func (k *secrets) open(ctx context.Context, name string) (io.ReadCloser, error) {
	first, err := k.part(ctx, name)
	if err != nil {
		return nil, err
	}
	parts, last := 0, first
	return &chunks{open: io.NopCloser(bytes.NewReader(first)), next: func() (io.ReadCloser, error) {
		if len(last) < partSize {
			return nil, io.EOF
		}
		parts++
		last, err = k.part(ctx, fmt.Sprintf("%s-part-%d", name, parts))
		if errors.Is(err, errAbsent) {
			return nil, io.EOF
		}
		return io.NopCloser(bytes.NewReader(last)), err
	}}, nil
}

// part returns the part of a state that one secret holds.
func (k *secrets) part(ctx context.Context, name string) ([]byte, error) {
	body, err := k.get(ctx, name, nil)
	if err != nil {
		return nil, err
	}
	content, err := readAll(body)
	if err != nil {
		return nil, err
	}
	var secret struct {
		Data struct {
			State []byte `json:"tfstate"`
		} `json:"data"`
	}
	if json.Unmarshal(content, &secret) != nil {
		return nil, errors.New("the response is not a secret: check that the server is a Kubernetes API server")
	}
	if len(secret.Data.State) == 0 {
		return nil, errAbsent
	}
	return secret.Data.State, nil
}

// list selects secrets by the labels that the backend sets.
func (k *secrets) list(ctx context.Context, p pattern) ([]string, error) {
	return list(p, func(token string) (page, error) {
		query := url.Values{"labelSelector": {"tfstate=true,tfstateSecretSuffix=" + k.suffix}, "limit": {"500"}}
		if token != "" {
			query.Set("continue", token)
		}
		body, err := k.get(ctx, "", query)
		if err != nil {
			return page{}, err
		}
		content, err := readAll(body)
		if err != nil {
			return page{}, err
		}
		var answer struct {
			Metadata struct{ Continue string }
			Items    []struct {
				Metadata struct {
					Name   string
					Labels map[string]string
				}
			}
		}
		if json.Unmarshal(content, &answer) != nil {
			return page{}, errors.New("the response is not a list of secrets: check that the server is a Kubernetes API server")
		}
		found := page{next: answer.Metadata.Continue}
		for _, item := range answer.Items {
			if item.Metadata.Name == "tfstate-"+item.Metadata.Labels["tfstateWorkspace"]+"-"+k.suffix {
				found.names = append(found.names, item.Metadata.Name)
			}
		}
		return found, nil
	})
}
