# The estate of the recorded plans: two regions of one account of AWS, simulated by moto.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

provider "aws" {
  region            = "eu-central-1"
  s3_use_path_style = true
}

provider "aws" {
  alias             = "west"
  region            = "us-west-2"
  s3_use_path_style = true
}

locals {
  tags = { estate = "prod" }
}

# The network.

resource "aws_vpc" "main" {
  cidr_block           = "10.20.0.0/16"
  enable_dns_hostnames = true
  tags                 = merge(local.tags, { Name = "main" })
}

resource "aws_subnet" "a" {
  vpc_id            = aws_vpc.main.id
  cidr_block        = "10.20.1.0/24"
  availability_zone = "eu-central-1a"
  tags              = merge(local.tags, { Name = "a" })
}

resource "aws_subnet" "b" {
  vpc_id            = aws_vpc.main.id
  cidr_block        = "10.20.2.0/24"
  availability_zone = "eu-central-1b"
  tags              = merge(local.tags, { Name = "b" })
}

resource "aws_internet_gateway" "main" {
  vpc_id = aws_vpc.main.id
  tags   = local.tags
}

resource "aws_eip" "nat" {
  domain = "vpc"
  tags   = merge(local.tags, { Name = "nat" })
}

resource "aws_nat_gateway" "main" {
  allocation_id = aws_eip.nat.id
  subnet_id     = aws_subnet.a.id
  tags          = local.tags
}

resource "aws_route_table" "public" {
  vpc_id = aws_vpc.main.id
  tags   = merge(local.tags, { Name = "public" })
}

resource "aws_route" "public" {
  route_table_id         = aws_route_table.public.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.main.id
}

resource "aws_route_table" "private" {
  vpc_id = aws_vpc.main.id
  tags   = merge(local.tags, { Name = "private" })

  route {
    cidr_block     = "0.0.0.0/0"
    nat_gateway_id = aws_nat_gateway.main.id
  }
}

resource "aws_route_table_association" "a" {
  subnet_id      = aws_subnet.a.id
  route_table_id = aws_route_table.public.id
}

resource "aws_route_table_association" "b" {
  subnet_id      = aws_subnet.b.id
  route_table_id = aws_route_table.private.id
}

resource "aws_network_acl" "main" {
  vpc_id     = aws_vpc.main.id
  subnet_ids = [aws_subnet.b.id]
  tags       = local.tags

  ingress {
    rule_no    = 100
    protocol   = "tcp"
    action     = "allow"
    cidr_block = "10.20.0.0/16"
    from_port  = 443
    to_port    = 443
  }

  egress {
    rule_no    = 100
    protocol   = "-1"
    action     = "allow"
    cidr_block = "0.0.0.0/0"
    from_port  = 0
    to_port    = 0
  }
}

resource "aws_network_acl" "rules" {
  vpc_id = aws_vpc.main.id
  tags   = merge(local.tags, { Name = "rules" })
}

resource "aws_network_acl_rule" "https" {
  network_acl_id = aws_network_acl.rules.id
  rule_number    = 110
  protocol       = "tcp"
  rule_action    = "allow"
  cidr_block     = "10.20.0.0/16"
  from_port      = 443
  to_port        = 443
}

resource "aws_vpc_endpoint" "s3" {
  vpc_id          = aws_vpc.main.id
  service_name    = "com.amazonaws.eu-central-1.s3"
  route_table_ids = [aws_route_table.private.id]
  tags            = local.tags
}

resource "aws_vpc_dhcp_options" "main" {
  domain_name         = "prod.example"
  domain_name_servers = ["AmazonProvidedDNS"]
}

resource "aws_vpc_dhcp_options_association" "main" {
  vpc_id          = aws_vpc.main.id
  dhcp_options_id = aws_vpc_dhcp_options.main.id
}

# Groups: with inline rules, and with the two types of rules.

