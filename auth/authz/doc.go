// Package authz puts together who decides on access.
//
// [Chain] asks several authorizers in order, as kube-apiserver does with the
// list of --authorization-mode: the first that allows decides, and one that
// does not allow leaves it to the next. Package rbac has the one that decides by
// roles; here are those that need to know nothing: [Masters], [AlwaysDeny] and
// [Node]. registry has AlwaysAllow.
package authz
