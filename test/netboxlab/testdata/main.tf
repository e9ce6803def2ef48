terraform {
  required_providers {
    netbox = { source = "e-breuninger/netbox" }
  }
}

variable "server_url" {}
variable "api_token" {}

provider "netbox" {
  server_url         = var.server_url
  api_token          = var.api_token
  skip_version_check = true
}

resource "netbox_tag" "managed" {
  name      = "managed"
  color_hex = "00ff00"
}

resource "netbox_tag" "web" {
  name = "web"
}

resource "netbox_tenant_group" "internal" {
  name = "Internal"
}

resource "netbox_tenant" "payments" {
  name     = "Payments"
  slug     = "payments"
  group_id = netbox_tenant_group.internal.id
}

resource "netbox_tenant" "platform" {
  name = "Platform"
  slug = "platform"
}

resource "netbox_region" "europe" {
  name = "Europe"
}

resource "netbox_site" "fra1" {
  name      = "Frankfurt 1"
  slug      = "fra1"
  status    = "active"
  region_id = netbox_region.europe.id
  latitude  = 50.1109
  longitude = 8.682127
  timezone  = "Europe/Berlin"
  tags      = [netbox_tag.managed.name]
}

resource "netbox_cluster_type" "proxmox" {
  name = "Proxmox VE"
  slug = "proxmox-ve"
}

resource "netbox_cluster_group" "europe" {
  name = "Europe"
  slug = "europe"
}

resource "netbox_cluster" "prod" {
  name             = "prod-fra"
  cluster_type_id  = netbox_cluster_type.proxmox.id
  cluster_group_id = netbox_cluster_group.europe.id
  site_id          = netbox_site.fra1.id
  tags             = [netbox_tag.managed.name]
}

resource "netbox_device_role" "app" {
  name      = "App server"
  slug      = "app"
  color_hex = "00aaff"
}

resource "netbox_platform" "debian" {
  name = "Debian 13"
  slug = "debian-13"
}

resource "netbox_custom_field" "cost_center" {
  name          = "cost_center"
  type          = "text"
  content_types = ["virtualization.virtualmachine"]
  weight        = 100
}

locals {
  vms = {
    "app-01" = { tenant = netbox_tenant.payments.id, memory = 4096, vcpus = 2, address = "10.20.1.11/24" }
    "app-02" = { tenant = netbox_tenant.payments.id, memory = 4096, vcpus = 2.5, address = "10.20.1.12/24" }
    "db-01"  = { tenant = netbox_tenant.platform.id, memory = 32768, vcpus = 8, address = "2001:db8::21/64" }
  }
}

resource "netbox_virtual_machine" "vm" {
  for_each      = local.vms
  name          = each.key
  cluster_id    = netbox_cluster.prod.id
  tenant_id     = each.value.tenant
  role_id       = netbox_device_role.app.id
  platform_id   = netbox_platform.debian.id
  memory_mb     = each.value.memory
  vcpus         = each.value.vcpus
  disk_size_gb  = 40
  comments      = "made by Terraform"
  tags          = [netbox_tag.managed.name]
  custom_fields = { (netbox_custom_field.cost_center.name) = "CC-1" }
}

resource "netbox_interface" "eth0" {
  for_each           = local.vms
  name               = "eth0"
  virtual_machine_id = netbox_virtual_machine.vm[each.key].id
  mac_address        = format("BC:24:11:00:00:%02X", index(keys(local.vms), each.key) + 1)
}

resource "netbox_ip_address" "vm" {
  for_each     = local.vms
  ip_address   = each.value.address
  status       = "active"
  dns_name     = "${each.key}.example.net"
  interface_id = netbox_interface.eth0[each.key].id
  tenant_id    = each.value.tenant
}

resource "netbox_primary_ip" "vm" {
  for_each           = local.vms
  virtual_machine_id = netbox_virtual_machine.vm[each.key].id
  ip_address_id      = netbox_ip_address.vm[each.key].id
  ip_address_version = strcontains(each.value.address, ":") ? 6 : 4
}

resource "netbox_service" "https" {
  name               = "https"
  protocol           = "tcp"
  ports              = [443]
  virtual_machine_id = netbox_virtual_machine.vm["app-01"].id
}

resource "netbox_vrf" "payments" {
  name = "payments"
}

resource "netbox_ipam_role" "servers" {
  name = "Servers"
  slug = "servers"
}

resource "netbox_vlan" "app" {
  name      = "app"
  vid       = 110
  tenant_id = netbox_tenant.payments.id
  site_id   = netbox_site.fra1.id
  role_id   = netbox_ipam_role.servers.id
  tags      = []
}

resource "netbox_prefix" "app" {
  prefix      = "10.20.1.0/24"
  status      = "active"
  site_id     = netbox_site.fra1.id
  vlan_id     = netbox_vlan.app.id
  tenant_id   = netbox_tenant.payments.id
  description = "application servers"
}

resource "netbox_available_ip_address" "next" {
  prefix_id  = netbox_prefix.app.id
  dns_name   = "next.example.net"
  depends_on = [netbox_ip_address.vm]
}

resource "netbox_ip_range" "pool" {
  start_address = "10.20.1.200/24"
  end_address   = "10.20.1.220/24"
}

resource "netbox_rir" "private" {
  name = "RFC 1918"
}

resource "netbox_aggregate" "ten" {
  prefix = "10.0.0.0/8"
  rir_id = netbox_rir.private.id
}

resource "netbox_manufacturer" "dell" {
  name = "Dell"
}

resource "netbox_device_type" "r650" {
  model           = "PowerEdge R650"
  slug            = "poweredge-r650"
  manufacturer_id = netbox_manufacturer.dell.id
}

resource "netbox_device" "hv01" {
  name           = "hv01"
  device_type_id = netbox_device_type.r650.id
  role_id        = netbox_device_role.app.id
  site_id        = netbox_site.fra1.id
  tenant_id      = netbox_tenant.platform.id
  serial         = "SN0001"
  tags           = [netbox_tag.managed.name]
}

resource "netbox_circuit_provider" "isp" {
  name = "ISP"
}

resource "netbox_circuit_type" "internet" {
  name = "Internet"
}

resource "netbox_circuit" "one" {
  cid         = "C-1"
  status      = "active"
  provider_id = netbox_circuit_provider.isp.id
  type_id     = netbox_circuit_type.internet.id
}
