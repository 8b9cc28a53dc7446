package miniapi

import (
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/admission"
	"github.com/miniapi/miniapi/aggregator"
	"github.com/miniapi/miniapi/api/flowcontrol"
	"github.com/miniapi/miniapi/api/lifecycle"
	"github.com/miniapi/miniapi/auth/authz"
	"github.com/miniapi/miniapi/controllers"
	"github.com/miniapi/miniapi/crd"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/outgoing"
	"github.com/miniapi/miniapi/internal/serviceip"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/certificates"
	"github.com/miniapi/miniapi/kinds/resource"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/testapi"
	"github.com/miniapi/miniapi/testapi/snapshots"
)

// buildCatalog builds the catalog with the built-in kinds, the parts that its writes depend on, and
// the parts that add to it.
func (s *Server) buildCatalog(ranges []netip.Prefix) error {
	policy, err := s.config.outgoing()
	if err != nil {
		return err
	}
	if err := s.buildAccess(policy); err != nil {
		return err
	}
	if s.config.TestAPIs {
		s.testAPIs = testapi.New(testapi.Config{
			OpenWatches: func() []lifecycle.OpenWatch { return s.api.OpenWatches() },
			Server:      s.status,
			Faults:      s.faults,
			Snapshots:   snapshots.Config{Take: s.takeSnapshot, Restore: s.restoreSnapshot},
		})
	}
	config, err := s.catalogConfig(ranges)
	if err != nil {
		return err
	}
	s.catalog = registry.NewCatalog(config)
	s.buildExtensions(policy)
	resources := kinds.Resources(s.features)
	if s.testAPIs != nil {
		resources = slices.Concat(resources, s.testAPIs.Resources())
	}
	return s.catalog.Add(resources...)
}

// buildAccess builds authorization, the classification of requests, and admission.
func (s *Server) buildAccess(policy *outgoing.Policy) error {
	var err error
	s.authorizer, err = authz.New(authz.Config{
		Outgoing: policy, Selection: s.config.authorization(), Store: s.store, Features: s.features, Logger: s.config.logger("rbac"),
	})
	if err != nil {
		return err
	}
	s.flows = flowcontrol.New(flowcontrol.Config{
		Store: s.store, Empty: s.config.startsMinimal(), Shared: s.shared(), Logger: s.config.logger("flowcontrol"),
	})
	plugins := s.config.admission()
	plugins.Store, plugins.Resolve, plugins.Outgoing, plugins.Sync = s.store, s.resolver(), policy, s.sync
	plugins.Features, plugins.Logger = s.features, s.config.Logger
	s.admission, err = admission.New(plugins)
	return err
}

// catalogConfig returns the configuration of the catalog.
func (s *Server) catalogConfig(ranges []netip.Prefix) (registry.CatalogConfig, error) {
	config := s.datastore.Catalog()
	chain, err := s.admission.Chain()
	if err != nil {
		return config, err
	}
	ports, err := serviceip.ParseNodePorts(s.config.ServiceNodePortRange)
	if err != nil {
		return config, err
	}
	config.Types, config.Logger = kinds.Types(), s.config.logger("registry")
	config.Authorizer = s.authorizer
	config.Admission = append(chain, s.authorizer.Admission()...)
	config.AdmissionObserver = s.admission.Metrics()
	config.Clock = s.clock
	config.Tokens, config.ReadOnly = s.identity.credentials.Tokens(), s.rejection()
	if s.testAPIs != nil {
		s.testAPIs.Attach(&config)
	}
	services := serviceip.New(serviceip.Config{ServiceRanges: ranges, NodePorts: ports, Now: s.clock.Now})
	config.Hooks = map[schema.GroupResource]registry.Hooks{corev1.Resource("services"): services.Hooks()}
	maps.Copy(config.Hooks, s.admission.Hooks())
	maps.Copy(config.Hooks, resource.Hooks())
	maps.Copy(config.Hooks, certificates.Hooks())
	return config, nil
}

// buildExtensions builds custom resources, aggregated APIs and the built-in controllers.
func (s *Server) buildExtensions(policy *outgoing.Policy) {
	s.crds = crd.NewController(crd.Config{
		Catalog: s.catalog, Resolve: s.resolver(), Outgoing: policy, Offline: s.config.FromSnapshot != "", Logger: s.config.logger("custom resources"),
	})
	s.aggregator = aggregator.New(aggregator.Config{
		Catalog: s.catalog, Outgoing: policy, Certificate: s.identity.frontProxy.Certificate, Logger: s.config.logger("aggregator"),
	})
	s.controllers = controllers.New(controllers.Config{
		Enabled: s.config.Controllers, Pods: s.config.Pods, Catalog: s.catalog, Clock: s.clock, Sync: s.crds.Sync,
		Bootstrapped: s.config.Bootstrap == bootstrap.Full, Shared: s.shared(), CA: s.identity.servingCA(), Remote: s.aggregator.Transport,
		Logger: s.config.logger("controllers"),
	})
}
