package kind

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// None is the cell of what is not there.
const None = "<none>"

// ContainerColumns are those of a kind with a pod template; their cells are
// those of ContainerCells.
func ContainerColumns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		WideColumn("Containers", "string", "Names of each container in the template."),
		WideColumn("Images", "string", "Images referenced by each container in the template."),
	}
}

// ContainerCells returns the names and the images of containers.
func ContainerCells(containers []corev1.Container) (names, images string) {
	var n, i []string
	for _, c := range containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}
