// Package job creates and counts the pods of Jobs, as kube-controller-manager's job-controller
// does.
//
// Each reconciliation reads the Job and its pods (state.go), decides whether the Job has ended
// (decide.go), creates or deletes pods (manage.go), writes the status and then removes the
// finalizer of the counted pods (controller.go). A pod is counted in two steps, so that none is
// counted twice or lost: its UID is added to status.uncountedTerminatedPods while it has the
// finalizer, and moved into the counters when the finalizer is gone. Succeeded pods of an Indexed
// Job are recorded by their index.
package job
