// Package rbac authorizes requests by Roles, ClusterRoles and their bindings.
//
// [Authorizer] keeps all four resources in informers, so an allowed request costs no read. Before
// it denies a request it does a consistent read, so a binding takes effect in the request after its
// creation. The consistent read costs four reads of the current revision as long as no role and no
// binding has changed.
//
// The rules of a ClusterRole with an aggregationRule are computed on read from the ClusterRoles
// that it selects. In Kubernetes a controller writes them into the role.
//
// [Authorizer.Escalation] is the admission step against privilege escalation: users cannot grant
// permissions that they do not have.
package rbac
