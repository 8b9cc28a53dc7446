// Package controlplane runs the components of a real control plane against miniapi:
// kube-controller-manager, kube-scheduler, kwok and sample-apiserver. It starts them by the
// commands of docs/control-plane.md, and checks their results.
//
// The folders v1.36 and v1.37 are modules that only pin the programs: no module imports
// k8s.io/kubernetes. make controlplane builds the programs and runs the tests; .ci/run does not,
// because the first build takes ten minutes.
package controlplane
