package plan

// A delegation is an attribute or block of a resource whose content other resources declare. A
// provider reads it from the live system, so its recorded value depends on whether the last refresh
// was before or after those resources were applied.
type delegation struct {
	// typ and name are the resource type, and its attribute or block.
	typ, name string
	// by are the resource types that each declare the whole content in another form. It is empty if
	// the values determine the content that each resource declares.
	by []string
	// derived are the fields of an element that are derived from others.
	derived []string
	// self is a field that refers to the resource itself.
	self string
}

// delegations returns, by resource type, the content that other resources declare although the
// values do not show it. If the values show it, an entry is not needed while such a resource
// exists. With an entry, content that disappears after the last such resource was destroyed is no
// drift. Sources: the pages of the types at https://registry.terraform.io/providers/hashicorp.
func delegations() []delegation {
	return []delegation{
		{typ: "aws_autoscaling_group", name: "load_balancers"},
		{typ: "aws_autoscaling_group", name: "target_group_arns"},
		{typ: "aws_autoscaling_group", name: "traffic_source", derived: []string{"type"}},
		{typ: "aws_default_network_acl", name: "subnet_ids"},
		{typ: "aws_eip", name: "instance"},
		{typ: "aws_eip", name: "network_interface"},
		{typ: "aws_ecs_cluster", name: "capacity_providers", by: []string{"aws_ecs_cluster_capacity_providers"}},
		{typ: "aws_ecs_cluster", name: "default_capacity_provider_strategy", by: []string{"aws_ecs_cluster_capacity_providers"}},
		{typ: "aws_iam_role", name: "inline_policy"},
		{typ: "aws_iam_role", name: "managed_policy_arns"},
		{typ: "aws_instance", name: "ebs_block_device"},
		{typ: "aws_instance", name: "vpc_security_group_ids"},
		{typ: "aws_internet_gateway", name: "vpc_id"},
		{typ: "aws_network_acl", name: "egress"},
		{typ: "aws_network_acl", name: "ingress"},
		{typ: "aws_network_acl", name: "subnet_ids"},
		{typ: "aws_network_interface", name: "attachment"},
		{typ: "aws_rds_cluster", name: "cluster_members"},
		{typ: "aws_rds_cluster", name: "iam_roles"},
		{typ: "aws_route_table", name: "route"},
		{typ: "aws_s3_bucket", name: "acceleration_status", by: []string{"aws_s3_bucket_accelerate_configuration"}},
		{typ: "aws_s3_bucket", name: "acl", by: []string{"aws_s3_bucket_acl"}},
		{typ: "aws_s3_bucket", name: "cors_rule", by: []string{"aws_s3_bucket_cors_configuration"}},
		{typ: "aws_s3_bucket", name: "grant", by: []string{"aws_s3_bucket_acl"}},
		{typ: "aws_s3_bucket", name: "lifecycle_rule", by: []string{"aws_s3_bucket_lifecycle_configuration"}},
		{typ: "aws_s3_bucket", name: "logging", by: []string{"aws_s3_bucket_logging"}},
		{typ: "aws_s3_bucket", name: "object_lock_configuration", by: []string{"aws_s3_bucket_object_lock_configuration"}},
		{typ: "aws_s3_bucket", name: "policy", by: []string{"aws_s3_bucket_policy"}},
		{typ: "aws_s3_bucket", name: "replication_configuration", by: []string{"aws_s3_bucket_replication_configuration"}},
		{typ: "aws_s3_bucket", name: "request_payer", by: []string{"aws_s3_bucket_request_payment_configuration"}},
		{typ: "aws_s3_bucket", name: "server_side_encryption_configuration", by: []string{"aws_s3_bucket_server_side_encryption_configuration"}},
		{typ: "aws_s3_bucket", name: "versioning", by: []string{"aws_s3_bucket_versioning"}},
		{typ: "aws_s3_bucket", name: "website", by: []string{"aws_s3_bucket_website_configuration"}},
		{typ: "aws_security_group", name: "egress", self: "self"},
		{typ: "aws_security_group", name: "ingress", self: "self"},
		{typ: "aws_sns_topic", name: "policy"},
		{typ: "aws_sqs_queue", name: "policy"},
		{typ: "aws_sqs_queue", name: "redrive_policy"},
		{typ: "aws_vpc_endpoint", name: "route_table_ids"},
		{typ: "aws_vpc_endpoint", name: "security_group_ids"},
		{typ: "aws_vpc_endpoint", name: "subnet_ids"},
		{typ: "azurerm_network_security_group", name: "security_rule"},
		{typ: "azurerm_route_table", name: "route"},
		{typ: "azurerm_virtual_network", name: "subnet"},
		{typ: "google_compute_instance", name: "attached_disk"},
		{typ: "google_container_cluster", name: "node_config"},
		{typ: "google_container_cluster", name: "node_pool"},
	}
}
