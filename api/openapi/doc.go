// Package openapi describes a catalog in OpenAPI, versions 2 and 3, as
// kube-apiserver describes itself: the same paths, operations, parameters and
// definitions, under the same names.
//
//   - definitions.go holds the schemas of the built-in types. They are generated
//     from the Go sources of those types by the program in gen/ and embedded
//     compressed; nothing of them is in memory before somebody asks.
//   - operation.go is the model of an operation, which knows neither version;
//     paths.go makes operations out of a resource, parameters.go and names.go
//     their details.
//   - v2.go and v3.go write the model down.
//   - [Documents] joins it all: each document is built on its first use, once,
//     and never changes.
package openapi
