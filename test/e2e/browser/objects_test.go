package browser_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/test/e2e/browser/scene"
)

func clientOf(t *testing.T, server *miniapi.Server) *kubernetes.Clientset {
	t.Helper()
	client, err := scene.Client(server.RESTConfig(), "test/1.0")
	check(t, err)
	return client
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"key": "value"}}
}

func TestTableFollowsChanges(t *testing.T) {
	server := start(t, miniapi.Config{})
	c := clientOf(t, server).CoreV1().ConfigMaps("default")
	for _, name := range []string{"b", "c"} {
		_, err := c.Create(t.Context(), configMap(name, map[string]string{"app": name}), metav1.CreateOptions{})
		check(t, err)
	}
	p := open(t, server, "#/objects/core/v1/configmaps")
	const shown = cells + ".join(' ').replaceAll(/(\\d+m)?\\d+s|\\d+m/g, 'AGE')"
	p.await(shown + " === 'b|default|1|AGE c|default|1|AGE'")
	_, err := c.Create(t.Context(), configMap("a", nil), metav1.CreateOptions{})
	check(t, err)
	_, err = c.Patch(t.Context(), "b", types.MergePatchType, []byte(`{"data":{"more":"x"}}`), metav1.PatchOptions{})
	check(t, err)
	check(t, c.Delete(t.Context(), "c", metav1.DeleteOptions{}))
	p.await(shown + " === 'a|default|1|AGE b|default|2|AGE'")

	p.do(chromedp.SendKeys("input[name=search]", "b", chromedp.ByQuery))
	p.awaitText(".count", "1 of 2 objects")
	p.do(chromedp.SetValue("input[name=labels]", "app=b", chromedp.ByQuery), chromedp.Evaluate("document.querySelector('input[name=labels]').dispatchEvent(new Event('change'))", nil))
	p.await("location.hash.endsWith('?labels=app%3Db') && document.querySelector('.count').textContent === '1 object'")
	p.do(chromedp.Navigate(server.URL() + "/ui/#/objects/core/v1/configmaps?namespace=kube-system"))
	p.awaitText(".table .empty", "No objects.")
	p.await("document.querySelector('select[name=namespace]').value === 'kube-system'")
	p.do(chromedp.Navigate(server.URL() + "/ui/#/objects/core/v1/configmaps?labels=%3D%3D%3D"))
	p.awaitText(".problem", "found '=='")
	p.ignored = []string{"400 (Bad Request)"}
}

// All operations of the table work without a mouse.
func TestKeyboard(t *testing.T) {
	p := open(t, played(t), "#/objects/apps/v1/deployments")
	p.await(cells + ".length === 7")
	p.press(kb.Tab)
	p.await("document.activeElement.id === 'skip'")
	p.press(kb.Enter)
	p.await("document.activeElement.id === 'main'")
	p.await("location.hash === '#/objects/apps/v1/deployments'")
	for range 100 { // the kinds come first
		p.press(kb.Tab)
		if eval[bool](p, "document.activeElement.getAttribute('role') === 'grid'") {
			break
		}
	}
	p.press(kb.ArrowDown, kb.ArrowDown, kb.ArrowDown, kb.ArrowUp)
	p.await("document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent.startsWith('ledger')")
	p.press(kb.End)
	p.await("document.querySelector('[aria-selected=true] td')?.textContent === 'web'")
	p.press(kb.Enter)
	p.awaitText("h1", "shop/web")
	p.await("document.activeElement.id === 'main'")
	p.do(chromedp.Focus("[role=tab][aria-selected=true]", chromedp.ByQuery))
	p.press(kb.ArrowRight)
	p.await("document.activeElement.id === 'tab-timeline' && document.activeElement.ariaSelected === 'true'")
	p.await("document.querySelectorAll('.diff ins').length > 0")
	p.do(chromedp.Focus("input[name=to]:checked", chromedp.ByQuery))
	p.press(kb.ArrowDown)
	p.awaitText(".diff h2", "Revision 30 to 30")
	p.await("document.activeElement.name === 'to' && document.activeElement.value === '30'")
}

