// Package crd makes resources of CustomResourceDefinitions, and keeps those
// of a catalog in step with the definitions that are stored.
//
// A [Controller] watches the definitions: it settles their names, writes their
// conditions, puts what they define into the catalog and takes it out again,
// objects and all, when a definition goes.
//
// What a definition defines is one registry.Resource for each version that is
// served. Its objects are unstructured, and schemas, validators and expressions
// are compiled when they are first needed: a definition that nobody uses costs
// little more than its bytes. The semantics of schemas (pruning, defaulting,
// validation, CEL) are those of apiextensions-apiserver, whose packages do it.
package crd
