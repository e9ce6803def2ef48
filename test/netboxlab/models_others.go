package netboxlab

// emptyModels are models without objects in the tests. A real server has their lists, too.
const emptyModels = `
ipam/vlan-translation-policies/4.2 ipam.vlantranslationpolicy 103 VLAN translation policy
ipam/vlan-translation-rules/4.2 ipam.vlantranslationrule 104 VLAN translation rule
ipam/asn-ranges ipam.asnrange 89 ASN range
ipam/service-templates ipam.servicetemplate 99 application service template
ipam/fhrp-group-assignments ipam.fhrpgroupassignment 92 FHRP group assignment
extras/config-context-profiles/4.4 extras.configcontextprofile 109 config context profile
extras/export-templates extras.exporttemplate 117 export template
extras/custom-links extras.customlink 116 custom link
extras/saved-filters extras.savedfilter 118 saved filter
extras/notification-groups/4.1 extras.notificationgroup 124 notification group
core/data-sources core.datasource 29 data source
users/tokens users.token 137 token
users/owner-groups/4.5 users.ownergroup 133 owner group
dcim/rack-groups/4.6 dcim.rackgroup 81 rack group
dcim/rack-types/4.1 dcim.racktype 82 rack type
dcim/rack-reservations dcim.rackreservation 85 rack reservation
dcim/module-types dcim.moduletype 70 module type
dcim/module-type-profiles/4.3 dcim.moduletypeprofile 69 module type profile
dcim/virtual-device-contexts dcim.virtualdevicecontext 77 virtual device context
dcim/power-feeds dcim.powerfeed 80 power feed
dcim/cable-bundles/4.6 dcim.cablebundle 54 cable bundle
dcim/console-server-ports dcim.consoleserverport 44 console server port
dcim/power-outlets dcim.poweroutlet 46 power outlet
dcim/front-ports dcim.frontport 48 front port
dcim/rear-ports dcim.rearport 49 rear port
dcim/module-bays dcim.modulebay 50 module bay
dcim/device-bays dcim.devicebay 51 device bay
dcim/console-port-templates dcim.consoleporttemplate 58 console port template
dcim/console-server-port-templates dcim.consoleserverporttemplate 59 console server port template
dcim/power-port-templates dcim.powerporttemplate 60 power port template
dcim/power-outlet-templates dcim.poweroutlettemplate 61 power outlet template
dcim/interface-templates dcim.interfacetemplate 62 interface template
dcim/front-port-templates dcim.frontporttemplate 64 front port template
dcim/rear-port-templates dcim.rearporttemplate 65 rear port template
dcim/module-bay-templates dcim.modulebaytemplate 66 module bay template
dcim/device-bay-templates dcim.devicebaytemplate 67 device bay template
dcim/inventory-item-templates dcim.inventoryitemtemplate 68 inventory item template
circuits/circuit-terminations circuits.circuittermination 37 circuit termination
circuits/provider-accounts circuits.provideraccount 39 provider account
circuits/provider-networks circuits.providernetwork 8 provider network
circuits/circuit-groups/4.1 circuits.circuitgroup 35 circuit group
circuits/circuit-group-assignments/4.1 circuits.circuitgroupassignment 36 circuit group assignment
circuits/virtual-circuits/4.2 circuits.virtualcircuit 41 virtual circuit
circuits/virtual-circuit-terminations/4.2 circuits.virtualcircuittermination 42 virtual circuit termination
circuits/virtual-circuit-types/4.2 circuits.virtualcircuittype 40 virtual circuit type
vpn/tunnel-terminations/3.7 vpn.tunneltermination 154 tunnel termination
vpn/ike-proposals/3.7 vpn.ikeproposal 145 IKE proposal
vpn/ike-policies/3.7 vpn.ikepolicy 146 IKE policy
vpn/ipsec-proposals/3.7 vpn.ipsecproposal 147 IPSec proposal
vpn/ipsec-policies/3.7 vpn.ipsecpolicy 148 IPSec policy
vpn/ipsec-profiles/3.7 vpn.ipsecprofile 149 IPSec profile
vpn/l2vpns/3.7 vpn.l2vpn 150 L2VPN
vpn/l2vpn-terminations/3.7 vpn.l2vpntermination 151 L2VPN termination
wireless/wireless-links wireless.wirelesslink 157 wireless link
`
