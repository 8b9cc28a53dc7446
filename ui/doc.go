// Package ui serves the page at /ui: static files that are embedded in the program. The page is a
// client of the API like every other one; it has no endpoint of its own.
//
// The files in static are served as they are, without a build step. app.js has the views and the
// routes (#/view/...), api.js the requests, livelist.js the live Tables, table.js the virtual rows.
package ui
