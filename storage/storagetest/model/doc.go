// Package model checks the observations of the clients of a store against the history of etcd,
// which is one sequence of changes. It does not depend on a store or on etcd; package storagetest
// fills a [Log] and a [History] and calls [Check].
//
// The known history makes the checks exact and cheap. A general checker of linearizability, which
// only has calls and returns, must search for an order that explains the observations. Here the
// revisions are that order, and it only remains to check that each observation fits into it at a
// moment between its call and its return.
package model
