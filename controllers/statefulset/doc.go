// Package statefulset creates, updates and deletes the pods of StatefulSets and their claims, as
// the StatefulSet controller of kube-controller-manager does.
//
// A reconciliation reads the pods, the claims and the ControllerRevisions (controller.go), takes
// the steps that the present state allows (replicas.go, rolling.go), and writes the status once at
// the end (status.go). The changes of the pods cause the next steps.
package statefulset
