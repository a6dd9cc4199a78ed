package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
)

// pages reads long lists in parts.
func pages(ctx context.Context, s *server) {
	maps := s.typed.CoreV1().ConfigMaps(s.namespace)
	for i := range 10 {
		_, err := maps.Create(ctx, configMap(fmt.Sprintf("m%02d", i), map[string]string{"odd": fmt.Sprint(i%2 == 1)}), metav1.CreateOptions{})
		must(err)
	}
	asked := 0
	reader := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		asked++
		return maps.List(ctx, options)
	})
	reader.PageSize = 3
	list, wasPaged, err := reader.List(ctx, metav1.ListOptions{})
	must(err)
	items, err := meta.ExtractList(list)
	must(err)
	for _, item := range items {
		s.show("one of all", item, nil)
	}
	s.say("in pages: %t, %d of them", wasPaged, asked)
	must(reader.EachListItem(ctx, metav1.ListOptions{LabelSelector: "odd=true"}, func(object runtime.Object) error {
		s.say("odd: %s", object.(metav1.Object).GetName())
		return nil
	}))

	page, err := maps.List(ctx, metav1.ListOptions{Limit: 4})
	must(err)
	s.say("first page: %d, more: %d", len(page.Items), *page.RemainingItemCount)
	version := page.ResourceVersion
	must(maps.Delete(ctx, "m05", metav1.DeleteOptions{}))
	_, err = maps.Create(ctx, configMap("m055", nil), metav1.CreateOptions{})
	must(err)
	for page.Continue != "" {
		page, err = maps.List(ctx, metav1.ListOptions{Limit: 4, Continue: page.Continue})
		must(err)
		for _, item := range page.Items {
			s.say("as it was: %s", item.Name)
		}
		s.say("of one version: %t", page.ResourceVersion == version)
	}
	exact, err := maps.List(ctx, metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchExact, Limit: 100})
	must(err)
	s.say("of exactly that version: %d", len(exact.Items))
	cached, err := maps.List(ctx, metav1.ListOptions{ResourceVersion: "0", Limit: 2})
	must(err)
	s.say("of any version: %d", len(cached.Items))
	_, err = maps.List(ctx, metav1.ListOptions{Limit: 2, Continue: "nonsense"})
	s.refused("no continue", err)
	selected, err := maps.List(ctx, metav1.ListOptions{Limit: 2, LabelSelector: "odd=true"})
	must(err)
	s.say("selected: %d, more is not counted: %t", len(selected.Items), selected.RemainingItemCount == nil)
}
