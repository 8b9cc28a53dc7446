import { h } from './dom.js';

const rowHeight = 30;
const overscan = 8;
const maxWidth = 380;

let tables = 0;

// Table shows any number of rows: only the visible ones have elements. A column is
// { name, value(row), numeric, order(row), mark(row) }: value returns the text of a cell, order a
// value to sort by if it is not the text, and mark a class of the cell.
//
// Keys: arrows, Page Up and Down, Home and End move the selected row; Enter opens it.
export class Table {
  constructor({ label, columns, open, href, empty = 'None.' }) {
    this.id = 'table' + ++tables;
    this.open = open;
    this.href = href;
    this.rows = [];
    this.selected = null;
    this.sort = { column: null, descending: false };
    this.pool = [];
    this.head = h('tr');
    this.columnGroup = h('colgroup');
    this.body = h('tbody');
    this.grid = h('table', {
      role: 'grid', 'aria-label': label, tabindex: 0, class: 'grid',
      on: { keydown: (event) => this.#onKey(event), click: (event) => this.#onClick(event) },
    }, this.columnGroup, h('thead', {}, this.head), this.body);
    this.scroller = h('div', { class: 'scroller', on: { scroll: () => this.schedule() } }, this.grid);
    this.note = h('p', { class: 'empty', hidden: true }, empty);
    this.element = h('div', { class: 'table' }, this.scroller, this.note);
    this.observer = new ResizeObserver(() => this.schedule());
    this.observer.observe(this.scroller);
    this.setColumns(columns ?? []);
  }

  setColumns(columns) {
    this.columns = columns;
    this.widths = columns.map((column) => column.name.length + 3);
    this.head.replaceChildren(...columns.map((column) => this.#headerCell(column)));
    this.columnGroup.replaceChildren(...columns.map(() => h('col')));
    for (const row of this.pool) row.remove();
    this.pool = [];
    this.grid.setAttribute('aria-colcount', columns.length);
    this.schedule();
  }

  // update shows another list of rows. The order of the list is the default order.
  update(rows) {
    this.unsorted = rows;
    const column = this.columns.find((c) => c.name === this.sort.column);
    this.rows = column ? this.#sorted(rows, column) : rows;
    if (this.selected && !this.rows.includes(this.selected)) {
      this.selected = this.selected.key === undefined ? null : this.rows.find((row) => row.key === this.selected.key) ?? null;
    }
    this.grid.setAttribute('aria-rowcount', this.rows.length + 1);
    this.note.hidden = this.rows.length > 0;
    this.#measure();
    this.schedule();
  }

  // schedule renders with the next frame.
  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.#render();
    });
  }

  focus() { this.grid.focus(); }

