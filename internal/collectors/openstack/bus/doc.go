// Package bus learns who did what in an OpenStack from the notifications that
// its services publish (oslo.messaging over AMQP 0.9.1). Of a notification it
// keeps who, when and on which object, and the names of fields: never a value,
// for they may hold passwords and tokens.
//
// https://docs.openstack.org/oslo.messaging/latest/reference/notifier.html
package bus
