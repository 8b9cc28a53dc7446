// Package encoding reads and writes the bodies of the API: media types and their negotiation,
// decoding of request bodies, encoding of objects, lists, Tables, metadata and watch frames, and
// the responses that carry them. It serves no resource and calls no store.
//
//   - [Codec] is the table of media types (media_type.go). [Codec.Negotiate] reads the Accept
//     header and returns a [Format]; [Codec.ForContentType] reads the Content-Type header.
//   - [MediaType.DecodeBody] decodes a request body (decode.go). It limits the nesting of JSON
//     (json_depth.go), CBOR (cbor_depth.go) and protobuf (protobuf_depth.go), which recursive
//     decoders do not.
//   - A [Body] is an encoded object without apiVersion and kind: the part that is the same in a
//     get, a list and a watch. [EntryEncoder] encodes stored objects; a [storage.Entry] memoises
//     their bodies, so that all requests share one encoding per version and format.
//   - A [Document] is a body with the bytes around it (json.go, protobuf.go, cbor.go).
//     [FrameEncoder] makes the frames of a watch, whose framing is part of the media type.
//   - [Responder] is a Codec that also writes responses: objects, lists item by item (list.go,
//     yaml.go), Tables row by row (table.go, table_list.go), cached objects (cached_object.go) and
//     errors, which [StatusOf] turns into a Status. It compresses large responses and watches
//     (gzip.go, gzip_stream.go), and reserves memory for responses that are built as a whole.
//
// Invariant: objects and bodies are shared between requests. Nothing here writes to them.
package encoding
