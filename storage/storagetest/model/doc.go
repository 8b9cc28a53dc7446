// Package model checks what the clients of a store saw against what really
// happened: the history of etcd, which is one sequence of changes. It knows no
// store and no etcd; package storagetest fills a [Log] and a [History] and
// asks [Check].
//
// That the history is known makes the checks exact and cheap. No search for an
// order that would explain the observations is needed, as a checker of
// linearizability does it that knows nothing but calls and returns: the
// revisions are that order, and what is left to check is whether each
// observation fits into it at a moment between its call and its return.
package model
