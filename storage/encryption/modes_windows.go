package encryption

// modesAreKept reports whether files have the modes of Unix.
const modesAreKept = false
