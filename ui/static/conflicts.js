import { get, poll } from './api.js';
import { h, problem } from './dom.js';
import { Table } from './table.js';
import { age, plural, product, time } from './format.js';
import { findKind, objectHref } from './objects.js';

const nameOf = (writer) => writer?.fieldManager || product(writer?.userAgent) || writer?.user || 'unknown';

function retryOf(conflict) {
  if (conflict.succeededAfter) return 'succeeded at try ' + conflict.succeededAfter;
  return conflict.retried ? 'lost again' : 'no';
}

const objectOf = ({ object }) => [object.resource, object.namespace, object.name].filter(Boolean).join(' ');

// showConflicts shows the last conflicts, and one of them in the three versions.
export async function showConflicts(main, route, { signal, kinds }) {
  const detail = h('section', { class: 'detail', 'aria-label': 'Conflict', 'aria-live': 'polite' });
  const count = h('output', { class: 'count' });
  const errors = h('div');
  const table = new Table({
    label: 'Conflicts', empty: 'No write has been answered with a conflict.',
    columns: [
      { name: 'Object', value: objectOf },
      { name: 'Loser', value: (c) => nameOf(c.loser) },
      { name: 'Winner', value: (c) => nameOf(c.winner) },
      { name: 'Fields', value: (c) => (c.clashing ?? []).join(' ') || 'different fields' },
      { name: 'Based on', numeric: true, value: (c) => c.base },
      { name: 'Stored', numeric: true, value: (c) => c.current },
      { name: 'Retried', value: retryOf, mark: (c) => (c.succeededAfter ? '' : 'warn') },
      { name: 'Age', value: (c) => age(c.metadata.creationTimestamp), order: (c) => -Date.parse(c.metadata.creationTimestamp) },
    ],
    open: (conflict) => show(detail, conflict, kinds),
  });
  main.replaceChildren(h('section', { class: 'content' }, h('div', { class: 'bar' }, h('h1', {}, 'Conflicts'), count), errors, table.element, detail));
  await poll(async () => {
    try {
      const { items } = await get('/apis/miniapi.dev/v1alpha1/conflicts', { signal });
      for (const item of items) item.key = item.metadata.uid ?? item.metadata.name;
      table.update(items.reverse());
      count.textContent = plural(items.length, 'conflict');
      errors.replaceChildren();
    } catch (error) {
      if (!signal.aborted) errors.replaceChildren(problem(error));
    }
  }, 1500, signal);
}

function show(detail, conflict, kinds) {
  const { object } = conflict;
  const [resource, ...group] = object.resource.split('.');
  const kind = findKind(kinds, [group.join('.') || 'core', undefined, resource]);
  const link = kind ? h('a', { href: objectHref(kind, object.namespace, object.name, 'timeline') }, 'Timeline') : null;
  const cell = (value) => h('td', { class: 'code' }, value === '' ? h('span', { class: 'muted' }, 'absent') : value);
  detail.replaceChildren(
    h('h2', {}, objectOf(conflict)), h('p', {}, conflict.explanation + '. ', link),
    h('table', { class: 'plain' },
      h('thead', {}, h('tr', {}, ['Field', 'Read (base)', 'Stored (theirs)', 'Rejected (ours)'].map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, (conflict.fields ?? []).map((field) => h('tr', { class: field.clash ? 'bad' : '' },
        h('th', { scope: 'row', class: 'code' }, field.path), cell(field.base), cell(field.theirs), cell(field.ours))))),
    h('h3', {}, 'Writes in between'),
    h('ul', {}, (conflict.between ?? []).map((write) => h('li', {},
      `Revision ${write.revision}: ${nameOf(write)} ${write.verb ?? ''} ${time(write.time)} `, h('span', { class: 'code' }, (write.fields ?? []).join(' '))))));
  detail.scrollIntoView({ block: 'nearest' });
}
