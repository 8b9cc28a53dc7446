package openapi

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// nonResource is a non-resource path with the operation that reads it.
type nonResource struct {
	name string
	operation
}

// nonResources returns the paths of the version, the groups and the documents of OpenID.
func nonResources(config Config) []nonResource {
	list := []nonResource{
		{"version", readOperation("getCodeVersion", "version", "get the version information for this server", version.Info{})},
		{"apis", readOperation("getAPIVersions", "apis", "get available API versions", metav1.APIGroupList{})},
	}
	list[0].response.media = mediaTypes[:1]
	for _, g := range config.Groups {
		switch {
		case g.Name == "":
			list = append(list, nonResource{"api", readOperation("getCoreAPIVersions", "core", "get available API versions", metav1.APIVersions{})})
		case !g.Custom:
			list = append(list, nonResource{"apis/" + g.Name, readOperation("get"+camel(g.Name)+"APIGroup", groupTag(g.Name), "get information of a group", metav1.APIGroup{})})
		}
	}
	if config.OpenID {
		list = append(list, openIDPaths()...)
	}
	return list
}

func openIDPaths() []nonResource {
	configuration := readOperation("getServiceAccountIssuerOpenIDConfiguration", "WellKnown",
		"get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'", "")
	configuration.response.media = mediaTypes[:1]
	keys := readOperation("getServiceAccountIssuerOpenIDKeyset", "openid",
		"get service account issuer OpenID JSON Web Key Set (contains public token verification keys)", "")
	keys.response.media = []string{"application/jwk-set+json"}
	return []nonResource{{".well-known/openid-configuration", configuration}, {"openid/v1/jwks", keys}}
}

// readOperation returns an operation that reads a non-resource path.
func readOperation(id, tag, description string, model any) operation {
	o := operation{method: "get", id: id, tag: tag, description: description}
	o.response = response{[]int{http.StatusOK}, modelName(model), mediaTypes}
	return o
}

// resourceListRoute returns the route to the list of a group version's resources.
func resourceListRoute(gv schema.GroupVersion) route {
	list := readOperation(operationID("get", gv, "APIResources"), tagOf(gv), "get available resources", metav1.APIResourceList{})
	return route{rootOf(gv) + "/", []operation{list}}
}
