import { get, poll } from './api.js';
import { h, problem } from './dom.js';
import { Table } from './table.js';
import { age, number, plural, product } from './format.js';

// showWatches shows the open watches and how far their clients are behind.
export async function showWatches(main, route, { signal }) {
  const count = h('output', { class: 'count' });
  const errors = h('div');
  const scope = (w) => [w.namespace || 'all namespaces', w.labelSelector, w.fieldSelector].filter(Boolean).join(' · ');
  const table = new Table({
    label: 'Watches', empty: 'No watches are open.',
    columns: [
      { name: 'Resource', value: (w) => w.resource },
      { name: 'Scope', value: scope },
      { name: 'Client', value: (w) => product(w.userAgent) || w.user },
      { name: 'User', value: (w) => w.user ?? '' },
      { name: 'Sent', numeric: true, value: (w) => w.sent, description: 'The revision up to which the selected changes were sent' },
      { name: 'Current', numeric: true, value: (w) => w.current, description: 'The revision of the latest change of the resource' },
      { name: 'Waiting', numeric: true, value: (w) => w.waiting, mark: (w) => (w.waiting > 0 ? 'warn' : ''), description: 'Changes that were not sent yet' },
      { name: 'Events', numeric: true, value: (w) => w.events, description: 'Events and bookmarks that were sent' },
      { name: 'Age', value: (w) => age(w.metadata.creationTimestamp), order: (w) => -Date.parse(w.metadata.creationTimestamp) },
    ],
  });
  main.replaceChildren(h('section', { class: 'content' }, h('div', { class: 'bar' }, h('h1', {}, 'Watches'), count), errors, table.element));
  await poll(async () => {
    try {
      const { items } = await get('/apis/miniapi.dev/v1alpha1/watches', { signal });
      for (const item of items) item.key = item.metadata.name;
      table.update(items);
      const behind = items.filter((w) => w.waiting > 0).length;
      count.textContent = plural(items.length, 'watch', 'watches') + ', ' + (behind ? number(behind) + ' behind' : 'all up to date');
      errors.replaceChildren();
    } catch (error) {
      if (!signal.aborted) errors.replaceChildren(problem(error));
    }
  }, 1000, signal);
}