resource "aws_security_group" "inline" {
  name        = "inline"
  description = "inline rules"
  vpc_id      = aws_vpc.main.id
  tags        = local.tags

  ingress {
    description = "https"
    protocol    = "tcp"
    from_port   = 443
    to_port     = 443
    cidr_blocks = ["10.0.0.0/8"]
  }

  egress {
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_security_group" "rules" {
  name        = "rules"
  description = "rules of the newer type"
  vpc_id      = aws_vpc.main.id
  tags        = local.tags
}

resource "aws_vpc_security_group_ingress_rule" "https" {
  security_group_id = aws_security_group.rules.id
  description       = "https"
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
  cidr_ipv4         = "10.0.0.0/8"
  tags              = local.tags
}

resource "aws_vpc_security_group_egress_rule" "all" {
  security_group_id = aws_security_group.rules.id
  ip_protocol       = "-1"
  cidr_ipv4         = "0.0.0.0/0"
}

resource "aws_security_group" "old" {
  name        = "old"
  description = "rules of the older type"
  vpc_id      = aws_vpc.main.id
  tags        = local.tags
}

resource "aws_security_group_rule" "postgres" {
  security_group_id = aws_security_group.old.id
  type              = "ingress"
  protocol          = "tcp"
  from_port         = 5432
  to_port           = 5432
  cidr_blocks       = ["10.20.0.0/16"]
}

resource "aws_security_group_rule" "inline" {
  security_group_id        = aws_security_group.old.id
  type                     = "ingress"
  protocol                 = "tcp"
  from_port                = 9100
  to_port                  = 9100
  source_security_group_id = aws_security_group.inline.id
}

# Machines.

resource "aws_key_pair" "deploy" {
  key_name   = "deploy"
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPnB3E6hJ7Zc7w6oX0LhGqB1zUeYj1kOQ0q7o7yX2p9D deploy@example"
  tags       = local.tags
}

resource "aws_instance" "web" {
  ami                    = "ami-12c6146b"
  instance_type          = "t3.micro"
  subnet_id              = aws_subnet.a.id
  vpc_security_group_ids = [aws_security_group.inline.id]
  key_name               = aws_key_pair.deploy.key_name
  tags                   = merge(local.tags, { Name = "web" })
}

resource "aws_ebs_volume" "data" {
  availability_zone = "eu-central-1a"
  size              = 20
  type              = "gp3"
  encrypted         = true
  tags              = merge(local.tags, { Name = "data" })
}

resource "aws_volume_attachment" "data" {
  device_name = "/dev/sdf"
  volume_id   = aws_ebs_volume.data.id
  instance_id = aws_instance.web.id
}

resource "aws_network_interface" "spare" {
  subnet_id       = aws_subnet.b.id
  security_groups = [aws_security_group.old.id]
  tags            = local.tags
}

resource "aws_launch_template" "web" {
  name          = "web"
  instance_type = "t3.micro"
}

resource "aws_lb_target_group" "web" {
  name     = "web"
  port     = 8080
  protocol = "HTTP"
  vpc_id   = aws_vpc.main.id
  tags     = local.tags
}

# Who may do what.

data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "worker" {
  name               = "worker"
  assume_role_policy = data.aws_iam_policy_document.assume.json
  tags               = local.tags
}

resource "aws_iam_role_policy" "worker" {
  name = "queue"
  role = aws_iam_role.worker.name
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = ["sqs:ReceiveMessage", "sqs:DeleteMessage"], Resource = aws_sqs_queue.jobs.arn }]
  })
}

resource "aws_iam_policy" "read" {
  name = "read-queue"
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = ["sqs:GetQueueAttributes"], Resource = "*" }]
  })
  tags = local.tags
}

resource "aws_iam_role_policy_attachment" "worker" {
  role       = aws_iam_role.worker.name
  policy_arn = aws_iam_policy.read.arn
}

resource "aws_iam_instance_profile" "worker" {
  name = "worker"
  role = aws_iam_role.worker.name
  tags = local.tags
}

resource "aws_iam_user" "ci" {
  name = "ci"
  tags = local.tags
}

resource "aws_iam_user_policy" "ci" {
  name = "push"
  user = aws_iam_user.ci.name
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = ["ecr:PutImage"], Resource = "*" }]
  })
}

resource "aws_iam_user_policy_attachment" "ci" {
  user       = aws_iam_user.ci.name
  policy_arn = aws_iam_policy.read.arn
}

resource "aws_iam_access_key" "ci" {
  user = aws_iam_user.ci.name
}

resource "aws_iam_group" "developers" {
  name = "developers"
}

resource "aws_iam_group_policy" "developers" {
  name  = "logs"
  group = aws_iam_group.developers.name
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = ["logs:GetLogEvents"], Resource = "*" }]
  })
}

resource "aws_iam_group_policy_attachment" "developers" {
  group      = aws_iam_group.developers.name
  policy_arn = aws_iam_policy.read.arn
}

