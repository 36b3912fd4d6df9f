// The page: draws what is open, lays it out anew at each change, and does what a person asks for.

class Page {
  constructor(data) {
    this.words = data.words;
    this.raw = data.sheets;
    this.depth = data.depth;
    this.first = data.first;
    this.title = data.title;
    this.functions = data.sheets.map((sheet) => sheet.function);
    this.sheets = [];
    this.number = 0;
    this.selected = 0;
    this.at = {x: 0, y: 0, k: 1};
    this.frame();
    window.addEventListener("popstate", () => this.go(location.hash));  // another address, or back
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

  // The function that a signature calls, else the main graph, unless a selection hit other functions alone.
  firstPage() {
    if (this.raw[this.first].name.length > 1) return this.first;
    for (let i = 0; i < this.raw.length; ++i) if (this.raw[i].name.length > 1) return i;
    return 0;
  }

  frame() {
    this.pages = element("select", {"aria-label": "Graph or function", onchange: () => this.turnTo(Number(this.pages.value))});
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
    this.panel = new Panel(this);
    this.main = element("main", {}, this.canvas, this.legend);
    document.body.prepend(header, this.main, this.panel.element);
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
    this.panel.describe();
  }

  // To another page, with the way back that browsers have.
  turnTo(number) {
    const function_ = this.functions[number];
    history.pushState(null, "", function_ === "" ? "#" : "#" + encodeURIComponent(function_) + "//");
    this.sheetChosen(number);
  }

  // --- drawing

  redraw() {
    this.layout = new Layout(this.sheet, this.sheet.view(), this.functions);
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
    group.setAttribute("aria-label", (sheet.isScope(i) ? "scope " : sheet.words[sheet.op[i]] + " ") + sheet.called(i));
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
      const state = row.kind === "row" && this.sheet.look(row.item) === "state";
      const text = this.text(row.text, centred ? box.width / 2 : 12, y, row.kind + (state ? " state" : ""));
      if (centred) text.setAttribute("text-anchor", "middle");
      if (row.item !== undefined) text.dataset.to = row.item;
      if (row.page !== undefined) text.dataset.page = row.page;
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
    this.panel.describe();
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
    if (number !== this.number) this.turnTo(number);
    const box = this.sheet.reveal(item);
    if (this.sheet.isScope(box)) this.sheet.isOpen[box] = 1;
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
    const item = path === "" ? 0 : this.find(this.sheetAt(number), path);
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
      const call = event.target.closest("[data-page]");
      if (call !== null) return this.turnTo(Number(call.dataset.page));
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

  // All of it, but never larger than life, nor too small to read: then the middle of its beginning.
  fit() {
    const frame = this.canvas.getBoundingClientRect();
    const {width, height} = this.layout.root;
    const k = Math.max(Math.min(frame.width / width, (frame.height - 30) / height, 1.1), 0.4);
    this.at = {k, x: (frame.width - width * k) / 2, y: Math.max(6, (frame.height - height * k) / 2)};
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
}

(async () => {
  const wait = element("div", {class: "wait"}, "opening \u2026");
  document.body.prepend(wait);
  const data = await unpack("data");
  wait.remove();
  document.getElementById("data").remove();
  window.gedit = new Page(data);
})();
