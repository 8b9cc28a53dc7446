// Command compare measures ways to test a client of Kubernetes: the time until the first object is
// created, and memory. It prints the table of README.md.
//
//	go -C test/e2e run ./cmd/compare -assets DIR
//
// DIR has the kube-apiserver and etcd that setup-envtest downloads. Without -assets the row of
// envtest is left out.
//
// Each way runs in processes of its own (run.go), so that a first start is a first start.
// candidates.go has the ways, memory.go measures all processes that a way starts.
package main
