// Package openapi describes a catalog in OpenAPI, versions 2 and 3, as
// kube-apiserver describes itself: the same paths, operations, parameters and
// definitions, under the same names.
//
//   - definitions.go holds the schemas of the built-in types. They are generated
//     from the Go sources of those types by the program in gen/ and embedded
//     compressed; nothing of them is in memory before somebody asks.
//     library.go adds what a scheme knows them as.
//   - operation.go is the model of an operation, which knows neither version;
//     paths.go makes operations out of a resource, custom.go out of a custom one,
//     parameters.go and names.go their details. information.go has what is no
//     resource.
//   - v2.go and v3.go write the model down.
//   - parts.go cuts a catalog into parts, of which each has a document of version
//     3. The one document of version 2 is joined from what the parts add to it
//     (fragment.go, excerpt.go), in protobuf too (protobuf.go).
//   - [Documents] joins it all: each document is built on its first use, once,
//     and never changes.
//
// A catalog changes with each CustomResourceDefinition, and most of what it says
// stays. So parts are kept for as long as somebody has [Documents] that contain
// them, and documents are lists of pieces which they share.
package openapi
