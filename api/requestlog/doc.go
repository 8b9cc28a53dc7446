// Package requestlog keeps and logs the records of requests. A [Log] writes one line per request
// and keeps the last records in memory, each if it is configured to. filters.WithRequestLog adds
// the record of each request when its response is complete, so a watch is logged when it ends.
package requestlog
