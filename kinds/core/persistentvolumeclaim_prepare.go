package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/podspec"
)

// restoreClaim completes a claim that was read from etcd. A new claim is stored without a phase,
// and older releases of Kubernetes stored only one of the two fields for the data source.
func restoreClaim(c *corev1.PersistentVolumeClaim) {
	podspec.DefaultClaim(c)
	pairDataSources(&c.Spec)
}

func prepareClaim(c *corev1.PersistentVolumeClaim, features *feature.Set) {
	dropForeignSource(&c.Spec, features)
	dropOddSource(&c.Spec)
	pairDataSources(&c.Spec)
}

func prepareClaimUpdate(c, old *corev1.PersistentVolumeClaim, features *feature.Set) {
	if old.Spec.DataSourceRef == nil {
		dropForeignSource(&c.Spec, features)
	}
	if old.Spec.DataSource == nil && old.Spec.DataSourceRef == nil {
		dropOddSource(&c.Spec)
	}
	pairDataSources(&c.Spec)
}

// dropForeignSource drops a source in another namespace while the feature gate is disabled.
func dropForeignSource(spec *corev1.PersistentVolumeClaimSpec, features *feature.Set) {
	if features.Enabled(feature.CrossNamespaceVolumeDataSource) {
		return
	}
	if ref := spec.DataSourceRef; ref != nil && ref.Namespace != nil && *ref.Namespace != "" {
		spec.DataSourceRef = nil
	}
}

// dropOddSource drops a dataSource that is neither a claim nor a snapshot.
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

// pairDataSources copies dataSource and dataSourceRef to each other if one of them is unset. A
// dataSourceRef with a namespace has no equivalent.
func pairDataSources(spec *corev1.PersistentVolumeClaimSpec) {
	old, ref := spec.DataSource, spec.DataSourceRef
	switch {
	case old != nil && ref == nil:
		spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: old.APIGroup, Kind: old.Kind, Name: old.Name}
	case ref != nil && old == nil && (ref.Namespace == nil || *ref.Namespace == ""):
		spec.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	}
}
