import { LiveList } from './livelist.js';
import { Table } from './table.js';
import { get, pathOf } from './api.js';
import { h, field, problem, announce } from './dom.js';
import { age, plural } from './format.js';

// kindHref returns the address of the list of a kind.
export function kindHref(kind) {
  return '#/objects/' + [kind.group || 'core', kind.version, kind.resource].map(encodeURIComponent).join('/');
}

// objectHref returns the address of an object.
export function objectHref(kind, namespace, name, tab = 'yaml') {
  const parts = [kind.group || 'core', kind.version, kind.resource, namespace || '-', name, tab];
  return '#/object/' + parts.map(encodeURIComponent).join('/');
}

// findKind returns the kind that a route names.
export function findKind(kinds, [group, version, resource]) {
  return kinds.find((kind) => (kind.group || 'core') === group && kind.resource === resource && (!version || kind.version === version));
}

// hasTestAPI reports whether the server has a resource of the group miniapi.dev.
export function hasTestAPI(kinds, resource) {
  return kinds.some((kind) => kind.group === 'miniapi.dev' && kind.resource === resource);
}

// showObjects shows the kinds, and the objects of one of them.
export async function showObjects(main, route, context) {
  let kind = route.segments.length ? findKind(context.kinds, route.segments) : findKind(context.kinds, ['core', 'v1', 'namespaces']);
  if (!kind && route.segments.length) kind = findKind(await context.reload(), route.segments); // a new definition
  const content = h('section', { class: 'content', 'aria-labelledby': 'kind' });
  main.replaceChildren(kindList(context.kinds, kind), content);
  if (!kind) {
    content.replaceChildren(problem(new Error('The server has no such kind.')));
    return;
  }
  showList(content, kind, route, context);
}

function kindList(kinds, current) {
  const groups = new Map();
  for (const kind of kinds) {
    if (!groups.has(kind.group)) groups.set(kind.group, []);
    groups.get(kind.group).push(kind);
  }
  const list = h('div', { class: 'kinds' }, [...groups].map(([group, members]) => h('section', { 'aria-label': group || 'core' },
    h('h2', {}, group || 'core'),
    h('ul', {}, members.map((kind) => h('li', {}, h('a', { href: kindHref(kind), 'aria-current': kind === current ? 'page' : undefined }, kind.resource)))))));
  const filter = h('input', {
    type: 'search', placeholder: 'Filter kinds', 'aria-label': 'Filter kinds', spellcheck: 'false',
    on: {
      input() {
        const text = filter.value.toLowerCase();
        for (const section of list.children) {
          const whole = section.getAttribute('aria-label').includes(text);
          let shown = 0;
          for (const item of section.querySelectorAll('li')) {
            item.hidden = !whole && !item.textContent.includes(text);
            shown += item.hidden ? 0 : 1;
          }
          section.hidden = shown === 0;
        }
      },
    },
  });
  requestAnimationFrame(() => list.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }));
  return h('nav', { class: 'side', 'aria-label': 'Kinds' }, filter, list);
}

// columnsOf returns the columns of a Table of the server. The namespace is added, and the age is
// computed here, because the cell of the server is as old as its event.
function columnsOf(kind, namespace, definitions) {
  const columns = definitions.map((definition, i) => ({ definition, i }))
    .filter(({ definition }) => definition.priority === 0)
    .map(({ definition, i }) => ({
      name: definition.name, description: definition.description,
      numeric: ['integer', 'number'].includes(definition.type),
      value: (row) => (definition.format === 'name' ? row.name : definition.name === 'Age' ? age(row.created) : row.cells[i] ?? ''),
      order: definition.name === 'Age' ? (row) => -Date.parse(row.created) : undefined,
      mark: definition.format === 'name' ? (row) => 'name' + (row.deleted ? ' deleted' : '') : undefined,
    }));
  if (kind.namespaced && !namespace) columns.splice(1, 0, { name: 'Namespace', value: (row) => row.namespace });
  return columns;
}

