import { ApiError, get, query, sleep, stream } from './api.js';

const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const pageSize = 500;

// LiveList keeps the rows of a collection up to date: it lists page by page and then watches, both
// as Tables of the server. changed(structure) is called at most once per frame; structure reports
// whether rows were added or removed.
export class LiveList {
  constructor({ path, parameters = {}, watched = true, changed }) {
    Object.assign(this, { path, parameters, watched, changed });
    this.rows = new Map();
    this.columns = [];
    this.events = 0;
    this.loading = true;
    this.error = null;
  }

  // run returns when the signal is aborted, or when the server refuses the list.
  async run(signal) {
    for (let pause = 500; !signal.aborted; pause = Math.min(pause * 2, 10000)) {
      try {
        let version = await this.#list(signal);
        pause = 500;
        if (!this.watched) {
          await sleep(2000, signal);
          continue;
        }
        while (!signal.aborted && version) version = await this.#watch(version, signal);
        continue;
      } catch (error) {
        if (signal.aborted) return;
        this.error = error;
        this.#notify(false);
        if (error instanceof ApiError && [401, 403, 404, 400].includes(error.code)) return;
      }
      await sleep(pause, signal);
    }
  }

  async #list(signal) {
    const seen = new Set();
    let next = '';
    let version;
    do {
      const parameters = { ...this.parameters, limit: pageSize, continue: next };
      const table = await get(this.path + query(parameters), { accept: tableAccept, signal });
      if (table.columnDefinitions?.length) this.columns = table.columnDefinitions;
      for (const row of table.rows ?? []) seen.add(this.#put(row).key);
      version = table.metadata.resourceVersion;
      next = table.metadata.continue ?? '';
      this.remaining = table.metadata.remainingItemCount ?? 0;
      this.error = null;
      this.#notify(true);
    } while (next);
    for (const key of this.rows.keys()) if (!seen.has(key)) this.rows.delete(key);
    this.loading = false;
    this.#notify(true);
    return version;
  }

  // watch applies events until the watch ends. It returns the resourceVersion to continue from,
  // nothing if the list must be read again.
  async #watch(version, signal) {
    const parameters = { ...this.parameters, watch: 1, resourceVersion: version, allowWatchBookmarks: true };
    for await (const event of stream(this.path + query(parameters), { accept: tableAccept, signal })) {
      if (event.type === 'ERROR') return undefined;
      for (const row of event.object.rows ?? []) {
        version = row.object?.metadata?.resourceVersion ?? version;
        if (event.type === 'BOOKMARK') continue;
        this.events++;
        this.#apply(event.type, row);
      }
      version = event.object.metadata?.resourceVersion || version;
    }
    await sleep(200, signal);
    return version;
  }

  #apply(type, row) {
    const key = keyOf(row.object.metadata);
    if (type === 'DELETED') {
      this.rows.delete(key);
      this.#notify(true);
      return;
    }
    const known = this.rows.has(key);
    this.#put(row);
    this.#notify(!known);
  }

  #put(row) {
    const { name, namespace = '', uid, creationTimestamp, deletionTimestamp } = row.object.metadata;
    const key = keyOf(row.object.metadata);
    const entry = this.rows.get(key) ?? { key, name, namespace };
    Object.assign(entry, { cells: row.cells, uid, created: creationTimestamp, deleted: Boolean(deletionTimestamp), text: undefined });
    this.rows.set(key, entry);
    return entry;
  }

  #notify(structure) {
    this.structure ||= structure;
    this.frame ??= requestAnimationFrame(() => {
      const changed = this.structure;
      this.frame = undefined;
      this.structure = false;
      this.changed(changed);
    });
  }
}

function keyOf(metadata) {
  return (metadata.namespace ?? '') + '/' + metadata.name;
}
