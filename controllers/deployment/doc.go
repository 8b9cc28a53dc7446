// Package deployment rolls out the ReplicaSets of Deployments, as the Deployment controller of
// kube-controller-manager does.
//
// A reconciliation reads the ReplicaSets of a Deployment (sets.go), takes one step of the rollout
// (rolling.go, recreate.go) or of a change of the size (scale.go), and writes the status once at
// the end (status.go, progress.go). The changes of the ReplicaSets cause the next step.
package deployment
