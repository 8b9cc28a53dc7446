package miniapitest

// NewLogger makes the logger of a test, to outlive the test.
var NewLogger = newLogger
