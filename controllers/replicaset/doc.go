// Package replicaset creates and deletes the pods of ReplicaSets, as the ReplicaSet controller of
// kube-controller-manager does: it adopts orphans, creates pods in growing batches, deletes the
// pods first that are needed least, and counts the pods in the status.
package replicaset
