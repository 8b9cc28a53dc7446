// Package openapi describes a catalog in OpenAPI versions 2 and 3. Paths, operations, parameters
// and definitions have the same names and texts as in kube-apiserver.
//
//   - definitions.go holds the schemas of the built-in types. The program in gen/ generates them
//     from the Go sources of the types; they are embedded compressed and unpacked on first use.
//     library.go adds the kinds that a scheme registers for each type.
//   - operation.go is the model of an operation, which is independent of the OpenAPI version.
//     paths.go creates the operations of a resource, custom.go the operations of a custom one,
//     parameters.go and names.go their details. nonresource.go has the non-resource paths.
//   - v2.go and v3.go encode the model.
//   - parts.go divides a catalog into parts, each of which has one document of version 3. The
//     single document of version 2 is joined from the fragments of all parts (fragment.go,
//     excerpt.go).
//   - protobuf.go converts the JSON of documents to protobuf, on request. v2_paths.go converts
//     paths; gnostic converts the rest, from nodes of YAML that node.go reads from the JSON.
//   - [Documents] holds all documents of a catalog. Each document is built on its first use, once,
//     and never changes.
//
// A catalog changes with each CustomResourceDefinition, but most of its parts stay the same.
// Parts are therefore shared while any [Documents] contain them, and documents are lists of shared
// pieces.
package openapi
