// Package openstacklab runs a real OpenStack on loopback for tests: Keystone,
// Neutron, Placement, Glance, Cinder and Nova, as Debian packages them, with
// MariaDB and RabbitMQ. Three things are stood in for: Nova's hypervisor and
// Cinder's disks, by the fakes that they come with, and the agent that would wire
// Neutron's ports, by a row in its database.
//
// The services send notifications, and a record of each request that changes
// something, to RabbitMQ. What they need lies in the folder that
// `tools/openstack.sh` prints; the databases are filled once and kept there.
package openstacklab
