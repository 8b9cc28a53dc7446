// Package daemonset creates a pod of each DaemonSet on each node that it selects, as the DaemonSet
// controller of kube-controller-manager does.
//
// A reconciliation reads the nodes, the pods and the ControllerRevisions (controller.go), corrects
// the number of pods on each node (nodes.go), or else takes a step of a rolling update
// (rolling.go), and writes the status at the end (status.go).
package daemonset
