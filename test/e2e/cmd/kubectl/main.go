// Command kubectl is kubectl, in the version that this module's go.mod names.
package main

import "github.com/miniapi/miniapi/test/e2e/kubectl"

func main() { kubectl.Main() }
