package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/podspec"
)

// restoreClaim: a claim that nobody has looked at is stored without a phase,
// and older releases did not pair the fields for its source.
func restoreClaim(c *corev1.PersistentVolumeClaim) {
	podspec.DefaultClaim(c)
	pairDataSources(&c.Spec)
}

func prepareClaim(c *corev1.PersistentVolumeClaim) {
	dropForeignSource(&c.Spec)
	dropOddSource(&c.Spec)
	pairDataSources(&c.Spec)
}

func prepareClaimUpdate(c, old *corev1.PersistentVolumeClaim) {
	if old.Spec.DataSourceRef == nil {
		dropForeignSource(&c.Spec)
	}
	if old.Spec.DataSource == nil && old.Spec.DataSourceRef == nil {
		dropOddSource(&c.Spec)
	}
	pairDataSources(&c.Spec)
}

// dropForeignSource ignores a source in another namespace: kube-apiserver knows
// those, but has turned them off.
func dropForeignSource(spec *corev1.PersistentVolumeClaimSpec) {
	if ref := spec.DataSourceRef; ref != nil && ref.Namespace != nil && *ref.Namespace != "" {
		spec.DataSourceRef = nil
	}
}

// dropOddSource ignores what the older of the two fields for a source was never
// allowed to name: anything but a claim or a snapshot.
func dropOddSource(spec *corev1.PersistentVolumeClaimSpec) {
	if spec.DataSource == nil || spec.DataSourceRef != nil {
		return
	}
	group := ""
	if spec.DataSource.APIGroup != nil {
		group = *spec.DataSource.APIGroup
	}
	claim := spec.DataSource.Kind == "PersistentVolumeClaim" && group == ""
	snapshot := spec.DataSource.Kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io"
	if !claim && !snapshot {
		spec.DataSource = nil
	}
}

// pairDataSources fills one of the two fields for a source with the other, if
// it can say as much: the older one knows no other namespaces.
func pairDataSources(spec *corev1.PersistentVolumeClaimSpec) {
	old, ref := spec.DataSource, spec.DataSourceRef
	switch {
	case old != nil && ref == nil:
		spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: old.APIGroup, Kind: old.Kind, Name: old.Name}
	case ref != nil && old == nil && (ref.Namespace == nil || *ref.Namespace == ""):
		spec.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	}
}
