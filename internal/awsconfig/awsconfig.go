// Package awsconfig loads the configuration of the AWS SDK.
package awsconfig

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"
)

// Options are settings that override those from the environment, from the files below ~/.aws and from the
// role of the instance. An empty field overrides nothing.
type Options struct {
	Region string
	// Profile is the name of a profile in the two files.
	Profile string
	// CredentialsFile and ConfigFile replace ~/.aws/credentials and ~/.aws/config.
	CredentialsFile, ConfigFile string
	// Endpoint is the URL of a compatible service.
	Endpoint string
}

// Load returns the configuration for o. It reads files, and sends no requests. The SDK does not log. If no
// region is configured, Region is the default of compatible services if there is an endpoint, and ""
// otherwise.
func Load(ctx context.Context, o Options) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	for _, option := range []struct {
		value string
		set   func(string) config.LoadOptionsFunc
	}{
		{o.Region, config.WithRegion},
		{o.Profile, config.WithSharedConfigProfile},
		{o.CredentialsFile, func(file string) config.LoadOptionsFunc { return config.WithSharedCredentialsFiles([]string{file}) }},
		{o.ConfigFile, func(file string) config.LoadOptionsFunc { return config.WithSharedConfigFiles([]string{file}) }},
	} {
		if option.value != "" {
			options = append(options, option.set(option.value))
		}
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return loaded, fmt.Errorf("read the AWS configuration: %w", err)
	}
	if o.Endpoint != "" {
		loaded.BaseEndpoint = &o.Endpoint
	}
	if loaded.Region == "" && loaded.BaseEndpoint != nil {
		loaded.Region = "us-east-1"
	}
	return loaded, nil
}
