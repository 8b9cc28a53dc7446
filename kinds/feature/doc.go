// Package feature states which features the server has in an emulated release of Kubernetes.
//
//   - gates.txt is the table of all feature gates, with the releases in which their states changed.
//   - dependencies.txt has the gates that a gate requires.
//   - gate.go names the gates that the server evaluates. The other gates of the table can be set
//     and have no effect.
//   - A [Set] is the state of all gates: the defaults of one release, changed by the user. It is
//     made from a [Config], once per process for equal content.
//
// The built-in kinds are built for a Set: package kind documents how a definition names gates. No
// other code compares releases.
//
// A change of kube-apiserver that has no gate, such as a new column of a table, is a row of the
// table as well, with a name in lower case.
package feature