resource "aws_iam_user_group_membership" "ci" {
  user   = aws_iam_user.ci.name
  groups = [aws_iam_group.developers.name]
}

# Data and messages.

resource "aws_sqs_queue" "jobs" {
  name                       = "jobs"
  visibility_timeout_seconds = 60
  tags                       = local.tags
}

resource "aws_sqs_queue_policy" "jobs" {
  queue_url = aws_sqs_queue.jobs.url
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect = "Allow", Principal = { Service = "sns.amazonaws.com" }, Action = "sqs:SendMessage", Resource = aws_sqs_queue.jobs.arn
    }]
  })
}

resource "aws_sns_topic" "events" {
  name         = "events"
  display_name = "events"
  tags         = local.tags
}

resource "aws_sns_topic_policy" "events" {
  arn = aws_sns_topic.events.arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "sns:Publish", Resource = aws_sns_topic.events.arn
    }]
  })
}

resource "aws_sns_topic_subscription" "jobs" {
  topic_arn = aws_sns_topic.events.arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.jobs.arn
}

resource "aws_lambda_function" "worker" {
  function_name    = "worker"
  role             = aws_iam_role.worker.arn
  runtime          = "python3.12"
  handler          = "main.handle"
  filename         = "${path.module}/worker.zip"
  source_code_hash = filebase64sha256("${path.module}/worker.zip")
  timeout          = 10
  tags             = local.tags

  environment {
    variables = { LEVEL = "info" }
  }
}

resource "aws_lambda_permission" "events" {
  statement_id  = "events"
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.worker.function_name
  principal     = "sns.amazonaws.com"
  source_arn    = aws_sns_topic.events.arn
}

resource "aws_kms_key" "data" {
  description             = "data"
  deletion_window_in_days = 7
  enable_key_rotation     = true
  tags                    = local.tags
}

resource "aws_kms_alias" "data" {
  name          = "alias/data"
  target_key_id = aws_kms_key.data.key_id
}

resource "aws_secretsmanager_secret" "database" {
  name        = "database"
  description = "login of the database"
  tags        = local.tags
}

resource "aws_ecr_repository" "web" {
  name                 = "web"
  image_tag_mutability = "IMMUTABLE"
  tags                 = local.tags
}

resource "aws_cloudwatch_log_group" "worker" {
  name              = "/aws/lambda/worker"
  retention_in_days = 30
  tags              = local.tags
}

resource "aws_s3_bucket" "trail" {
  bucket = "estate-trail"
}

resource "aws_s3_bucket_public_access_block" "trail" {
  bucket                  = aws_s3_bucket.trail.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_policy" "trail" {
  bucket = aws_s3_bucket.trail.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect = "Allow", Principal = { Service = "cloudtrail.amazonaws.com" }, Action = "s3:PutObject", Resource = "${aws_s3_bucket.trail.arn}/*"
    }]
  })
}

resource "aws_cloudtrail" "main" {
  name                          = "main"
  s3_bucket_name                = aws_s3_bucket.trail.id
  is_multi_region_trail         = true
  include_global_service_events = true
  enable_logging                = true
  depends_on                    = [aws_s3_bucket_policy.trail]
}

resource "aws_route53_zone" "main" {
  name = "prod.example"
  tags = local.tags
}

resource "aws_route53_record" "www" {
  zone_id = aws_route53_zone.main.zone_id
  name    = "www.prod.example"
  type    = "A"
  ttl     = 300
  records = ["192.0.2.10"]
}

# The second region.

resource "aws_vpc" "west" {
  provider   = aws.west
  cidr_block = "10.30.0.0/16"
  tags       = merge(local.tags, { Name = "west" })
}

resource "aws_subnet" "west" {
  provider          = aws.west
  vpc_id            = aws_vpc.west.id
  cidr_block        = "10.30.1.0/24"
  availability_zone = "us-west-2a"
  tags              = local.tags
}

resource "aws_security_group" "west" {
  provider    = aws.west
  name        = "west"
  description = "west"
  vpc_id      = aws_vpc.west.id
  tags        = local.tags
}

resource "aws_sqs_queue" "west" {
  provider = aws.west
  name     = "west"
  tags     = local.tags
}

# The people, each with a key.

resource "aws_iam_user" "people" {
  for_each = toset(["alice", "bob", "carol"])
  name     = each.key
  tags     = local.tags
}

resource "aws_iam_access_key" "people" {
  for_each = aws_iam_user.people
  user     = each.value.name
}
