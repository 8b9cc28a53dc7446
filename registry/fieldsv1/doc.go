// Package fieldsv1 computes managed fields directly from Go values, where package managedfields
// and structured-merge-diff would build sets of paths, transform them and encode them.
//
// A [Plan] combines the merge rules of a kind with its Go type. [Plan.Update] compares two objects
// in one walk, whose result is a sorted tree of changes, and merges the tree into the FieldsV1 of
// each field manager without decoding it. A create compares with the empty object.
//
// The result is equal to the result of package managedfields, byte for byte. Plan.Update reports
// false where it does not support an object, and the caller uses package managedfields:
//
//   - duplicate items or missing keys in a list, or content that does not match the type
//   - managed fields in another version, in another encoding, or from before a change of the type
//   - field names and keys with characters that JSON escapes
//   - more field managers than the maximum
//
// Plans are built as objects use them, one type at a time.
package fieldsv1
