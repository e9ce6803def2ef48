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
	// connect returns a client and the address of the API server.
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
		return site{}, errors.New("want kubernetes://namespace/suffix, after the backend's secret_suffix")
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

// kubeconfig connects as kubectl does, other than by a program that signs in,
// and within a cluster by the service account.
func (k *secrets) kubeconfig() (*http.Client, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.settings.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: k.settings.Context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w; set backend.kubernetes.kubeconfig and backend.kubernetes.context", err)
	}
	// client-go waits for such a program without a bound.
	if config.ExecProvider != nil || config.AuthProvider != nil {
		return nil, "", errors.New("the kubeconfig signs in by a program; name one with a token or a certificate in backend.kubernetes.kubeconfig")
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	return client, config.Host, nil
}

// get asks the API server for the secrets, or for one of them.
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

// metadataOnly asks for the secrets of a listing without what they hold.
func metadataOnly(r *http.Request) error {
	r.Header.Set("Accept", "application/json")
	if r.URL.Query().Has("labelSelector") {
		r.Header.Set("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	}
	return nil
}

// partSize is what a full secret holds of a state. Terraform, from 1.6 on, goes
// on in "-part-1", "-part-2" …
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

// part returns what one secret holds of a state.
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
		return nil, errors.New("the answer is no secret: is it an API server?")
	}
	if len(secret.Data.State) == 0 {
		return nil, errAbsent
	}
	return secret.Data.State, nil
}

// list goes by the labels that the backend sets.
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
			return page{}, errors.New("the answer is no list of secrets: is it an API server?")
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
