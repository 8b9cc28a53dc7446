// Package audit writes the audit log of kube-apiserver: events of audit.k8s.io/v1, one JSON object
// per line. [Log] holds the policy and the file. [Log.Begin] returns the [Event] of a request,
// which filters.WithAudit writes at each stage, and which the handlers complete with the objects of
// the request and of the response. A nil Event stands for a request that is not in the audit log,
// so a server without an audit log makes one comparison with nil at each place.
//
// k8s.io/apiserver has the types, the decoding of policies and the matching of rules.
// Annotations are collected by registry.AddAuditAnnotation.
package audit
