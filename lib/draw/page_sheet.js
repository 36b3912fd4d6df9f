// A sheet that write_page() packed, and what of it is open: which boxes are seen, and the lines between them.
// The scripts of a page (page.S) stand in it one after the other.
"use strict";

const Seat = {scope: 0, group: 1, box: 2, constant: 3, read: 4, part: 5};
const kLooks = ["plain", "state", "input", "output"];
const kMostLines = 12;      // as in drawing.h
const kMostBoxes = 1200;    // opened at once without a click
const kMostPorts = 8;       // on one side of an open scope; more become one
const kMostUnfolded = 1000;  // blocks that are shown each by itself
const kMostResults = 60;
const kMostAlone = 4;       // boxes without lines that are laid out with the others
const kMostRows = 8;        // of one kind in a box
const kDevicePens = ["#7c5cd6", "#1295b0", "#c2478f", "#3f7ad1", "#8a8f98", "#a8672d"];
const svgSpace = "http://www.w3.org/2000/svg";

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function drawn(tag, attributes, ...children) {
  const made = document.createElementNS(svgSpace, tag);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.append(...children);
  return made;
}

const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const middle = (text, most) =>
  text.length <= most ? text : text.slice(0, most / 2) + "\u2026" + text.slice(text.length - most / 2);

