// Package plugin implements the admission plugins of kube-apiserver. Each plugin is a
// [registry.AdmissionStep] that sees the writes of every resource before they are stored. It is
// returned by the function with the name of the plugin, in the file with that name. [Default]
// assembles the chain.
//
// To add a plugin, add a file with its function and a line in steps (chain.go).
package plugin
