// Package rbac decides by Roles, ClusterRoles and their bindings.
//
// [Authorizer] keeps a copy of all four kinds, fed by watches that
// [Authorizer.Run] holds open, so that an allowed request costs no read of
// etcd. A refusal is decided again in a consistent state first: a binding counts
// in the request after its creation. The consistent state costs four reads of the
// current revision as long as no role and no binding has changed.
//
// A ClusterRole with an aggregationRule grants what the ClusterRoles that it
// selects grant, computed where it is read: nobody need run the controller
// that elsewhere writes the sum into the role.
//
// [Authorizer.Escalation] is the admission step by which nobody grants, by a
// role or a binding, what they may not do themselves.
package rbac
