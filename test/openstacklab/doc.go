// Package openstacklab runs a real OpenStack on loopback for tests: Keystone, Neutron,
// Placement, Glance, Cinder and Nova, from Debian's packages, with MariaDB and RabbitMQ. Three
// parts are fake: Nova's hypervisor and Cinder's disks are the fakes of these projects, and the
// agent that would wire Neutron's ports is a row in its database.
//
// The services send notifications, and an audit record of each request that changes something,
// to RabbitMQ. The programs are in the folder that `tools/openstack.sh` prints; the databases
// are filled once and kept there.
package openstacklab