// hostile are texts that would run code in a page that parses them.
const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>`

func TestHostileTextsStayText(t *testing.T) {
	server := start(t, miniapi.Config{})
	object := configMap("hostile", map[string]string{"a": "b"})
	object.Annotations = map[string]string{"note": hostile}
	object.Data = map[string]string{"key": hostile, "lines": "a: b\n" + hostile + "\n  c\n"}
	client := clientOf(t, server)
	_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{FieldManager: hostile[:40]})
	check(t, err)
	_, err = client.CoreV1().Events("default").Create(t.Context(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e"}, Message: hostile, Reason: hostile,
		InvolvedObject: corev1.ObjectReference{Kind: "ConfigMap", Namespace: "default", Name: "hostile"},
	}, metav1.CreateOptions{})
	check(t, err)
	p := open(t, server, "#/object/core/v1/configmaps/default/hostile/yaml")
	p.awaitText(".yaml", "onerror=alert(1)")
	shown := eval[string](p, "[...document.querySelectorAll('.yaml pre')].map((pre) => pre.textContent).join('')")
	stored, err := client.CoreV1().RESTClient().Get().AbsPath("/api/v1/namespaces/default/configmaps/hostile").SetHeader("Accept", "application/json").DoRaw(t.Context())
	check(t, err)
	decoded, err := yaml.YAMLToJSON([]byte(shown))
	check(t, err)
	var want, got any
	check(t, json.Unmarshal(stored, &want))
	check(t, json.Unmarshal(decoded, &got))
	if fmt.Sprint(want) != fmt.Sprint(got) {
		t.Errorf("the YAML shows\n%v\nnot\n%v", got, want)
	}
	p.await("!document.querySelector('.yaml details').open")
	for _, route := range []string{"#/object/core/v1/configmaps/default/hostile/timeline", "#/objects/core/v1/events", "#/requests", "#/object/core/v1/configmaps/default/" + hostile[:1] + "/yaml"} {
		p.do(chromedp.Navigate(server.URL() + "/ui/" + route))
		p.await("document.querySelector('table td, .problem') !== null")
	}
	if eval[bool](p, "document.querySelector('img, main script') !== null") {
		t.Error("a text became an element")
	}
	p.ignored = []string{"404 (Not Found)"}
}

func TestObjectFollowsChanges(t *testing.T) {
	server := start(t, miniapi.Config{})
	c := clientOf(t, server).CoreV1().ConfigMaps("default")
	_, err := c.Create(t.Context(), configMap("a", nil), metav1.CreateOptions{})
	check(t, err)
	p := open(t, server, "#/object/core/v1/configmaps/default/a/yaml")
	p.awaitText(".yaml", "key: value")
	changed, err := c.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"key":"changed"}}`), metav1.PatchOptions{})
	check(t, err)
	p.awaitText(".yaml", "key: changed")
	p.awaitText(".state", changed.ResourceVersion)
	check(t, c.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	p.awaitText(".state", "Deleted")
	p.ignored = []string{"404 (Not Found)"}
}

const (
	manyPods = 10_000
	// maxRows is the number of rows that a screen and the margin around it need.
	maxRows = 60
	burst   = 2_000
)

// The number of elements does not depend on the number of objects, and a burst of events is shown.
func TestManyPods(t *testing.T) {
	server := start(t, miniapi.Config{})
	c := clientOf(t, server).CoreV1().Pods("default")
	inParallel(t, manyPods, func(i int) error {
		_, err := c.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%05d", i)},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "b"}}},
		}, metav1.CreateOptions{})
		return err
	})
	p := open(t, server, "#/objects/core/v1/pods")
	p.awaitText(".count", "10\u202f000 objects")
	p.await("document.querySelector('.scroller').scrollHeight > 300000 && !document.querySelector('.count').textContent.includes('…')")
	rows := func() int { return eval[int](p, "document.querySelectorAll('.grid tbody tr').length") }
	if n := rows(); n == 0 || n > maxRows {
		t.Errorf("%d rows", n)
	}
	p.do(chromedp.Evaluate("document.querySelector('.scroller').scrollTop = 1e9", nil))
	p.await(cells + ".at(-1).startsWith('pod-09999')")
	if n := rows(); n > maxRows {
		t.Errorf("%d rows at the end", n)
	}
	inParallel(t, burst, func(i int) error {
		_, err := c.Patch(t.Context(), fmt.Sprintf("pod-%05d", manyPods-1-i%50), types.MergePatchType, fmt.Appendf(nil, `{"status":{"phase":"Running","message":"%d"}}`, i), metav1.PatchOptions{}, "status")
		return err
	})
	p.await(cells + ".slice(-20).every((row) => row.includes('Running'))")
	p.do(chromedp.Focus(".grid", chromedp.ByQuery))
	p.press(kb.Home)
	p.await(cells + "[0].startsWith('pod-00000')")
}

// inParallel calls a function with the numbers up to n.
func inParallel(t *testing.T, n int, call func(i int) error) {
	t.Helper()
	var group sync.WaitGroup
	numbers, errs := make(chan int), make(chan error, n)
	for range 8 {
		group.Go(func() { // ends with numbers
			for i := range numbers {
				errs <- call(i)
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	group.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The links of the kinds name all kinds that can be listed.
func TestKinds(t *testing.T) {
	server := start(t, miniapi.Config{})
	p := open(t, server, "")
	p.await("document.querySelectorAll('.kinds a').length > 50")
	p.do(chromedp.SendKeys(".side input", "deploy", chromedp.ByQuery))
	p.await("[...document.querySelectorAll('.kinds li')].filter((item) => item.checkVisibility()).map((item) => item.textContent).join() === 'deployments'")
	p.do(chromedp.Click(".kinds li:not([hidden]) a[href*=deployments]", chromedp.ByQuery))
	p.awaitText("h1", "Deployment")
	if title := eval[string](p, "document.title"); !strings.Contains(title, "miniapi") {
		t.Errorf("title %q", title)
	}
}
