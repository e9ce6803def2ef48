terraform {
  required_providers {
    openstack = { source = "terraform-provider-openstack/openstack" }
  }
}

data "openstack_images_image_v2" "debian" {
  name = "debian"
}

resource "openstack_networking_network_v2" "web" {
  name        = "web"
  description = "of the shop"
  tags        = ["prod", "web"]
}

resource "openstack_networking_subnet_v2" "web" {
  name       = "web"
  network_id = openstack_networking_network_v2.web.id
  cidr       = "10.30.0.0/24"
}

resource "openstack_networking_secgroup_v2" "web" {
  name        = "web"
  description = "of the shop"
}

resource "openstack_networking_secgroup_rule_v2" "https" {
  security_group_id = openstack_networking_secgroup_v2.web.id
  direction         = "ingress"
  ethertype         = "IPv4"
  protocol          = "tcp"
  port_range_min    = 443
  port_range_max    = 443
  remote_ip_prefix  = "0.0.0.0/0"
}

resource "openstack_networking_port_v2" "web" {
  name               = "web"
  network_id         = openstack_networking_network_v2.web.id
  security_group_ids = [openstack_networking_secgroup_v2.web.id]
  tags               = ["prod"]
  fixed_ip {
    subnet_id = openstack_networking_subnet_v2.web.id
  }
}

resource "openstack_images_image_v2" "golden" {
  name             = "base"
  local_file_path  = "${path.module}/golden.raw"
  container_format = "bare"
  disk_format      = "raw"
  tags             = ["prod"]
}

resource "openstack_blockstorage_volume_v3" "data" {
  name     = "data"
  size     = 1
  metadata = { tier = "web", backup = "daily" }
}

resource "openstack_compute_instance_v2" "web" {
  name        = "web"
  flavor_name = "small"
  image_id    = data.openstack_images_image_v2.debian.id
  metadata    = { role = "web" }
  network {
    port = openstack_networking_port_v2.web.id
  }
}
