// Package flowcontrol classifies requests by the stored FlowSchemas and
// PriorityLevelConfigurations, as kube-apiserver does for its response headers and metrics.
//
// [Classifier] finds the [Classification] of a request, which observes the request in the metrics.
// The limits of requests in flight do not depend on priority levels.
//
// The FlowSchemas are watched as soon as there are any. Without FlowSchemas a request costs a
// comparison of the number of writes.
package flowcontrol
