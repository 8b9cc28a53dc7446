// Package rbac decides by Roles, ClusterRoles and their bindings.
//
// [Authorizer] keeps a copy of all four kinds, fed by watches that
// [Authorizer.Run] holds open, so that an allowed request costs no read of
// etcd. What is about to be refused is looked at again in a consistent state
// first: whoever has just created a binding can use it in the next request.
// An entry once decoded is not decoded again, so that second look is four
// lists of keys.
//
// A ClusterRole with an aggregationRule grants what the ClusterRoles that it
// selects grant, computed where it is read: nobody need run the controller
// that elsewhere writes the sum into the role.
//
// [Authorizer.Escalation] is the admission step by which nobody grants, by a
// role or a binding, what they may not do themselves.
package rbac
