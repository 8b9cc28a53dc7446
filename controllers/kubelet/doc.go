// Package kubelet runs pods without a node agent, for --pods=instant: pods are bound to a node and
// become ready at once, and end at once when they are deleted. No container is executed.
//
// nodes.go makes nodes ready and registers one if there is none, scheduling.go binds pods, and
// lifecycle.go writes the status of bound pods, which status.go and containers.go compute. All
// changes are ordinary writes of a scheduler and of the kubelet of the node.
//
// Each step of the lifecycle is written once. Later changes of the status by clients stay, so a
// test can make a pod or a node unready.
package kubelet
