// Package crd serves custom resources: it adds the resources of the stored
// CustomResourceDefinitions to a catalog.
//
// A [Controller] watches the definitions. It resolves conflicts of names, writes the conditions,
// and adds the resources to the catalog. When a definition is deleted, it deletes the objects and
// removes the resources.
//
// A definition has one registry.Resource for each served version. Its objects are unstructured.
// Schemas, validators and expressions are compiled on first use, so an unused definition costs
// little more than its bytes. Packages of apiextensions-apiserver implement the semantics of
// schemas: pruning, defaulting, validation and CEL.
package crd