async function unpack(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

class Sheet {
  constructor(raw, words, depth) {
    this.words = words;
    this.function = raw.function;
    const n = this.n = raw.name.length;
    for (const key of ["name", "op", "device", "attrs", "row", "host", "fold", "kind", "type", "from", "to"])
      this[key] = Int32Array.from(raw[key]);
    this.parent = Int32Array.from(raw.up, (up, i) => i - up);
    for (let i = 1; i < this.to.length; ++i) this.to[i] += this.to[i - 1];
    for (let i = 0; i < this.to.length; ++i) this.from[i] = this.to[i] - this.from[i];
    this.calls = new Map();
    for (let i = 0; i < raw.calls.length; i += 2) {
      const list = this.calls.get(raw.calls[i]) || [];
      if (!list.includes(raw.calls[i + 1])) list.push(raw.calls[i + 1]);
      this.calls.set(raw.calls[i], list);
    }
    this.size = new Int32Array(n).fill(1);
    this.boxes = new Int32Array(n);
    this.nodes = new Int32Array(n);
    this.begins = new Int32Array(n + 1);  // of the edges that end at an item
    for (const to of this.to) ++this.begins[to + 1];
    for (let i = 0; i < n; ++i) {
      this.begins[i + 1] += this.begins[i];
      this.boxes[i] = this.seat(i) === Seat.box ? 1 : 0;
      this.nodes[i] = this.seat(i) > Seat.group ? 1 : 0;
    }
    for (let i = n - 1; i > 0; --i) {
      this.size[this.parent[i]] += this.size[i];
      this.boxes[this.parent[i]] += this.boxes[i];
      this.nodes[this.parent[i]] += this.nodes[i];
    }
    this.blocks = new Map();  // by the first of them
    for (let i = 0; i < n; ++i) {
      if (this.fold[i] === 0) continue;
      if (!this.blocks.has(this.fold[i])) this.blocks.set(this.fold[i], []);
      this.blocks.get(this.fold[i]).push(i);
    }
    this.isOpen = new Uint8Array(n);
    this.unfolded = new Set();
    this.shown = new Int32Array(n);
    this.inside = new Int32Array(n);
    this.block = new Int32Array(n);
    this.away = new Int32Array(n);
    this.openTo(depth);
  }

  seat(i) { return this.kind[i] & 7; }
  look(i) { return kLooks[this.kind[i] >> 3 & 3]; }
  through(i) { return (this.kind[i] >> 5 & 1) === 1; }
  self(i) { return (this.kind[i] >> 6 & 1) === 1; }
  beside(i) { return (this.kind[i] >> 7 & 1) === 1; }
  isScope(i) { return this.seat(i) <= Seat.group; }
  folded(i) { return this.fold[i] > 0 && this.fold[i] !== i && !this.unfolded.has(this.fold[i]); }
  blocksOf(i) { return this.unfolded.has(i) ? [] : this.blocks.get(i) || []; }

  path(item) {
    let path = "";
    for (let i = item; i > 0; i = this.parent[i]) {
      if (this.seat(i) === Seat.group || this.self(i)) continue;
      path = this.words[this.name[i]] + (path === "" ? "" : "/") + path;
    }
    return path;
  }

  // Groups have no path of their own.
  called(item) { return this.seat(item) === Seat.group ? this.words[this.name[item]] : this.path(item); }

  // As it is called in the scope `around`.
  label(item, around) {
    let text = "";
    for (let i = item; i !== around && i > 0; i = this.parent[i]) {
      if (this.self(i) || (this.seat(i) === Seat.group && i !== item)) continue;
      text = this.words[this.name[i]] + (text === "" ? "" : "/") + text;
    }
    if (text === "") text = `(${this.words[this.name[around]]})`;
    const blocks = this.blocksOf(item);
    return blocks.length > 1 ? `${text} .. ${this.words[this.name[blocks[blocks.length - 1]]]}` : text;
  }

  *children(item) {
    for (let i = item + 1; i < item + this.size[item]; i += this.size[i]) yield i;
  }

  // Level by level, as far as a browser can show it.
  openTo(depth) {
    let level = [0], count = 0;
    const seen = (scope) => {
      const found = [];
      for (const i of this.children(scope)) {
        if (this.boxes[i] === 0 || this.folded(i)) continue;
        if (this.isScope(i) && this.through(i)) found.push(...seen(i));
        else found.push(i);
      }
      return found;
    };
    for (let d = 1; (depth === 0 || d <= depth) && level.length > 0; ++d) {
      const below = [];
      for (const scope of level) {
        const boxes = seen(scope);
        if (scope !== 0 && count + boxes.length > kMostBoxes) return;
        count += boxes.length;
        if (scope !== 0) this.isOpen[scope] = 1;
        for (const i of boxes) if (this.isScope(i)) below.push(i);
      }
      level = below;
    }
  }

  // Opens what is around an item; gives the box that then shows it: of one of very many blocks, its counterpart
  // in the first.
  reveal(item) {
    let box = item;
    if (this.seat(box) > Seat.box && this.host[box] > 0) box = this.host[box];
    for (let i = box; i > 0; i = this.parent[i]) {
      if (!this.folded(i)) continue;
      if (this.blocks.get(this.fold[i]).length <= kMostUnfolded) {
        this.unfolded.add(this.fold[i]);
      } else {
        box += this.fold[i] - i;
        i = this.fold[i];
      }
    }
    for (let i = this.parent[box]; i > 0; i = this.parent[i]) this.isOpen[i] = 1;
    return box;
  }

  // The boxes that are seen and the lines between them: as draw() in drawing.cc.
  view() {
    const {n, parent, shown, inside, block, away, fold, size} = this;
    const boxes = [];
    shown[0] = inside[0] = block[0] = 0;
    for (let i = 1; i < n; ++i) {
      const up = parent[i];
      block[i] = fold[i] > 0 ? i : block[up];
      away[i] = 0;
      if (this.folded(i)) {
        const first = fold[i];
        for (let k = 0; k < size[i]; ++k) {
          shown[i + k] = shown[first + k];
          inside[i + k] = inside[first + k];
          if (k > 0) block[i + k] = fold[i + k] > 0 ? i + k : block[parent[i + k]];
          away[i + k] = i;
        }
        i += size[i] - 1;
        continue;
      }
      shown[i] = shown[up];
      inside[i] = inside[up];
      if (shown[up] > 0) {  // in a closed scope
        const end = up + size[up];
        shown.fill(shown[up], i, end);
        inside.fill(inside[up], i, end);
        away.fill(0, i, end);
        for (let k = i; k < end; ++k) block[k] = fold[k] > 0 ? k : block[parent[k]];
        i = end - 1;
        continue;
      }
      if (this.boxes[i] === 0 || (this.isScope(i) && this.through(i))) continue;
      boxes.push(i);
      if (this.isScope(i) && this.isOpen[i] === 1) inside[i] = i;
      else shown[i] = i;
    }
    return {boxes, ...this.lines()};
  }

  lines() {
    const lines = new Map(), rows = new Map(), rowOf = new Map();
    const add = (map, key, value) => {
      if (map.has(key)) map.get(key).push(value);
      else map.set(key, [value]);
    };
    for (let e = 0; e < this.to.length; ++e) {
      const from = this.shown[this.from[e]], to = this.shown[this.to[e]];
      if (this.seat(this.from[e]) === Seat.constant) {
        if (to > 0 && to === this.to[e]) {
          if (rowOf.get(this.from[e]) !== to) add(rows, to, this.from[e]);  // edges are by box
          rowOf.set(this.from[e], to);
        }
        continue;
      }
      if (from === 0 || to === 0 || from === to) continue;
      if (this.away[this.from[e]] > 0 && this.away[this.from[e]] === this.away[this.to[e]]) continue;
      const key = from * this.n + to;
      let line = lines.get(key);
      const next = this.betweenBlocks(this.from[e], this.to[e]);
      if (line === undefined) lines.set(key, line = {from, to, tensors: 0, type: 0, next, last: -1});
      line.next = line.next && next;
      if (this.type[e] < 0) continue;
      if (line.tensors > 0 && line.type !== this.type[e]) line.type = 0;
      if (line.tensors === 0) line.type = this.type[e];
      if (line.tensors === 0 || line.last !== this.from[e] || line.type === 0) ++line.tensors;
      line.last = this.from[e];
    }
    const readers = new Map(), read = new Map(), stubs = new Map(), sinks = new Map(), drawnLines = [];
    for (const line of lines.values()) {
      readers.set(line.from, (readers.get(line.from) || 0) + 1);
      read.set(line.to, (read.get(line.to) || 0) + 1);
    }
    for (const line of lines.values()) {
      const gathers = this.isScope(line.to) || this.words[this.op[line.to]] === "NoOp";
      if (readers.get(line.from) > kMostLines) add(stubs, line.to, line.from);
      else if (read.get(line.to) > kMostLines && gathers) add(sinks, line.from, line.to);
      else drawnLines.push(line);
    }
    return {lines: drawnLines, rows, stubs, sinks};
  }

  betweenBlocks(from, to) {
    const {block, fold, parent} = this;
    for (let a = block[from]; a > 0; a = block[parent[a]]) {
      for (let b = block[to]; b > 0; b = block[parent[b]]) {
        if (a !== b && fold[a] === fold[b] && !this.unfolded.has(fold[a])) return true;
      }
    }
    return false;
  }

  lineText(line) {
    if (line.tensors === 0) return "";
    if (line.tensors === 1) return this.words[line.type];
    return line.type === 0 ? counted(line.tensors, "tensor") : `${line.tensors} \u00d7 ${this.words[line.type]}`;
  }
}