function showList(content, kind, route, { signal }) {
  const namespace = kind.namespaced ? route.parameters.get('namespace') ?? '' : '';
  const labels = route.parameters.get('labels') ?? '';
  let search = '';
  const count = h('output', { class: 'count' });
  const errors = h('div');
  const table = new Table({ label: kind.resource, empty: '', href: (row) => objectHref(kind, row.namespace, row.name) });
  const list = new LiveList({
    path: pathOf(kind, namespace), parameters: { labelSelector: labels }, watched: kind.watched,
    changed: (structure) => {
      if (list.columns !== list.shown) table.setColumns(columnsOf(kind, namespace, list.shown = list.columns));
      if (structure) rebuild();
      table.schedule();
      errors.replaceChildren(...(list.error ? [problem(list.error)] : []));
    },
  });
  const matches = (row) => {
    row.text ??= [row.namespace, ...row.cells].join(' ').toLowerCase();
    return row.text.includes(search);
  };
  const rebuild = throttled(() => {
    const all = [...list.rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    const rows = search ? all.filter(matches) : all;
    table.update(rows);
    table.note.textContent = list.loading ? 'Loading …' : 'No objects.';
    count.textContent = (search ? rows.length + ' of ' : '') + plural(all.length, 'object') + (list.loading ? ' …' : '');
  });
  const refilter = (text) => {
    search = text.toLowerCase();
    rebuild();
    announce(plural(table.rows.length, 'object'));
  };
  content.replaceChildren(
    h('div', { class: 'bar' }, h('h1', { id: 'kind' }, kind.kind), h('span', { class: 'muted' }, [kind.group, kind.version].filter(Boolean).join('/')), count),
    filters(kind, route, { namespace, labels, refilter, signal }),
    errors, table.element,
  );
  list.run(signal);
  const ages = setInterval(() => table.schedule(), 1000);
  signal.addEventListener('abort', () => clearInterval(ages), { once: true });
}

// filters returns the form with the namespace and the label selector, which the server applies, and
// the search, which is applied to the rows.
function filters(kind, route, { namespace, labels, refilter, signal }) {
  const go = (name, value) => {
    const parameters = new URLSearchParams(route.parameters);
    if (value) parameters.set(name, value);
    else parameters.delete(name);
    location.hash = kindHref(kind) + (parameters.size ? '?' + parameters : '');
  };
  const search = h('input', { type: 'search', name: 'search', spellcheck: 'false', on: { input: () => refilter(search.value) } });
  const selector = h('input', { name: 'labels', value: labels, spellcheck: 'false', placeholder: 'app=web', on: { change: () => go('labels', selector.value.trim()) } });
  const parts = [field('Search', search), field('Label selector', selector)];
  if (kind.namespaced) {
    const select = h('select', { name: 'namespace', on: { change: () => go('namespace', select.value) } }, h('option', { value: '' }, 'All namespaces'));
    if (namespace) select.append(h('option', { value: namespace, selected: true }, namespace));
    get('/api/v1/namespaces', { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', signal })
      .then((list) => select.append(...list.items.map((item) => item.metadata.name).filter((name) => name !== namespace).map((name) => h('option', { value: name }, name))))
      .catch(() => {}); // without the right to list namespaces, the choice stays empty
    parts.unshift(field('Namespace', select));
  }
  return h('form', { class: 'filters', role: 'search', on: { submit: (event) => event.preventDefault() } }, parts);
}

// throttled returns a function that calls f at once, and again after a pause if it was called in
// between. The pause grows with the duration of f, so that f takes a tenth of the time at most.
function throttled(f) {
  let timer;
  let again = false;
  const run = () => {
    const began = performance.now();
    f();
    timer = setTimeout(() => {
      timer = undefined;
      if (again) {
        again = false;
        run();
      }
    }, Math.max(60, 10 * (performance.now() - began)));
  };
  return () => {
    if (timer === undefined) run();
    else again = true;
  };
}
