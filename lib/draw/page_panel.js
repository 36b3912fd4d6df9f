// What is selected, in words: beside the picture.
class Panel {
  constructor(page) {
    this.page = page;
    this.element = element("aside", {"aria-live": "polite"});
  }

  describe() {
    const parts = this.page.selected === 0 ? this.describeSheet() : this.describeItem(this.page.selected);
    this.element.replaceChildren(...parts);
    this.element.scrollTop = 0;
  }

  link(item, text, number = this.page.number) {
    return element("a", {href: "#" + this.page.address(item, number), onclick: (event) => {
      event.preventDefault();
      this.page.reveal(number, item);
    }}, text === undefined ? this.page.sheetAt(number).path(item) : text);
  }

  table(rows) {
    return element("table", {}, ...rows.map(([key, value]) => element("tr", {}, element("td", {}, key), element("td", {}, value))));
  }

  describeSheet() {
    const {sheet} = this.page;
    const parts = [element("h2", {}, this.page.number > 0 ? sheet.function : this.page.title || "graph"),
                   element("p", {}, counted(sheet.nodes[0], "node") +
                     (this.page.raw.length > 1 && this.page.number === 0 ? ", " + counted(this.page.raw.length - 1, "function") : ""))];
    parts.push(...this.histogram(0));
    parts.push(element("h3", {}, "Keys"), this.table([
      [element("kbd", {}, "/"), "search"], [element("kbd", {}, "Enter"), "open or close a scope"],
      [element("kbd", {}, "\u2190\u2191\u2192\u2193"), "to the next box"], [element("kbd", {}, "+ - 0"), "zoom, fit"]]));
    return parts;
  }

  histogram(item) {
    const {sheet} = this.page;
    const counts = new Map();
    for (let i = item; i < item + sheet.size[item]; ++i) {
      if (sheet.seat(i) > Seat.group) counts.set(sheet.op[i], (counts.get(sheet.op[i]) || 0) + 1);
    }
    const rows = [...counts].sort((a, b) => b[1] - a[1] || (this.page.words[a[0]] < this.page.words[b[0]] ? -1 : 1));
    const table = element("table", {}, ...rows.slice(0, 40).map(([op, count]) =>
      element("tr", {}, element("td", {class: "number"}, count.toLocaleString("en")), element("td", {}, this.page.words[op]))));
    return [element("h3", {}, "Ops"), table];
  }

  describeItem(item) {
    const {sheet} = this.page;
    const title = sheet.isScope(item) ? this.page.words[sheet.name[item]] + "/" : this.page.words[sheet.op[item]];
    const parts = [element("h2", {}, title), this.trail(item)];
    if (sheet.isScope(item)) parts.push(element("p", {}, counted(sheet.nodes[item], "node")));
    const facts = [];
    if (sheet.device[item] > 0) facts.push(["device", this.page.words[sheet.device[item]]]);
    if (sheet.seat(item) === Seat.constant && sheet.host[item] > 0) facts.push(["shown in", this.link(sheet.host[item])]);
    if (sheet.seat(item) === Seat.read) facts.push(["reads", this.link(sheet.host[item])]);
    if (sheet.seat(item) === Seat.part) facts.push(["part of", this.link(sheet.host[item])]);
    for (const number of sheet.calls.get(item) || [])
      facts.push(["calls", element("a", {href: "#" + encodeURIComponent(this.page.raw[number].function) + "//", onclick: (event) => {
        event.preventDefault();
        this.page.turnTo(number);
      }}, this.page.raw[number].function)]);
    if (facts.length > 0) parts.push(this.table(facts));
    if (sheet.blocks.has(sheet.fold[item])) parts.push(...this.describeBlocks(sheet.fold[item]));
    parts.push(...this.neighbours(item));
    if (sheet.isScope(item)) return parts.concat(this.histogram(item));
    if (sheet.attrs[item] > 0) {
      const rows = this.page.words[sheet.attrs[item]].split("\n").map((line) => {
        const colon = line.indexOf(": ");
        return [line.slice(0, colon), line.slice(colon + 2)];
      });
      parts.push(element("h3", {}, "Attributes"), this.table(rows));
    }
    return parts;
  }

  trail(item) {
    const {sheet} = this.page;
    const path = element("p", {class: "path"});
    const above = [];
    for (let i = item; i > 0; i = sheet.parent[i]) if (sheet.seat(i) !== Seat.group && !sheet.self(i)) above.unshift(i);
    if (sheet.self(item)) above.push(item);
    for (const i of above) path.append(this.link(i, sheet.self(i) ? `(${this.page.words[sheet.name[sheet.parent[i]]]})` : this.page.words[sheet.name[i]]));
    return path;
  }

  describeBlocks(first) {
    const {sheet} = this.page;
    const blocks = sheet.blocks.get(first), apart = sheet.unfolded.has(first);
    const toggle = element("button", {onclick: () => {
      if (apart) sheet.unfolded.delete(first);
      else sheet.unfolded.add(first);
      this.page.redraw();
      this.page.select(first, true);
    }}, apart ? "fold them" : "show each");
    const parts = [element("h3", {}, `${blocks.length.toLocaleString("en")} blocks of this structure`)];
    if (blocks.length <= kMostUnfolded) parts.push(element("p", {}, toggle));
    return parts.concat(this.list(blocks, (i) => this.link(i)));
  }

  list(items, show) {
    const list = element("ul", {}, ...items.slice(0, kMostResults).map((item) => element("li", {}, show(item))));
    const more = items.length - kMostResults;
    if (more > 0) list.append(element("li", {}, element("small", {}, `and ${more.toLocaleString("en")} more`)));
    return list;
  }

  // Who feeds an item and whom it feeds; of a scope from without.
  neighbours(item) {
    const {sheet} = this.page;
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
      const text = type < 0 ? "control" : sheet.seat(other) === Seat.constant ? "" : this.page.words[type];
      if (text !== "") line.append(" ", element("small", {}, text));
      return line;
    };
    const parts = [];
    if (inputs.size > 0) parts.push(element("h3", {}, `Inputs (${inputs.size})`), this.list([...inputs.values()], entry));
    if (outputs.size > 0) parts.push(element("h3", {}, `Read by (${outputs.size})`), this.list([...outputs.values()], entry));
    return parts;
  }
}