  #headerCell(column) {
    const button = h('button', { type: 'button', tabindex: -1, on: { click: () => this.sortBy(column.name) } }, column.name);
    return h('th', { scope: 'col', class: column.numeric ? 'number' : '', 'aria-sort': 'none', title: column.description }, button);
  }

  // sortBy sorts by a column: ascending, then descending, then in the default order.
  sortBy(name) {
    if (this.sort.column !== name) this.sort = { column: name, descending: false };
    else if (!this.sort.descending) this.sort.descending = true;
    else this.sort = { column: null, descending: false };
    this.columns.forEach((column, i) => {
      const order = this.sort.descending ? 'descending' : 'ascending';
      this.head.children[i].setAttribute('aria-sort', column.name === this.sort.column ? order : 'none');
    });
    this.update(this.unsorted ?? []);
  }

  #sorted(rows, column) {
    const order = column.order ?? ((row) => {
      const value = column.value(row);
      return column.numeric ? Number(value) : String(value).toLowerCase();
    });
    const keyed = rows.map((row, i) => ({ row, key: order(row), i }));
    const sign = this.sort.descending ? -1 : 1;
    keyed.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : a.i - b.i));
    return keyed.map(({ row }) => row);
  }

  // measure widens columns for the longest of the first cells.
  #measure() {
    for (const row of this.rows.slice(0, 100)) {
      this.columns.forEach((column, i) => {
        this.widths[i] = Math.max(this.widths[i], String(column.value(row)).length);
      });
    }
    this.widths.forEach((characters, i) => {
      const width = Math.min(maxWidth, characters * 7.4 + 26);
      const col = this.columnGroup.children[i];
      if (col && col.width !== width) {
        col.width = width;
        col.style.width = width + 'px';
      }
    });
  }

  #render() {
    const viewport = this.scroller.clientHeight || 600;
    const scrolled = this.scroller.scrollTop;
    const first = Math.max(0, Math.floor(scrolled / rowHeight) - overscan);
    const last = Math.min(this.rows.length, Math.ceil((scrolled + viewport) / rowHeight) + overscan);
    while (this.pool.length < last - first) this.#addRow();
    while (this.pool.length > last - first) this.pool.pop().remove();
    this.body.style.setProperty('--above', first * rowHeight + 'px');
    this.body.style.setProperty('--below', (this.rows.length - last) * rowHeight + 'px');
    let active = '';
    this.pool.forEach((element, i) => {
      const row = this.rows[first + i];
      this.#fill(element, row, first + i);
      if (row === this.selected) active = element.id;
    });
    if (active) this.grid.setAttribute('aria-activedescendant', active);
    else this.grid.removeAttribute('aria-activedescendant');
  }

  #addRow() {
    const cells = this.columns.map((column, i) => {
      const text = document.createTextNode('');
      const linked = i === 0 && this.href;
      const inner = linked ? h('a', { tabindex: -1 }, text) : text;
      return h('td', { class: column.numeric ? 'number' : '' }, inner);
    });
    const element = h('tr', { id: this.id + '-' + this.pool.length }, cells);
    this.pool.push(element);
    this.body.append(element);
  }

  #fill(element, row, index) {
    element.row = row;
    element.setAttribute('aria-rowindex', index + 2);
    element.setAttribute('aria-selected', row === this.selected ? 'true' : 'false');
    this.columns.forEach((column, i) => {
      const cell = element.children[i];
      const text = String(column.value(row));
      if (cell.text !== text) {
        cell.text = text;
        (cell.firstChild.firstChild ?? cell.firstChild).data = text;
        cell.title = text.length > 24 ? text : '';
      }
      const mark = (column.numeric ? 'number ' : '') + (column.mark?.(row) ?? '');
      if (cell.mark !== mark) cell.className = cell.mark = mark;
    });
    if (this.href) {
      const href = this.href(row);
      if (element.link !== href) element.firstChild.firstChild.setAttribute('href', element.link = href);
    }
  }

  #onClick(event) {
    const element = event.target.closest('tbody tr');
    if (!element) return;
    this.#select(element.row);
    if (!event.target.closest('a')) this.#openSelected();
  }

  #onKey(event) {
    if (event.target !== this.grid) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 2);
    const index = this.rows.indexOf(this.selected);
    const targets = {
      ArrowDown: index + 1, ArrowUp: index - 1, PageDown: index + page, PageUp: index - page,
      Home: 0, End: this.rows.length - 1,
    };
    if (event.key in targets) {
      event.preventDefault();
      this.#select(this.rows[Math.min(this.rows.length - 1, Math.max(0, targets[event.key]))]);
      this.#reveal();
    } else if (event.key === 'Enter' && this.selected) {
      this.#openSelected();
    }
  }

  #select(row) {
    this.selected = row ?? null;
    this.schedule();
  }

  #openSelected() {
    if (this.open) this.open(this.selected);
    else if (this.href) location.hash = this.href(this.selected);
  }

  #reveal() {
    const top = this.rows.indexOf(this.selected) * rowHeight;
    const space = this.scroller.clientHeight - rowHeight * 2;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top > this.scroller.scrollTop + space) this.scroller.scrollTop = top - space;
  }
}
