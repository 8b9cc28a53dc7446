package storagemigration

import (
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/kinds/kind"
	"github.com/miniapi/miniapi/registry"
)

func storageVersionMigrations(features *feature.Set) *registry.Resource {
	return kind.Definition[*storagemigrationv1.StorageVersionMigration]{
		GroupVersion:         storagemigrationv1.SchemeGroupVersion,
		StorageVersion:       "v1beta1",
		Object:               &storagemigrationv1.StorageVersionMigration{},
		List:                 &storagemigrationv1.StorageVersionMigrationList{},
		Resource:             "storageversionmigrations",
		GenerateNameOnUpdate: true,
		Gate:                 feature.StorageVersionMigrator,
		ValidateCreate:       validateMigration,
		ValidateUpdate:       validateMigrationUpdate,
		Status:               true,
		StatusKeepsMetadata:  true,
		ValidateStatusUpdate: validateMigrationStatus,
		Columns:              migrationColumns(),
	}.Build(features)
}

func migrationColumns() []kind.Column[*storagemigrationv1.StorageVersionMigration] {
	return []kind.Column[*storagemigrationv1.StorageVersionMigration]{
		kind.TextColumn("Name", kind.MetaDoc("name"),
			func(m *storagemigrationv1.StorageVersionMigration) any { return m.Name }),
		kind.TextColumn("Resource", "GroupResource to migrate",
			func(m *storagemigrationv1.StorageVersionMigration) any { return m.Spec.Resource.String() }),
		kind.TextColumn("Status", "Status of the migration",
			func(m *storagemigrationv1.StorageVersionMigration) any { return state(m) }),
	}
}

// state returns the type of the last known condition that is true.
func state(m *storagemigrationv1.StorageVersionMigration) string {
	current := "Unknown"
	for _, c := range m.Status.Conditions {
		switch known := storagemigrationv1.MigrationConditionType(c.Type); known {
		case storagemigrationv1.MigrationRunning, storagemigrationv1.MigrationFailed, storagemigrationv1.MigrationSucceeded:
			if c.Status == metav1.ConditionTrue {
				current = c.Type
			}
		}
	}
	return current
}
