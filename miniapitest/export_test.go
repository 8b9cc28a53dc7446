package miniapitest

// NewLogger creates the logger of a test.
var NewLogger = newLogger
