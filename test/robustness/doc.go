// Package robustness tests miniapi under faults: real processes on loopback, real clients, and a
// check of everything that the clients have observed. docs/robustness.md describes it.
//
//   - cluster runs servers and etcd members as processes.
//   - traffic runs clients and records their operations.
//   - fault disturbs the cluster.
//   - verify checks the record.
package robustness
