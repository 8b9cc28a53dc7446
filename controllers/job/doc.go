// Package job creates and counts the pods of Jobs, as kube-controller-manager's job-controller
// does.
package job
