// Package request parses the attributes of a request: the API group, version, resource,
// namespace, name and verb. [NewInfo] follows kube-apiserver's rules, so that a request is
// authorized for exactly the object that it reaches.
//
// The first filter of the chain stores an [Info] in the request's context. [InfoFrom] returns it
// to all later filters and handlers; [AuthorizationAttributes] derives the attributes that an
// authorizer decides on.
package request
