package main

import (
	"context"
	"regexp"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

// discovery asks what there is, in the ways that generic programs do.
func discovery(ctx context.Context, s *server) {
	define(ctx, s)
	client := s.typed.Discovery()
	version, err := client.ServerVersion()
	must(err)
	s.say("version %s.%s", version.Major, version.Minor)
	groups, lists, err := client.ServerGroupsAndResources()
	must(err)
	for _, group := range groups {
		var versions []string
		for _, each := range group.Versions {
			versions = append(versions, each.GroupVersion)
		}
		s.say("group %q prefers %s of %v", group.Name, group.PreferredVersion.GroupVersion, versions)
	}
	sort.Slice(lists, func(i, j int) bool { return lists[i].GroupVersion < lists[j].GroupVersion })
	for _, list := range lists {
		for _, each := range list.APIResources {
			s.say("%s %s: %s %q namespaced=%t %v %v %v", list.GroupVersion, each.Name, each.Kind, each.SingularName, each.Namespaced, each.ShortNames, each.Categories, each.Verbs)
		}
	}
	legacy := client.WithLegacy()
	_, plain, err := legacy.ServerGroupsAndResources()
	must(err)
	s.say("the same in many answers: %t", count(plain) == count(lists))
	preferred, err := client.ServerPreferredNamespacedResources()
	must(err)
	s.say("preferred and namespaced: %d", count(preferred))

	cached := memory.NewMemCacheClient(client)
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
	for _, name := range []string{"deploy", "po", "widgets", "ing", "crd", "hpa", "nonsense"} {
		resource, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: name})
		if err != nil {
			s.say("%s: %v", name, err)
			continue
		}
		s.say("%s: %s", name, resource)
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "clients.example.com", Kind: "Widget"})
	must(err)
	s.say("Widget: %s %s", mapping.Resource, mapping.Scope.Name())

	paths, err := client.OpenAPIV3().Paths()
	must(err)
	var names []string
	for name := range paths {
		if regexp.MustCompile(`/v\d[^/]*$`).MatchString(name) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	s.say("OpenAPI: %s", strings.Join(names, " "))
	client2, err := scale.NewForConfig(s.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client))
	must(err)
	_, err = s.dynamic.Resource(widgets).Namespace(s.namespace).Create(ctx, widget("scaled", 1), metav1.CreateOptions{})
	must(err)
	found, err := client2.Scales(s.namespace).Get(ctx, widgets.GroupResource(), "scaled", metav1.GetOptions{})
	s.show("scale", found, err)
	found.Spec.Replicas = 4
	found, err = client2.Scales(s.namespace).Update(ctx, widgets.GroupResource(), found, metav1.UpdateOptions{})
	s.show("scaled", found, err)
	_, err = client2.Scales(s.namespace).Get(ctx, schema.GroupResource{Resource: "configmaps"}, "a", metav1.GetOptions{})
	s.refused("not to be scaled", err)
}

func count(lists []*metav1.APIResourceList) int {
	total := 0
	for _, list := range lists {
		total += len(list.APIResources)
	}
	return total
}
