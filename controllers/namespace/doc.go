// Package namespace deletes the content of namespaces that are being deleted, and then releases
// them, as kube-controller-manager's namespace controller does: pods first, then all other kinds,
// with the same conditions in the status of the namespace.
//
// The controller does not wait for a grace period before it begins. Instead it waits until the
// creations that the server admitted before the deletion have ended. Servers that share an etcd
// cannot wait for each other's creations, so they look for leftovers some time after the deletion.
// While content remains, each change in the namespace starts another pass.
package namespace
