terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox" }
  }
}

variable "endpoint" {}

provider "proxmox" {
  endpoint  = var.endpoint
  api_token = "terraform@pve!tf=12345678-1234-1234-1234-123456789abc"
  insecure  = true
}

resource "proxmox_virtual_environment_pool" "shop" {
  pool_id = "shop"
  comment = "the shop"
}

resource "proxmox_virtual_environment_vm" "web" {
  name        = "web"
  node_name   = "pve1"
  vm_id       = 301
  description = "serves the shop"
  tags        = ["shop", "web"]
  pool_id     = proxmox_virtual_environment_pool.shop.pool_id
  on_boot     = true
  cpu {
    cores = 2
    type  = "x86-64-v2-AES"
  }
  memory {
    dedicated = 2048
  }
  disk {
    datastore_id = "local-lvm"
    interface    = "scsi0"
    size         = 8
    file_format  = "raw"
  }
  network_device {
    bridge      = "vmbr0"
    mac_address = "BC:24:11:00:00:01"
  }
  operating_system {
    type = "l26"
  }
}

resource "proxmox_virtual_environment_vm" "db" {
  name      = "db"
  node_name = "pve2"
  vm_id     = 302
  agent {
    enabled = true
  }
  disk {
    datastore_id = "local-lvm"
    interface    = "scsi0"
    size         = 8
  }
  network_device {
    bridge = "vmbr0"
  }
}

resource "proxmox_virtual_environment_container" "dns" {
  node_name    = "pve2"
  vm_id        = 310
  description  = "names"
  unprivileged = true
  initialization {
    hostname = "dns"
    ip_config {
      ipv4 {
        address = "192.0.2.53/24"
        gateway = "192.0.2.1"
      }
    }
  }
  network_interface {
    name        = "eth0"
    bridge      = "vmbr0"
    mac_address = "BC:24:11:00:00:02"
  }
  disk {
    datastore_id = "local-lvm"
    size         = 4
  }
  operating_system {
    template_file_id = "local:vztmpl/debian-12.tar.zst"
    type             = "debian"
  }
}

resource "proxmox_virtual_environment_role" "operator" {
  role_id    = "Operator"
  privileges = ["VM.Audit", "VM.PowerMgmt"]
}

resource "proxmox_virtual_environment_group" "ops" {
  group_id = "ops"
  comment  = "on call"
}

resource "proxmox_virtual_environment_user" "carol" {
  user_id = "carol@pve"
  comment = "Carol"
  email   = "carol@example.org"
  groups  = [proxmox_virtual_environment_group.ops.group_id]
}

resource "proxmox_acl" "ops" {
  path      = "/pool/shop"
  group_id  = proxmox_virtual_environment_group.ops.group_id
  role_id   = proxmox_virtual_environment_role.operator.role_id
  propagate = true
}

resource "proxmox_virtual_environment_firewall_alias" "office" {
  name    = "office"
  cidr    = "198.51.100.0/24"
  comment = "desks"
}

resource "proxmox_virtual_environment_firewall_ipset" "admins" {
  name    = "admins"
  comment = "who may log in"
  cidr {
    name    = "198.51.100.7"
    comment = "carol"
  }
  cidr {
    name = "198.51.100.8"
  }
}

resource "proxmox_virtual_environment_firewall_rules" "web" {
  node_name = "pve1"
  vm_id     = proxmox_virtual_environment_vm.web.vm_id
  rule {
    type    = "in"
    action  = "ACCEPT"
    proto   = "tcp"
    dport   = "443"
    comment = "https"
  }
  rule {
    type   = "in"
    action = "DROP"
    source = "203.0.113.0/24"
  }
}
