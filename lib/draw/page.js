// Shows the sheets that write_page() packed: what is open is laid out anew at each change, scope by scope.
"use strict";

const Seat = {scope: 0, group: 1, box: 2, constant: 3, read: 4, part: 5};
const kLooks = ["plain", "state", "input", "output"];
const kMostLines = 12;      // as in drawing.h
const kMostBoxes = 1200;    // opened at once without a click
const kMostPorts = 8;       // on one side of an open scope; more become one
const kMostResults = 60;
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

// --- a sheet and what of it is open

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

  // Opens what is around an item; gives the box that then shows it.
  reveal(item) {
    let box = item;
    if (this.seat(box) > Seat.box && this.host[box] > 0) box = this.host[box];
    for (let i = this.parent[box]; i > 0; i = this.parent[i]) {
      this.isOpen[i] = 1;
      if (this.fold[i] > 0 && this.fold[i] !== i) this.unfolded.add(this.fold[i]);
    }
    if (this.fold[box] > 0 && this.fold[box] !== box) this.unfolded.add(this.fold[box]);
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

// --- where things are

const ruler = document.createElement("canvas").getContext("2d");
const fontFamily = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const widths = new Map();
function widthOf(text, font) {
  const key = font + text;
  let width = widths.get(key);
  if (width === undefined) {
    ruler.font = font + " " + fontFamily;
    widths.set(key, width = ruler.measureText(text).width);
  }
  return width;
}
const kFonts = {title: "600 12px", text: "12px", small: "10.5px", row: "10.5px", stub: "10.5px", edge: "10px"};

class Layout {
  constructor(sheet, view) {
    this.sheet = sheet;
    this.view = view;
    this.inner = new Map([[0, []]]);  // open scope -> its boxes
    for (const i of view.boxes) {
      if (sheet.shown[i] !== i) this.inner.set(i, []);
      this.inner.get(this.around(i)).push(i);
    }
    this.levels = new Map();  // open scope -> edges between its boxes and ports
    this.place();
    this.root = this.scope(0);
  }

  around(i) { return this.sheet.inside[this.sheet.parent[i]]; }
  isOpen(i) { return this.inner.has(i); }

  // Every line as edges on its way up from where it begins to the scope that holds both ends, and down again.
  place() {
    const ways = [];
    const ports = new Map();
    const port = (scope, side, other) => {
      const key = side + scope;
      if (!ports.has(key)) ports.set(key, new Set());
      ports.get(key).add(other);
    };
    const chain = (i) => {
      const list = [i];
      while (list[list.length - 1] !== 0) list.push(this.around(list[list.length - 1]));
      return list;
    };
    for (const line of this.view.lines) {
      const up = chain(line.from), down = chain(line.to);
      while (up[up.length - 2] !== undefined && up[up.length - 2] === down[down.length - 2]) {
        up.pop();
        down.pop();
      }
      const scope = up.pop();
      down.pop();
      ways.push({line, scope, up, down});
      for (const s of up.slice(1)) port(s, "out", down[down.length - 1]);
      for (const s of down.slice(1)) port(s, "in", up[up.length - 1]);
    }
    const portName = (scope, side, other) =>
      `${side}:${ports.get(side + scope).size > kMostPorts ? "*" : other}`;
    for (const {line, scope, up, down} of ways) {
      const from = up[up.length - 1], to = down[down.length - 1];
      const top = {fromPort: up.length > 1 ? portName(from, "out", to) : null,
                   toPort: down.length > 1 ? portName(to, "in", from) : null};
      this.edge(scope, String(from), String(to), line, top);
      for (let k = 1; k < up.length; ++k) {
        this.edge(up[k], String(up[k - 1]), portName(up[k], "out", to), line,
                  {fromPort: k > 1 ? portName(up[k - 1], "out", to) : null, toPort: null});
      }
      for (let k = 1; k < down.length; ++k) {
        this.edge(down[k], portName(down[k], "in", from), String(down[k - 1]), line,
                  {fromPort: null, toPort: k > 1 ? portName(down[k - 1], "in", from) : null});
      }
    }
  }

  edge(scope, from, to, line, ports) {
    if (!this.levels.has(scope)) this.levels.set(scope, new Map());
    const edges = this.levels.get(scope);
    const key = [from, to, ports.fromPort, ports.toPort].join(" ");
    const known = edges.get(key);
    if (known !== undefined) known.lines.push(line);
    else edges.set(key, {from, to, ...ports, lines: [line]});
  }

  // What stands in a box that is not open, line by line.
  content(i) {
    const {sheet, view} = this;
    const rows = [];
    const some = (items, kind, text) => {
      for (const item of items.slice(0, kMostRows)) rows.push({kind, text: middle(text(item), 44), item});
      if (items.length > kMostRows) rows.push({kind: "small", text: `and ${items.length - kMostRows} more`});
    };
    some(view.stubs.get(i) || [], "stub", (item) => "\u2190 " + sheet.path(item));
    const label = middle(sheet.label(i, this.around(i)), 48);
    if (sheet.isScope(i)) {
      rows.push({kind: "title", text: label});
      rows.push({kind: "small", text: counted(sheet.nodes[i], "node")});
    } else {
      rows.push({kind: "title", text: sheet.words[sheet.op[i]]});
      rows.push({kind: "text", text: label});
    }
    some(view.rows.get(i) || [], "row", (item) => sheet.words[sheet.row[item]]);
    some(view.sinks.get(i) || [], "stub", (item) => "\u2192 " + sheet.path(item));
    return rows;
  }

  box(i) {
    if (this.isOpen(i)) return this.scope(i);
    const rows = this.content(i);
    let width = 56;
    for (const row of rows) width = Math.max(width, widthOf(row.text, kFonts[row.kind]) + 24);
    return {item: i, rows, width, height: 12 + 15 * rows.length};
  }

  // An open scope: its boxes and edges, where they are in it.
  scope(s) {
    const g = new dagre.graphlib.Graph();
    const boxes = this.inner.get(s).map((i) => this.box(i));
    const edges = [...(this.levels.get(s) || new Map()).values()];
    const head = s === 0 ? 0 : 26;
    g.setGraph({rankdir: "TB", nodesep: 22, edgesep: 10, ranksep: 34, marginx: 16, marginy: 14,
                ranker: boxes.length > 250 ? "longest-path" : "network-simplex"});
    for (const box of boxes) g.setNode(String(box.item), {width: box.width, height: box.height});
    const ports = new Set();
    for (const edge of edges) {
      for (const end of [edge.from, edge.to]) {
        if (!end.includes(":") || ports.has(end)) continue;
        ports.add(end);
        g.setNode(end, {width: 8, height: 1});
      }
    }
    const merged = new Map();  // dagre's edges, each for one or more of ours
    for (const edge of edges) {
      const next = edge.lines.every((line) => line.next);
      if (next || edge.from === edge.to) continue;
      const key = edge.from + " " + edge.to;
      const text = this.edgeText(edge);
      const width = text === "" ? 0 : widthOf(text, kFonts.edge) + 6;
      const before = merged.get(key);
      if (before === undefined) {
        merged.set(key, {width, height: text === "" ? 0 : 12});
      } else {
        before.width = Math.max(before.width, width);
        before.height = Math.max(before.height, text === "" ? 0 : 12);
      }
    }
    for (const [key, size] of merged) {
      const [from, to] = key.split(" ");
      g.setEdge(from, to, {...size, labelpos: "c", weight: from.includes(":") || to.includes(":") ? 1 : 2});
    }
    if (ports.size > 0) this.holdPorts(g, ports);
    dagre.layout(g);
    const size = g.graph();
    const titleWidth = s === 0 ? 0 : widthOf(this.title(s), kFonts.title) + 60;
    const width = Math.max(Number.isFinite(size.width) ? size.width : 0, titleWidth);
    const height = (Number.isFinite(size.height) ? size.height : 0) + head;
    const shift = Number.isFinite(size.width) ? (width - size.width) / 2 : 0;
    const places = new Map();
    for (const box of boxes) {
      const at = g.node(String(box.item));
      box.x = at.x + shift - box.width / 2;
      box.y = at.y + head - box.height / 2;
      places.set(String(box.item), box);
    }
    const portPlaces = new Map();
    for (const port of ports) portPlaces.set(port, this.portPlace(port, edges, places, g.node(port).x + shift));
    this.spread(portPlaces, "in:", width);
    this.spread(portPlaces, "out:", width);
    const placed = [];
    for (const edge of edges) {
      placed.push({...edge, text: this.edgeText(edge),
                   points: this.points(g, edge, places, portPlaces, shift, head, height)});
    }
    return {item: s, open: true, boxes, edges: placed, ports: portPlaces, width, height, head};
  }

  // Straight above or below what it leads to, where that is one box.
  portPlace(port, edges, places, laid) {
    const ends = edges.filter((edge) => edge.from === port || edge.to === port);
    const box = places.get(ends[0].to === port ? ends[0].from : ends[0].to);
    const inner = ends[0].to === port ? ends[0].fromPort : ends[0].toPort;
    if (ends.length > 1 || box === undefined) return laid;
    return box.open && inner ? box.x + box.ports.get(inner) : box.x + box.width / 2;
  }

  // Ports of one side keep apart.
  spread(places, side, width) {
    const ports = [...places].filter(([port]) => port.startsWith(side)).sort((a, b) => a[1] - b[1]);
    const apart = Math.min(14, width / (ports.length + 1));
    for (let k = 1; k < ports.length; ++k) ports[k][1] = Math.max(ports[k][1], ports[k - 1][1] + apart);
    let limit = width - 8;
    for (let k = ports.length - 1; k >= 0; --k, limit -= apart) ports[k][1] = Math.min(ports[k][1], limit);
    for (const [port, x] of ports) places.set(port, x);
  }

  title(s) { return middle(this.sheet.label(s, this.around(s)), 60); }

  // Ports lie at the border: above all that nothing leads to, below all that leads nowhere.
  holdPorts(g, ports) {
    const ins = [...ports].filter((port) => port.startsWith("in:"));
    const outs = [...ports].filter((port) => port.startsWith("out:"));
    const real = g.nodes().filter((node) => !node.includes(":"));
    const hold = {width: 0, height: 0, weight: 0, minlen: 1};
    const roots = real.filter((node) => !(g.inEdges(node) || []).some((edge) => !edge.v.includes(":")));
    const leaves = real.filter((node) => !(g.outEdges(node) || []).some((edge) => !edge.w.includes(":")));
    const each = (from, to) => {
      for (const a of from) for (const b of to) if (!g.hasEdge(a, b)) g.setEdge(a, b, {...hold});
    };
    // By way of one more node, where there were many such edges else.
    const join = (from, to, between) => {
      if (from.length * to.length <= 40) return each(from, to);
      g.setNode(between, {width: 1, height: 1});
      each(from, [between]);
      each([between], to);
    };
    if (ins.length > 0) join(ins, roots, "top");
    if (outs.length > 0) join(leaves, outs, "bottom");
  }

  edgeText(edge) {
    if (edge.from.includes(":") || edge.to.includes(":")) return "";
    if (edge.lines.length === 1) return middle(this.sheet.lineText(edge.lines[0]), 40);
    const tensors = edge.lines.reduce((sum, line) => sum + line.tensors, 0);
    return tensors === 0 ? "" : counted(tensors, "tensor");
  }

  points(g, edge, places, ports, shift, head, height) {
    const from = places.get(edge.from), to = places.get(edge.to);
    const start = from === undefined ? {x: ports.get(edge.from), y: 0} : {x: from.x + from.width / 2, y: from.y + from.height};
    const end = to === undefined ? {x: ports.get(edge.to), y: height} : {x: to.x + to.width / 2, y: to.y};
    if (from && from.open && edge.fromPort) start.x = from.x + from.ports.get(edge.fromPort);
    if (to && to.open && edge.toPort) end.x = to.x + to.ports.get(edge.toPort);
    const laid = edge.from === edge.to ? undefined : g.edge(edge.from, edge.to);
    if (laid === undefined || !laid.points) {  // around the side
      const right = Math.max(from ? from.x + from.width : 0, to ? to.x + to.width : 0) + 14;
      const a = {x: from ? from.x + from.width : start.x, y: from ? from.y + from.height * 0.7 : 0};
      const b = {x: to ? to.x + to.width : end.x, y: to ? to.y + to.height * 0.3 : height};
      return [a, {x: right, y: a.y}, {x: right, y: b.y}, b];
    }
    const points = laid.points.map((p) => ({x: p.x + shift, y: p.y + head}));
    const label = laid.x === undefined ? null : {x: laid.x + shift, y: laid.y + head};
    const last = points.length - 1;
    const upward = from && to && from.y > to.y;
    // Lines leave at the bottom and arrive at the top, as near as they come to where they lead.
    const towards = (box, x) => Math.min(Math.max(x, box.x + 8), box.x + box.width - 8);
    if (!upward) {
      if (from && !(from.open && edge.fromPort)) start.x = towards(from, points[1].x);
      if (to && !(to.open && edge.toPort)) end.x = towards(to, points[last - 1].x);
      points[0] = start;
      points[last] = end;
    }
    points.label = label;
    return points;
  }
}

function curve(points) {
  const at = (p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`;
  if (points.length < 3) return "M" + points.map(at).join("L");
  let text = "M" + at(points[0]);
  for (let i = 1; i < points.length - 1; ++i) {
    const end = i === points.length - 2 ? points[i + 1]
      : {x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2};
    text += `Q${at(points[i])} ${at(end)}`;
  }
  return text;
}

// --- the page

class Page {
  constructor(data) {
    this.words = data.words;
    this.raw = data.sheets;
    this.depth = data.depth;
    this.title = data.title;
    this.sheets = [];
    this.number = 0;
    this.selected = 0;
    this.at = {x: 0, y: 0, k: 1};
    this.frame();
    window.addEventListener("hashchange", () => this.go(location.hash));
    window.addEventListener("keydown", (event) => this.key(event));
    this.findDevices();
    this.sheetChosen(this.firstPage());
    if (location.hash.length > 1) this.go(location.hash);
  }

  sheetAt(number) {
    if (this.sheets[number] === undefined)
      this.sheets[number] = new Sheet(this.raw[number], this.words, this.depth);
    return this.sheets[number];
  }
  get sheet() { return this.sheetAt(this.number); }

  // The main graph, unless a selection hit functions alone.
  firstPage() {
    for (let i = 0; i < this.raw.length; ++i) if (this.raw[i].name.length > 1) return i;
    return 0;
  }

  frame() {
    this.pages = element("select", {"aria-label": "Graph or function", onchange: () => this.sheetChosen(Number(this.pages.value))});
    this.raw.forEach((sheet, i) => {
      this.pages.append(element("option", {value: i}, i === 0 ? "main graph" : sheet.function));
    });
    if (this.raw.length < 2) this.pages.style.display = "none";
    this.query = element("input", {type: "search", placeholder: "Search nodes, scopes, ops  ( / )", "aria-label": "Search",
                                   spellcheck: "false", oninput: () => this.search(), onkeydown: (e) => this.searchKey(e)});
    this.results = element("ul", {role: "listbox"});
    this.count = element("span", {class: "count"});
    const button = (text, label, act) => element("button", {title: label, "aria-label": label, onclick: act}, text);
    const header = element("header", {},
      element("h1", {title: this.title}, this.title || "graph"), this.count, this.pages,
      element("span", {class: "space"}),
      element("div", {class: "search"}, this.query, this.results),
      button("\u2212", "Zoom out (-)", () => this.zoom(1 / 1.25)), button("+", "Zoom in (+)", () => this.zoom(1.25)),
      button("fit", "Fit (0)", () => this.fit()), button("\u25d0", "Light or dark", () => this.theme()));
    this.canvas = drawn("svg", {role: "application", "aria-label": "graph"});
    this.canvas.append(drawn("defs", {}, this.arrow("arrow", ""), this.arrow("arrow-lit", "lit")));
    this.world = drawn("g", {});
    this.canvas.append(this.world);
    this.legend = element("div", {class: "legend"});
    this.panel = element("aside", {"aria-live": "polite"});
    this.main = element("main", {}, this.canvas, this.legend);
    document.body.prepend(header, this.main, this.panel);
    this.moving();
  }

  arrow(id, name) {
    return drawn("marker", {id, class: name, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
                            orient: "auto", markerUnits: "userSpaceOnUse"}, drawn("path", {d: "M0 0L8 4L0 8z"}));
  }

  theme() {
    const dark = document.documentElement.dataset.theme === "dark" ||
      (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  }

  findDevices() {
    const found = new Set();
    for (const sheet of this.raw) for (const device of sheet.device) if (device > 0) found.add(device);
    this.devices = new Map([...found].sort((a, b) => this.words[a] < this.words[b] ? -1 : 1)
      .map((device, i) => [device, kDevicePens[i % kDevicePens.length]]));
    const entry = (colour, text, rim) => {
      const mark = element("i");
      mark.style.background = colour;
      if (rim) mark.style.borderColor = rim;
      return element("span", {}, mark, text);
    };
    this.legend.append(entry("var(--state)", "state", "var(--state-rim)"), entry("var(--input)", "input", "var(--input-rim)"),
                       entry("var(--output)", "output", "var(--output-rim)"), entry("var(--scope)", "scope"));
    for (const [device, colour] of this.devices) this.legend.append(entry(colour, this.words[device]));
  }

  sheetChosen(number) {
    this.number = number;
    this.pages.value = String(number);
    this.selected = 0;
    this.count.textContent = counted(this.sheet.nodes[0], "node");
    this.redraw();
    this.fit();
    this.describe();
  }

  // --- drawing

  redraw() {
    this.layout = new Layout(this.sheet, this.sheet.view());
    this.places = new Map();  // of each box: where it is in the whole, and its element
    this.edgesOf = new Map();
    const drawing = this.drawScope(this.layout.root, 0, 0);
    this.world.replaceChildren(drawing);
    this.mark();
  }

  drawScope(scope, x, y) {
    const group = drawn("g", {class: "inside"});
    for (const edge of scope.edges) group.append(this.drawEdge(edge));
    for (const box of scope.boxes) group.append(this.drawBox(box, x, y));
    return group;
  }

  drawBox(box, x, y) {
    const {sheet} = this;
    const i = box.item;
    const names = ["box"];
    if (sheet.isScope(i)) names.push("scope");
    if (box.open) names.push("open");
    if (sheet.beside(i) && !sheet.isScope(i)) names.push("beside");
    names.push(sheet.look(i));
    const group = drawn("g", {class: names.join(" "), transform: `translate(${box.x.toFixed(1)} ${box.y.toFixed(1)})`,
                              tabindex: 0, role: "button", "data-item": i});
    const path = sheet.path(i);
    group.setAttribute("aria-label", (sheet.isScope(i) ? "scope " : sheet.words[sheet.op[i]] + " ") + path);
    if (sheet.isScope(i)) group.setAttribute("aria-expanded", box.open ? "true" : "false");
    const blocks = sheet.blocksOf(i).length;
    const body = {class: "body", width: box.width.toFixed(1), height: box.height.toFixed(1), rx: sheet.isScope(i) ? 9 : 5};
    if (blocks > 1 && !box.open) {
      for (const d of [6, 3]) {
        group.append(drawn("rect", {class: "behind", x: d, y: d, width: body.width, height: body.height, rx: body.rx}));
      }
    }
    group.append(drawn("rect", body));
    const device = this.devices.get(sheet.device[i]);
    if (device !== undefined)
      group.append(drawn("rect", {x: 0, y: 4, width: 4, height: (box.height - 8).toFixed(1), rx: 2, fill: device}));
    if (box.open) {
      group.append(this.text(this.layout.title(i), 12, 17, "title"));
      group.append(this.drawScope(box, x + box.x, y + box.y));
    } else {
      this.rows(group, box);
    }
    if (blocks > 1) this.badge(group, box, "\u00d7" + blocks.toLocaleString("en"));
    this.places.set(i, {x: x + box.x, y: y + box.y, width: box.width, height: box.height, group});
    return group;
  }

  rows(group, box) {
    box.rows.forEach((row, k) => {
      const y = 17 + 15 * k;
      const centred = row.kind === "title" || row.kind === "text" || row.kind === "small";
      const text = this.text(row.text, centred ? box.width / 2 : 12, y, row.kind);
      if (centred) text.setAttribute("text-anchor", "middle");
      if (row.item !== undefined) text.dataset.to = row.item;
      if (row.kind === "row" && (k === 0 || box.rows[k - 1].kind !== "row"))
        group.append(drawn("line", {x1: 6, x2: (box.width - 6).toFixed(1), y1: y - 11, y2: y - 11}));
      group.append(text);
    });
  }

  text(content, x, y, name) {
    return drawn("text", {class: name, x: x.toFixed(1), y}, content);
  }

  badge(group, box, text) {
    const width = widthOf(text, "700 10.5px") + 12;
    group.append(drawn("rect", {class: "badge", x: (box.width - width + 5).toFixed(1), y: -8, width: width.toFixed(1), height: 16, rx: 8}));
    const label = this.text(text, box.width - width / 2 + 5, 4, "badge-text");
    label.setAttribute("text-anchor", "middle");
    group.append(label);
  }

  drawEdge(edge) {
    const control = edge.lines.every((line) => line.tensors === 0);
    const next = edge.lines.every((line) => line.next);
    const group = drawn("g", {class: "edge" + (control ? " control" : "") + (next ? " next" : "")});
    const path = drawn("path", {d: curve(edge.points)});
    if (!edge.to.includes(":") && !edge.toPort) path.setAttribute("marker-end", "url(#arrow)");
    const many = Math.min(4, 1 + Math.log2(edge.lines.reduce((sum, line) => sum + Math.max(1, line.tensors), 0)) / 2);
    path.style.strokeWidth = many.toFixed(1);
    group.append(path);
    if (edge.text !== "" && edge.points.label) {
      const text = this.text(edge.text, edge.points.label.x, (edge.points.label.y + 3).toFixed(1), "");
      text.setAttribute("text-anchor", "middle");
      group.append(text);
    }
    for (const line of edge.lines) {
      for (const end of [line.from, line.to]) {
        if (!this.edgesOf.has(end)) this.edgesOf.set(end, []);
        this.edgesOf.get(end).push(group);
      }
    }
    return group;
  }

  // Shows what is selected: the box, and the lines that end at it.
  mark() {
    for (const old of this.world.querySelectorAll(".selected, .lit")) {
      old.classList.remove("selected", "lit");
      const path = old.querySelector("path");
      if (old.classList.contains("edge") && path.hasAttribute("marker-end")) path.setAttribute("marker-end", "url(#arrow)");
    }
    const box = this.boxOf(this.selected);
    const place = this.places.get(box);
    if (place === undefined) return;
    place.group.classList.add("selected");
    for (const edge of this.edgesOf.get(box) || []) {
      edge.classList.add("lit");
      const path = edge.querySelector("path");
      if (path.hasAttribute("marker-end")) path.setAttribute("marker-end", "url(#arrow-lit)");
    }
  }

  // The box that shows an item now.
  boxOf(item) {
    if (item === 0) return 0;
    const {sheet} = this;
    const at = sheet.seat(item) > Seat.box && sheet.host[item] > 0 ? sheet.host[item] : item;
    return this.places.has(at) ? at : sheet.shown[at];
  }

  // --- what a person does

  toggle(item) {
    const before = this.places.get(item);
    this.sheet.isOpen[item] = this.sheet.isOpen[item] === 1 ? 0 : 1;
    this.redraw();
    const after = this.places.get(item);
    if (before !== undefined && after !== undefined) {  // what was clicked stays where it is
      const middle = (place) => place.x + place.width / 2;
      this.at.x += (middle(before) - middle(after)) * this.at.k;
      this.at.y += (before.y - after.y) * this.at.k;
      this.move();
      after.group.focus({preventScroll: true});
    }
  }

  select(item, show = false) {
    this.selected = item;
    this.mark();
    this.describe();
    const hash = "#" + this.address(item);
    if (item > 0 && hash !== location.hash) history.replaceState(null, "", hash);
    if (show) this.centre(this.boxOf(item));
  }

  address(item, number = this.number) {
    const sheet = this.sheetAt(number);
    const path = (number > 0 ? sheet.function + "//" : "") + sheet.path(item) + (sheet.seat(item) === Seat.scope ? "/" : "");
    return path.split("/").map(encodeURIComponent).join("/");
  }

  // Opens what is on the way to an item of a page, and shows it.
  reveal(number, item) {
    if (number !== this.number) this.sheetChosen(number);
    this.sheet.reveal(item);
    if (this.sheet.isScope(item)) this.sheet.isOpen[item] = 1;
    this.redraw();
    this.select(item, true);
  }

  go(hash) {
    let path = "";
    try {
      path = hash.slice(1).split("/").map(decodeURIComponent).join("/");
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
      return;  // not an address of this page
    }
    let number = 0;
    const slashes = path.indexOf("//");
    if (slashes > 0) {
      const found = this.raw.findIndex((sheet, i) => i > 0 && sheet.function === path.slice(0, slashes));
      if (found > 0) {
        number = found;
        path = path.slice(slashes + 2);
      }
    }
    const item = this.find(this.sheetAt(number), path);
    if (item > 0) {
      if (number !== this.number || this.selected !== item) this.reveal(number, item);
    } else if (number !== this.number) {
      this.sheetChosen(number);
    }
  }

  find(sheet, path) {
    const wantsScope = path.endsWith("/");
    const wanted = wantsScope ? path.slice(0, -1) : path;
    let other = 0;
    for (let i = 1; i < sheet.n; ++i) {
      if (sheet.seat(i) === Seat.group || !wanted.endsWith(this.words[sheet.name[i]]) || sheet.path(i) !== wanted) continue;
      if (sheet.isScope(i) === wantsScope) return i;
      other = other || i;
    }
    return other;
  }

  key(event) {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const box = event.target instanceof Element ? event.target.closest(".box") : null;
    const item = box === null ? 0 : Number(box.dataset.item);
    const actions = {
      "/": () => this.query.focus(),
      "+": () => this.zoom(1.25),
      "=": () => this.zoom(1.25),
      "-": () => this.zoom(1 / 1.25),
      "0": () => this.fit(),
      "Escape": () => this.select(0),
      "Enter": () => item > 0 && this.activate(item),
      " ": () => item > 0 && this.activate(item),
      "ArrowUp": () => this.step(item, 0, -1),
      "ArrowDown": () => this.step(item, 0, 1),
      "ArrowLeft": () => this.step(item, -1, 0),
      "ArrowRight": () => this.step(item, 1, 0),
    };
    if (actions[event.key] === undefined) return;
    if (event.target instanceof HTMLButtonElement && (event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    actions[event.key]();
  }

  // To the nearest box in a direction.
  step(item, dx, dy) {
    const here = this.places.get(item);
    let best = null, least = Infinity;
    for (const [other, place] of this.places) {
      if (other === item) continue;
      if (here === undefined) { best = other; break; }
      const x = place.x + place.width / 2 - here.x - here.width / 2, y = place.y - here.y;
      const along = x * dx + y * dy;
      const across = Math.abs(x * dy) + Math.abs(y * dx);
      if (along > 1 && along + 2 * across < least) {
        least = along + 2 * across;
        best = other;
      }
    }
    if (best === null) return;
    this.select(best);
    this.places.get(best).group.focus({preventScroll: true});
    this.keepInSight(best);
  }

  activate(item) {
    if (this.sheet.isScope(item)) {
      this.selected = item;
      this.toggle(item);
    }
    this.select(item);
  }

  moving() {
    let from = null, moved = false;
    const svg = this.canvas;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = {x: event.clientX - this.at.x, y: event.clientY - this.at.y, startX: event.clientX, startY: event.clientY, id: event.pointerId};
      moved = false;
    });
    svg.addEventListener("pointermove", (event) => {
      if (from === null) return;
      if (!moved && Math.hypot(event.clientX - from.startX, event.clientY - from.startY) < 4) return;
      if (!moved) svg.setPointerCapture(from.id);
      moved = true;
      svg.classList.add("moving");
      this.at.x = event.clientX - from.x;
      this.at.y = event.clientY - from.y;
      this.move();
    });
    const stop = () => {
      from = null;
      svg.classList.remove("moving");
    };
    svg.addEventListener("pointerup", stop);
    svg.addEventListener("pointercancel", stop);
    svg.addEventListener("click", (event) => {
      if (moved) return;
      const stub = event.target.closest("[data-to]");
      if (stub !== null && stub.classList.contains("stub")) return this.reveal(this.number, Number(stub.dataset.to));
      if (stub !== null) return this.select(Number(stub.dataset.to));
      const box = event.target.closest(".box");
      if (box === null) return this.select(0);
      this.activate(Number(box.dataset.item));
    });
    svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const step = event.deltaMode === 1 ? event.deltaY * 30 : event.deltaY;
      this.zoom(Math.exp(-step * (event.ctrlKey ? 0.01 : 0.0015)), event);
    }, {passive: false});
    new ResizeObserver(() => this.move()).observe(this.main);
  }

  zoom(by, event) {
    const frame = this.canvas.getBoundingClientRect();
    const x = event ? event.clientX - frame.left : frame.width / 2;
    const y = event ? event.clientY - frame.top : frame.height / 2;
    const k = Math.min(4, Math.max(0.02, this.at.k * by));
    this.at = {k, x: x - (x - this.at.x) * k / this.at.k, y: y - (y - this.at.y) * k / this.at.k};
    this.move();
  }

  move() {
    this.world.setAttribute("transform", `translate(${this.at.x.toFixed(1)} ${this.at.y.toFixed(1)}) scale(${this.at.k.toFixed(4)})`);
  }

  // All of it, but never larger than life, nor too small to read: then its beginning.
  fit() {
    const frame = this.canvas.getBoundingClientRect();
    const {width, height} = this.layout.root;
    const whole = Math.min(frame.width / width, (frame.height - 30) / height, 1.1);
    const k = Math.max(whole, Math.min(0.45, frame.width / width));
    this.at = {k: Math.max(k, 0.05), x: 0, y: 0};
    this.at.x = (frame.width - width * this.at.k) / 2;
    this.at.y = Math.max(6, (frame.height - height * this.at.k) / 2);
    this.move();
  }

  centre(box) {
    const place = this.places.get(box);
    if (place === undefined) return;
    const frame = this.canvas.getBoundingClientRect();
    const k = Math.min(1.1, Math.max(this.at.k, 0.7), Math.max(0.3, frame.width / (place.width + 60)));
    this.at = {k, x: frame.width / 2 - (place.x + place.width / 2) * k,
               y: Math.max(frame.height / 2 - (place.y + place.height / 2) * k, 20 - place.y * k)};
    this.move();
  }

  keepInSight(box) {
    const place = this.places.get(box);
    const frame = this.canvas.getBoundingClientRect();
    const x = place.x * this.at.k + this.at.x, y = place.y * this.at.k + this.at.y;
    if (x < 0 || y < 0 || x + 40 > frame.width || y + 20 > frame.height) this.centre(box);
  }

  // --- search

  search() {
    const query = this.query.value.trim().toLowerCase();
    this.results.replaceChildren();
    this.found = [];
    if (query === "") return;
    const whole = query.replace(/\/+$/, "");
    const last = whole.slice(whole.lastIndexOf("/") + 1);
    const hits = new Uint8Array(this.words.length);
    for (let w = 1; w < this.words.length; ++w) {
      const at = this.words[w].length < 300 ? this.words[w].toLowerCase().indexOf(last) : -1;
      if (at >= 0) hits[w] = this.words[w].length === last.length ? 3 : at === 0 ? 2 : 1;
    }
    const found = [];
    for (let number = 0; number < this.raw.length && found.length < 5000; ++number) {
      const sheet = this.sheetAt(number);
      for (let i = 1; i < sheet.n && found.length < 5000; ++i) {
        const byName = hits[sheet.name[i]], byOp = whole === last ? hits[sheet.op[i]] : 0;
        if ((byName === 0 && byOp === 0) || sheet.seat(i) === Seat.group) continue;
        const path = sheet.path(i);
        if (whole !== last && !path.toLowerCase().includes(whole)) continue;
        const rank = byName * 4 + byOp + (sheet.seat(i) === Seat.box || sheet.isScope(i) ? 2 : 0) + (number === this.number ? 1 : 0);
        found.push({number, item: i, path, rank});
      }
    }
    found.sort((a, b) => b.rank - a.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
    this.found = found.slice(0, kMostResults);
    this.found.forEach((hit, k) => {
      const sheet = this.sheetAt(hit.number);
      const what = sheet.isScope(hit.item) ? "scope" : this.words[sheet.op[hit.item]];
      const place = hit.number > 0 ? sheet.function + "//" : "";
      this.results.append(element("li", {role: "option", "aria-selected": k === 0 ? "true" : "false",
                                         onclick: () => this.take(k)}, place + hit.path, element("small", {}, what)));
    });
    this.chosen = 0;
    if (found.length === 0) this.results.append(element("li", {}, "nothing found"));
  }

  searchKey(event) {
    const move = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (move !== undefined && this.found && this.found.length > 0) {
      event.preventDefault();
      this.chosen = (this.chosen + move + this.found.length) % this.found.length;
      [...this.results.children].forEach((li, k) => li.setAttribute("aria-selected", k === this.chosen ? "true" : "false"));
      this.results.children[this.chosen].scrollIntoView({block: "nearest"});
    } else if (event.key === "Enter" && this.found && this.found.length > 0) {
      this.take(this.chosen);
    } else if (event.key === "Escape") {
      this.query.value = "";
      this.search();
      this.query.blur();
    }
  }

  take(k) {
    const {number, item} = this.found[k];
    this.results.replaceChildren();
    this.query.blur();
    this.reveal(number, item);
  }

  // --- what is selected, in words

  describe() {
    const parts = this.selected === 0 ? this.describeSheet() : this.describeItem(this.selected);
    this.panel.replaceChildren(...parts);
    this.panel.scrollTop = 0;
  }

  link(item, text, number = this.number) {
    return element("a", {href: "#" + this.address(item, number), onclick: (event) => {
      event.preventDefault();
      this.reveal(number, item);
    }}, text === undefined ? this.sheetAt(number).path(item) : text);
  }

  table(rows) {
    return element("table", {}, ...rows.map(([key, value]) => element("tr", {}, element("td", {}, key), element("td", {}, value))));
  }

  describeSheet() {
    const {sheet} = this;
    const parts = [element("h2", {}, this.number > 0 ? sheet.function : this.title || "graph"),
                   element("p", {}, counted(sheet.nodes[0], "node") +
                     (this.raw.length > 1 && this.number === 0 ? ", " + counted(this.raw.length - 1, "function") : ""))];
    parts.push(...this.histogram(0));
    parts.push(element("h3", {}, "Keys"), this.table([
      [element("kbd", {}, "/"), "search"], [element("kbd", {}, "Enter"), "open or close a scope"],
      [element("kbd", {}, "\u2190\u2191\u2192\u2193"), "to the next box"], [element("kbd", {}, "+ - 0"), "zoom, fit"]]));
    return parts;
  }

  histogram(item) {
    const {sheet} = this;
    const counts = new Map();
    for (let i = item; i < item + sheet.size[item]; ++i) {
      if (sheet.seat(i) > Seat.group) counts.set(sheet.op[i], (counts.get(sheet.op[i]) || 0) + 1);
    }
    const rows = [...counts].sort((a, b) => b[1] - a[1] || (this.words[a[0]] < this.words[b[0]] ? -1 : 1));
    const table = element("table", {}, ...rows.slice(0, 40).map(([op, count]) =>
      element("tr", {}, element("td", {class: "number"}, count.toLocaleString("en")), element("td", {}, this.words[op]))));
    return [element("h3", {}, "Ops"), table];
  }

  describeItem(item) {
    const {sheet} = this;
    const title = sheet.isScope(item) ? this.words[sheet.name[item]] + "/" : this.words[sheet.op[item]];
    const parts = [element("h2", {}, title), this.trail(item)];
    if (sheet.isScope(item)) parts.push(element("p", {}, counted(sheet.nodes[item], "node")));
    const facts = [];
    if (sheet.device[item] > 0) facts.push(["device", this.words[sheet.device[item]]]);
    if (sheet.seat(item) === Seat.constant && sheet.host[item] > 0) facts.push(["shown in", this.link(sheet.host[item])]);
    if (sheet.seat(item) === Seat.read) facts.push(["reads", this.link(sheet.host[item])]);
    if (sheet.seat(item) === Seat.part) facts.push(["part of", this.link(sheet.host[item])]);
    for (const number of sheet.calls.get(item) || [])
      facts.push(["calls", element("a", {href: "#" + encodeURIComponent(this.raw[number].function) + "//", onclick: (event) => {
        event.preventDefault();
        this.sheetChosen(number);
      }}, this.raw[number].function)]);
    if (facts.length > 0) parts.push(this.table(facts));
    if (sheet.blocks.has(sheet.fold[item])) parts.push(...this.describeBlocks(sheet.fold[item]));
    parts.push(...this.neighbours(item));
    if (sheet.isScope(item)) return parts.concat(this.histogram(item));
    if (sheet.attrs[item] > 0) {
      const rows = this.words[sheet.attrs[item]].split("\n").map((line) => {
        const colon = line.indexOf(": ");
        return [line.slice(0, colon), line.slice(colon + 2)];
      });
      parts.push(element("h3", {}, "Attributes"), this.table(rows));
    }
    return parts;
  }

  trail(item) {
    const {sheet} = this;
    const path = element("p", {class: "path"});
    const above = [];
    for (let i = item; i > 0; i = sheet.parent[i]) if (sheet.seat(i) !== Seat.group && !sheet.self(i)) above.unshift(i);
    if (sheet.self(item)) above.push(item);
    for (const i of above) path.append(this.link(i, sheet.self(i) ? `(${this.words[sheet.name[sheet.parent[i]]]})` : this.words[sheet.name[i]]));
    return path;
  }

  describeBlocks(first) {
    const {sheet} = this;
    const blocks = sheet.blocks.get(first), apart = sheet.unfolded.has(first);
    const toggle = element("button", {onclick: () => {
      if (apart) sheet.unfolded.delete(first);
      else sheet.unfolded.add(first);
      this.redraw();
      this.select(first, true);
    }}, apart ? "fold them" : "show each");
    return [element("h3", {}, `${blocks.length} blocks of this structure`), element("p", {}, toggle),
            this.list(blocks.map((i) => this.link(i)))];
  }

  list(entries, most = 60) {
    const list = element("ul", {}, ...entries.slice(0, most).map((entry) => element("li", {}, entry)));
    if (entries.length > most) list.append(element("li", {}, element("small", {}, `and ${entries.length - most} more`)));
    return list;
  }

  // Who feeds an item and whom it feeds; of a scope from without.
  neighbours(item) {
    const {sheet} = this;
    const end = item + sheet.size[item];
    const within = (i) => i >= item && i < end;
    const inputs = new Map(), outputs = new Map();
    for (let e = sheet.begins[item]; e < sheet.begins[end]; ++e) {
      if (!within(sheet.from[e])) inputs.set(sheet.from[e] + " " + sheet.type[e], [sheet.from[e], sheet.type[e]]);
    }
    for (let e = 0; e < sheet.to.length; ++e) {
      if (within(sheet.from[e]) && !within(sheet.to[e])) outputs.set(sheet.to[e] + " " + sheet.type[e], [sheet.to[e], sheet.type[e]]);
    }
    const entry = ([other, type]) => {
      const line = element("span", {}, this.link(other));
      const text = type < 0 ? "control" : sheet.seat(other) === Seat.constant ? "" : this.words[type];
      if (text !== "") line.append(" ", element("small", {}, text));
      return line;
    };
    const parts = [];
    if (inputs.size > 0) parts.push(element("h3", {}, `Inputs (${inputs.size})`), this.list([...inputs.values()].slice(0, 1000).map(entry)));
    if (outputs.size > 0) parts.push(element("h3", {}, `Read by (${outputs.size})`), this.list([...outputs.values()].slice(0, 1000).map(entry)));
    return parts;
  }
}

(async () => {
  const wait = element("div", {class: "wait"}, "opening \u2026");
  document.body.prepend(wait);
  const data = await unpack("data");
  wait.remove();
  document.getElementById("data").remove();
  window.gedit = new Page(data);
})();
