terraform {
  required_providers {
    openstack = { source = "terraform-provider-openstack/openstack" }
  }
}

data "openstack_networking_network_v2" "public" {
  name = "public"
}

data "openstack_images_image_v2" "debian" {
  name = "debian"
}

resource "openstack_networking_network_v2" "web" {
  name = "web"
  tags = ["prod"]
}

resource "openstack_networking_subnet_v2" "web" {
  name            = "web"
  network_id      = openstack_networking_network_v2.web.id
  cidr            = "10.20.0.0/24"
  dns_nameservers = ["192.0.2.53"]
  tags            = ["prod"]
  # The fixed address of the port web is outside: Neutron may give any address
  # of the pool to the port spare first.
  allocation_pools {
    start = "10.20.0.100"
    end   = "10.20.0.199"
  }
}

resource "openstack_networking_router_v2" "edge" {
  name                = "edge"
  external_network_id = data.openstack_networking_network_v2.public.id
  tags                = ["prod"]
}

resource "openstack_networking_router_interface_v2" "web" {
  router_id = openstack_networking_router_v2.edge.id
  subnet_id = openstack_networking_subnet_v2.web.id
}

resource "openstack_networking_secgroup_v2" "web" {
  name = "web"
  tags = ["prod"]
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

resource "openstack_networking_secgroup_rule_v2" "peers" {
  security_group_id = openstack_networking_secgroup_v2.web.id
  direction         = "ingress"
  ethertype         = "IPv4"
  remote_group_id   = openstack_networking_secgroup_v2.web.id
}

resource "openstack_networking_secgroup_v2" "batch" {
  name = "batch"
}

resource "openstack_networking_secgroup_rule_v2" "batch" {
  security_group_id = openstack_networking_secgroup_v2.batch.id
  direction         = "ingress"
  ethertype         = "IPv4"
  protocol          = "tcp"
  port_range_min    = 22
  port_range_max    = 22
  remote_ip_prefix  = "10.0.0.0/8"
}

resource "openstack_networking_port_v2" "web" {
  name               = "web"
  network_id         = openstack_networking_network_v2.web.id
  admin_state_up     = true
  security_group_ids = [openstack_networking_secgroup_v2.web.id]
  tags               = ["prod"]
  fixed_ip {
    subnet_id  = openstack_networking_subnet_v2.web.id
    ip_address = "10.20.0.20"
  }
}

resource "openstack_networking_port_v2" "spare" {
  name       = "spare"
  network_id = openstack_networking_network_v2.web.id
  fixed_ip {
    subnet_id = openstack_networking_subnet_v2.web.id
  }
}

resource "openstack_compute_keypair_v2" "ops" {
  name = "ops"
}

resource "openstack_images_image_v2" "golden" {
  name             = "golden"
  local_file_path  = "${path.module}/golden.raw"
  container_format = "bare"
  disk_format      = "raw"
  visibility       = "private"
}

resource "openstack_blockstorage_volume_v3" "data" {
  name     = "data"
  size     = 1
  metadata = { tier = "web" }
}

resource "openstack_compute_instance_v2" "web" {
  name        = "web"
  flavor_name = "small"
  image_id    = data.openstack_images_image_v2.debian.id
  key_pair    = openstack_compute_keypair_v2.ops.name
  metadata    = { role = "web" }
  network {
    port = openstack_networking_port_v2.web.id
  }
}

resource "openstack_networking_floatingip_v2" "web" {
  pool    = "public"
  port_id = openstack_networking_port_v2.web.id
  # An address reaches a port by its router.
  depends_on = [openstack_networking_router_interface_v2.web, openstack_compute_instance_v2.web]
}
