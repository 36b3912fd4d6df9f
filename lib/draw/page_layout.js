// Where the boxes and lines of a sheet are: scope by scope, each laid out by dagre as one box of the scope around it.

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
  constructor(sheet, view, functions) {
    this.sheet = sheet;
    this.view = view;
    this.functions = functions;
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
    some(view.stubs.get(i) || [], "stub", (item) => "\u2190 " + sheet.called(item));
    const label = middle(sheet.label(i, this.around(i)), 48);
    if (sheet.isScope(i)) {
      rows.push({kind: "title", text: label});
      rows.push({kind: "small", text: counted(sheet.nodes[i], "node")});
    } else {
      rows.push({kind: "title", text: sheet.words[sheet.op[i]]});
      rows.push({kind: "text", text: label});
    }
    some(view.rows.get(i) || [], "row", (item) => sheet.words[sheet.row[item]]);
    for (const page of (sheet.calls.get(i) || []).slice(0, kMostRows))
      rows.push({kind: "stub", text: "\u0192 " + middle(this.functions[page], 40), page});
    some(view.sinks.get(i) || [], "stub", (item) => "\u2192 " + sheet.called(item));
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
    const joined = new Set();
    for (const edge of edges) joined.add(edge.from).add(edge.to);
    const alone = boxes.filter((box) => !joined.has(String(box.item)));
    const apart = new Set(alone.length > kMostAlone ? alone : []);  // in rows of their own
    for (const box of boxes)
      if (!apart.has(box)) g.setNode(String(box.item), {width: box.width, height: box.height});
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
    const laidWidth = g.nodeCount() > 0 ? size.width : 0, laidHeight = g.nodeCount() > 0 ? size.height : 0;
    const rows = this.rowsOf([...apart], laidWidth, laidHeight + head);
    const width = Math.max(laidWidth, titleWidth, rows.width);
    const height = laidHeight + head + rows.height;
    const shift = (width - laidWidth) / 2;
    const places = new Map();
    for (const box of boxes) {
      if (apart.has(box)) continue;
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

  // Places boxes side by side, about as wide as what is above them or as all of them are high.
  rowsOf(boxes, width, top) {
    if (boxes.length === 0) return {width: 0, height: 0};
    const area = boxes.reduce((sum, box) => sum + (box.width + 22) * (box.height + 22), 0);
    const most = Math.max(width, 1.4 * Math.sqrt(area));
    let x = 16, y = top, high = 0, wide = 0;
    for (const box of boxes) {
      if (x > 16 && x + box.width > most) {
        x = 16;
        y += high + 22;
        high = 0;
      }
      box.x = x;
      box.y = y;
      x += box.width + 22;
      high = Math.max(high, box.height);
      wide = Math.max(wide, x);
    }
    return {width: wide - 6, height: y + high + 14 - top};
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
