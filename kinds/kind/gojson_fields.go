package kind

import (
	"reflect"
	"slices"
)

// newFields are the fields that the release of kube-apiserver with these messages does not have.
// They are left out if they are unset.
var newFields = map[string]bool{
	"ClusterTrustBundleProjection.User":   true,
	"ConfigMapVolumeSource.DefaultUser":   true,
	"DownwardAPIVolumeFile.User":          true,
	"DownwardAPIVolumeSource.DefaultUser": true,
	"EmptyDirVolumeSource.Mode":           true,
	"GRPCAction.Mode":                     true,
	"HTTPGetAction.Protocol":              true,
	"KeyToPath.User":                      true,
	"PodCertificateProjection.User":       true,
	"ProjectedVolumeSource.DefaultUser":   true,
	"SecretVolumeSource.DefaultUser":      true,
	"ServiceAccountTokenProjection.User":  true,
	"VolumeMount.BindMountOptions":        true,
}

// movedFields maps fields to the fields that they follow inside kube-apiserver.
var movedFields = map[string]string{
	"PersistentVolumeSource.FlexVolume": "ISCSI",
	"PersistentVolumeSource.Quobyte":    "RBD",
	"VolumeSource.Quobyte":              "RBD",
}

// fieldsInside returns the fields of a struct in the order of kube-apiserver's internal type.
func fieldsInside(t reflect.Type) []reflect.StructField {
	var fields, moved []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		if movedFields[t.Name()+"."+f.Name] == "" {
			fields = append(fields, f)
		} else {
			moved = append(moved, f)
		}
	}
	for _, f := range moved {
		at := slices.IndexFunc(fields, func(g reflect.StructField) bool { return g.Name == movedFields[t.Name()+"."+f.Name] })
		fields = slices.Insert(fields, at+1, f)
	}
	return fields
}
