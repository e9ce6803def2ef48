package kubernetes

import (
	"k8s.io/client-go/rest"

	"github.com/driftd/driftd/internal/kubeapi"
)

// connect returns a client for the settings. It reads the kubeconfig and its files, but does
// not use the network. running bounds the requests that wait for a credential plugin.
// change, which may be nil, changes the configuration of the connection.
func connect(config Config, running chan struct{}, change func(*rest.Config)) (*client, error) {
	connection, err := config.Access().Connect(running, change)
	if err != nil {
		return nil, err
	}
	made := config.newClient(connection.Server, connection.Transport)
	made.expiry = connection.Expiry
	return made, nil
}

// Access returns the settings of the connection.
func (c Config) Access() kubeapi.Access {
	return kubeapi.Access{Kubeconfig: c.Kubeconfig, Context: c.Context, InCluster: c.InCluster, Server: c.Server, CAFile: c.CAFile, TokenFile: c.TokenFile}
}
