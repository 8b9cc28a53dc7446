// Package plugin holds the steps that look at writes of every resource
// before they are stored. Each is a registry.AdmissionStep, made by the
// function named after it; which of them run, and in which order, is decided
// where a catalog is configured.
package plugin
