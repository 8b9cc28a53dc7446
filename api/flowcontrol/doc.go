// Package flowcontrol classifies requests by the stored FlowSchemas and
// PriorityLevelConfigurations, as kube-apiserver does for its response headers.
//
// [Classifier] only classifies. The limits of requests in flight do not depend on priority levels.
//
// The FlowSchemas are watched as soon as there are any. Without FlowSchemas a request costs a
// comparison of the number of writes.
package flowcontrol
