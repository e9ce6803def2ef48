# Fills empty databases: done once, and kept.
set -eux
export PATH="{{.Files}}/usr/bin:$PATH"
conf="{{.Dir}}/etc"
sql() { mariadb --no-defaults --user=root --socket="{{.Socket}}"; }

for name in keystone neutron placement glance nova_api nova nova_cell0 cinder; do
	echo "create database $name character set utf8;"
done | sql

keystone() {
	manage="keystone-manage --config-file $conf/keystone.conf"
	user=$(id -un) group=$(id -gn)
	$manage db_sync
	$manage fernet_setup --keystone-user "$user" --keystone-group "$group"
	$manage credential_setup --keystone-user "$user" --keystone-group "$group"
	$manage bootstrap --bootstrap-region-id RegionOne --bootstrap-password admin --bootstrap-public-url "{{.URL "keystone"}}/v3"
	for service in {{range .Catalog}}{{.Name}} {{end}}; do
		$manage bootstrap --bootstrap-username "$service" --bootstrap-project-name service --bootstrap-password service
	done
	# What here.sql says of the catalogue is all there is.
	echo 'delete from keystone.endpoint; delete from keystone.service;' | sql
}

others() {
	neutron-db-manage --config-file "$conf/neutron.conf" upgrade heads
	placement-manage --config-file "$conf/placement.conf" db sync
	glance-manage --config-file "$conf/glance.conf" db_sync
	cinder-manage --config-file "$conf/cinder.conf" db sync
	nova-manage --config-file "$conf/nova.conf" api_db sync
}

# On two processors two at a time.
keystone &
others
wait "$!"
sql <"$conf/here.sql"
nova-manage --config-file "$conf/nova.conf" db sync
