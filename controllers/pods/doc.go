// Package pods has the parts that the controllers of workloads share: [FromTemplate], the
// predicates of pods, the predicates of nodes for a pod, the order of deletion [ByDeletion],
// [InBatches] for the creation of many pods, and [Control], which creates and deletes pods with an
// Event for the workload.
package pods
