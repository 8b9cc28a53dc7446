package plugin

import "github.com/miniapi/miniapi/registry"

// AlwaysAdmit admits every request.
func AlwaysAdmit() registry.AdmissionStep { return registry.AdmissionStep{Name: "AlwaysAdmit"} }
