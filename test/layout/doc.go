// Package layout tests the repository itself: which package may import which, that the documents
// agree with go.mod and with the releases that are tested, that their links lead somewhere, and the
// language of comments and documents.
package layout
