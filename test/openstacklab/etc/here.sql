-- What the databases hold of this place: its addresses, which are new each time,
-- and the only stand-in beside the hypervisor, an agent that never goes stale.
{{range .Catalog}}
insert ignore into keystone.service (id, type, extra) values ('{{.Name}}', '{{.Type}}', '{"name": "{{.Name}}"}');
{{- $url := .URL}}{{$name := .Name}}
{{- range $.Interfaces}}
replace into keystone.endpoint (id, interface, service_id, url, extra, region_id) values ('{{$name}}-{{.}}', '{{.}}', '{{$name}}', '{{$url}}', '{}', 'RegionOne');
{{- end}}{{end}}

insert ignore into neutron.agents (id, agent_type, `binary`, topic, host, created_at, started_at, heartbeat_timestamp, configurations)
values (uuid(), 'Open vSwitch agent', 'neutron-openvswitch-agent', 'N/A', 'compute1', utc_timestamp(), utc_timestamp(), utc_timestamp(),
  '{"bridge_mappings": {"physnet1": "br-ex"}, "tunnel_types": ["vxlan"], "tunneling_ip": "127.0.0.1", "datapath_type": "system", "ovs_hybrid_plug": false, "resource_provider_bandwidths": {}}');

insert into nova_api.cell_mappings (id, uuid, name, disabled, transport_url, database_connection) values
  (1, '00000000-0000-0000-0000-000000000000', 'cell0', 0, 'none:///', '{{.DB "nova_cell0"}}'),
  (2, 'c0f1e16e-f3b6-40af-af9b-ba40e465fdd6', 'cell1', 0, '{{.Rabbit}}', '{{.DB "nova"}}')
on duplicate key update transport_url = values(transport_url), database_connection = values(database_connection);
insert ignore into nova_api.host_mappings (cell_id, host) values (2, 'compute1');
