package listener

import "golang.org/x/sys/windows"

// errInUse is the error of listening on a port that another process uses.
const errInUse = windows.WSAEADDRINUSE
