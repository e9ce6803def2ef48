package internal

import (
	_ "github.com/aws/aws-sdk-go-v2/service/s3"
	_ "github.com/gophercloud/gophercloud/v2"
	_ "github.com/gophercloud/gophercloud/v2/openstack"
	_ "github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	_ "github.com/rabbitmq/amqp091-go"
)
