// Package bus reads the notifications that the services of an OpenStack cloud publish
// (oslo.messaging over AMQP 0.9.1). It keeps the user, the time, the object and the names of
// changed fields. It never keeps values, since they may contain passwords and tokens.
//
// https://docs.openstack.org/oslo.messaging/latest/reference/notifier.html
package bus
