package plugin

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// needsAudience reports whether a volume of the pod has tokens for an audience. An error matters
// only if no other volume has.
func (w nodeWrite) needsAudience(ctx context.Context, pod *corev1.Pod, audience string) (bool, error) {
	var errs []error
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if hasTokenFor(v, audience) {
			return true, nil
		}
		driver, err := w.driverOfVolume(ctx, pod, v)
		if err == nil && driver != "" {
			var needed bool
			if needed, err = w.driverNeedsAudience(ctx, driver, audience); needed {
				return true, nil
			}
		}
		errs = append(errs, err)
	}
	return false, utilerrors.NewAggregate(errs)
}

func hasTokenFor(v *corev1.Volume, audience string) bool {
	return v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
		return s.ServiceAccountToken != nil && s.ServiceAccountToken.Audience == audience
	})
}

func (w nodeWrite) driverNeedsAudience(ctx context.Context, name, audience string) (bool, error) {
	driver, err := readFor[*storagev1.CSIDriver](ctx, w, storagev1.Resource("csidrivers"), "", name)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(driver.Spec.TokenRequests, func(r storagev1.TokenRequest) bool { return r.Audience == audience }), nil
}

// driverOfVolume returns the CSI driver of a volume, "" if it has none.
func (w nodeWrite) driverOfVolume(ctx context.Context, pod *corev1.Pod, v *corev1.Volume) (string, error) {
	switch {
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		return w.driverOfClaim(ctx, pod.Namespace, pod.Name+"-"+v.Name)
	case v.PersistentVolumeClaim != nil:
		return w.driverOfClaim(ctx, pod.Namespace, v.PersistentVolumeClaim.ClaimName)
	case v.CSI != nil:
		return v.CSI.Driver, nil
	}
	return migratedDriver(v.AWSElasticBlockStore != nil, v.AzureDisk != nil, v.AzureFile != nil, v.Cinder != nil,
		v.GCEPersistentDisk != nil, v.PortworxVolume != nil, v.VsphereVolume != nil), nil
}

func (w nodeWrite) driverOfClaim(ctx context.Context, namespace, name string) (string, error) {
	claim, err := readFor[*corev1.PersistentVolumeClaim](ctx, w, corev1.Resource("persistentvolumeclaims"), namespace, name)
	if err != nil {
		return "", err
	}
	volume, err := readFor[*corev1.PersistentVolume](ctx, w, corev1.Resource("persistentvolumes"), "", claim.Spec.VolumeName)
	if err != nil {
		return "", err
	}
	v := &volume.Spec
	if v.CSI != nil {
		return v.CSI.Driver, nil
	}
	return migratedDriver(v.AWSElasticBlockStore != nil, v.AzureDisk != nil, v.AzureFile != nil, v.Cinder != nil,
		v.GCEPersistentDisk != nil, v.PortworxVolume != nil, v.VsphereVolume != nil), nil
}

// migratedDriver returns the driver that serves the first kind of volume that is present, "" for
// none. Kubernetes serves these kinds by CSI drivers.
func migratedDriver(present ...bool) string {
	drivers := []string{
		"ebs.csi.aws.com", "disk.csi.azure.com", "file.csi.azure.com", "cinder.csi.openstack.org",
		"pd.csi.storage.gke.io", "pxd.portworx.com", "csi.vsphere.vmware.com",
	}
	if i := slices.Index(present, true); i >= 0 {
		return drivers[i]
	}
	return ""
}
