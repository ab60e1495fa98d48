// The views of the tools that match the search and the filters.
// Tool list
function row(tool) {
  if (tool.row) return tool.row;
  const badges = [
    tool.deprecated && el("span", { class: "badge warn" }, "deprecated"),
    tool.facets.annotations.includes("destructive") && el("span", { class: "badge bad" }, "destructive"),
    tool.always && el("span", { class: "badge" }, "always"),
    tool.worst && el("span", { class: `badge ${tool.worst}` }, `${tool.worst} change`),
  ];
  tool.row = el("li", { class: "row" }, el("a", { href: address(tool) },
    el("span", {}, el("span", { class: "name" }, tool.name), badges),
    el("span", { class: "summary" }, short(tool.summary)),
    el("span", { class: "cost", title: "Estimated tokens in a list of tools" },
      el("span", { class: "number" }, tool.costs.list.toLocaleString("en")),
      bar(dearest, tool.costs.list))));
  return tool.row;
}
// Summaries are cut off, because the layout of very long texts in every row is slow.
const short = (text) => (text.length > 160 ? `${text.slice(0, 160).trimEnd()}…` : text);
const address = (tool) => `#tool=${encodeURIComponent(tool.id)}`;

// The first rows are drawn at once, further rows when the user scrolls near the end.
const nearing = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) entry.target.click();
}, { rootMargin: "400px" });
function drawn(some, add, at = 0) {
  const button = el("button", { type: "button", class: "more" });
  const more = (number) => {
    const end = Math.min(at + number, some.length);
    while (at < end) add(some[at++]);
    button.hidden = at >= some.length;
    button.textContent = `Show ${(some.length - at).toLocaleString("en")} more`;
    // Observing the button again triggers the observer if the button is still visible.
    nearing.unobserve(button);
    if (!button.hidden) nearing.observe(button);
  };
  button.addEventListener("click", () => more(NEXT_ROWS));
  more(FIRST_ROWS);
  return some.length ? button : nothing();
}

function drawTools(some) {
  const place = el("div");
  const grouped = $("sort").value === "order" && !$("search").value.trim();
  let list = null, group = null;
  const button = drawn(some, (tool) => {
    const name = grouped
      ? [data.toolsets.length > 1 && tool.of.title, tool.section].filter(Boolean).join(" · ") : "";
    if (list === null || name !== group) {
      group = name;
      if (name) place.append(el("h2", { class: "group" }, name));
      list = el("ul");
      place.append(list);
    }
    list.append(row(tool));
  });
  $("results").replaceChildren(place, button);
}
function nothing() {
  if (!tools.length) return el("p", { class: "empty" }, "The project has no tools yet: `toolcast new NAME` writes one.");
  return el("p", { class: "empty" }, "No tool has all of these words and filters. Esc clears the search.");
}

// Exposure
function drawMatrix(some) {
  const place = el("div");
  let last = null, add = null;
  const button = drawn([...some].sort((a, b) => a.index - b.index), (tool) => {
    if (tool.of !== last) {
      last = tool.of;
      add = matrixOf(last, place);
    }
    add(tool);
  });
  $("results").replaceChildren(place, button);
}
function matrixOf(toolset, place) {
  const { clients, targets } = toolset, reasons = new Map();
  const body = el("tbody"), told = el("ol", { class: "reasons" });
  const cell = (of, name, at) => {
    const reason = of[name], edge = at ? "" : " first";
    if (!reason) return el("td", { class: `cell yes${edge}` }, el("span", { role: "img", "aria-label": "yes" }, "✓"));
    if (!reasons.has(reason)) {
      reasons.set(reason, reasons.size + 1);
      told.append(el("li", { id: `reason-${toolset.name}-${reasons.size}` },
        el("span", {}, String(reasons.size)), el("span", {}, reason)));
    }
    const number = reasons.get(reason);
    return el("td", { class: `cell${edge}` }, el("a", {
      href: `#reason-${toolset.name}-${number}`, title: reason, "aria-label": `${number}: no, ${reason}`,
    }, String(number)));
  };
  const group = (names, title) => names.length
    ? el("th", { scope: "colgroup", colspan: names.length, class: "first" }, title) : null;
  const head = (names) => names.map((name, at) => el("th", { scope: "col", class: at ? "cell" : "cell first" }, name));
  const table = el("table", {},
    el("caption", { class: "unseen" }, `Who gets the tools of ${toolset.title}, and where`),
    el("thead", {},
      el("tr", {}, el("td"), group(clients, "Clients"), group(targets, "Targets")),
      el("tr", {}, el("th", { scope: "col" }, "Tool"), head(clients), head(targets))),
    body);
  place.append(el("section", { class: "block" },
    el("h2", {}, toolset.title),
    el("p", {}, clients.length
      ? "A client has a tool in a target where both columns have it. A number leads to the reason why not."
      : "The toolset has no clients: its one caller has every tool. A number leads to the reason why not."),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Exposure of ${toolset.title}` }, table),
    told));
  return (tool) => body.append(el("tr", {},
    el("th", { scope: "row" }, el("a", { href: address(tool), title: tool.name }, tool.name)),
    clients.map((name, at) => cell(tool.clients, name, at)),
    targets.map((name, at) => cell(tool.targets, name, at))));
}

// Costs
function drawCosts(some) {
  const sum = (list) => list.reduce((all, tool) => all + tool.costs.list, 0);
  const total = (parts) => parts.reduce((a, b) => a + b, 0);
  const place = el("div");
  const chart = (title, about, rows) => {
    if (!rows.length) return;
    const most = Math.max(...rows.map((one) => total(one.parts)));
    place.append(el("section", { class: "block" }, el("h2", {}, title), el("p", {}, about),
      el("div", { class: "bars" }, rows.map(({ label, parts }) => line(label, null, most, parts)))));
  };
  const line = (label, href, most, parts) => [
    href ? el("a", { href, class: "name", title: label }, label) : el("span", { title: label }, label),
    bar(most, ...parts), el("span", { class: "number" }, total(parts).toLocaleString("en"))];
  const several = data.toolsets.length > 1;
  const clients = data.toolsets.flatMap((toolset) => some.some((tool) => tool.of === toolset)
    ? toolset.costs.map((one) => ({
      label: [several && toolset.title, one.client || "every caller"].filter(Boolean).join(" · "),
      parts: [one.upfront, one.names, one.on_demand],
    })) : []);
  chart("By client", clients.some(({ parts }) => parts[1] || parts[2])
    ? "All tools that a client has. From the left: what is in each request, names of tools that are not loaded yet, what is loaded on demand."
    : "All tools that a client has, and the server's instructions: in each request.", clients);
  const sections = new Map();
  for (const tool of some) {
    const label = [several && tool.of.title, tool.section || "without a section"].filter(Boolean).join(" · ");
    sections.set(label, [...(sections.get(label) || []), tool]);
  }
  chart("By section", "Estimated tokens of the tools of each section, in a list of tools.", [...sections].map(([label, own]) => ({ label, parts: [sum(own)] })));
  const bars = el("div", { class: "bars" });
  const sorted = [...some].sort((a, b) => b.costs.list - a.costs.list || a.index - b.index);
  const most = sorted.length ? sorted[0].costs.list : 0;
  const button = drawn(sorted, (tool) => bars.append(...line(tool.name, address(tool), most, [tool.costs.list])));
  if (some.length) place.append(el("section", { class: "block" }, el("h2", {}, "By tool"),
    el("p", {}, "Name, description and parameters, as a model is given them."), bars));
  $("results").replaceChildren(place, button);
}

// Changes
function change(one) {
  const grades = AUDIENCES.filter((audience) => one.grades[audience] !== "safe");
  return el("li", { class: "change" },
    el("p", {}, one.message),
    one.before != null && one.after != null
      ? [el("p", { class: "before" }, el("del", {}, one.before)), el("p", { class: "after" }, el("ins", {}, one.after))] : null,
    el("p", { class: "grades" }, el("code", {}, one.rule), " ",
      grades.length
        ? grades.map((audience) => [` · ${audience} `, el("b", { class: one.grades[audience] }, one.grades[audience])])
        : [" · ", el("b", { class: "safe" }, "safe")],
      one.reason ? ` · ${one.reason}` : null));
}
function drawChanges(some) {
  const visible = new Set(some.map((tool) => tool.id));
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const narrowed = some.length < tools.length;
  const groups = new Map();
  for (const one of data.changes) {
    const id = `${one.toolset}/${one.tool}`;
    if (narrowed && !visible.has(id) && !(words.length && words.every((word) => id.toLowerCase().includes(word)))) continue;
    groups.set(id, [...(groups.get(id) || []), one]);
  }
  const parts = [...groups].map(([id, changes]) => {
    const tool = byId.get(id), label = changes[0].tool || changes[0].toolset || "toolcast.yaml";
    const effects = data.effects.filter((one) => `${one.toolset}/${one.tool}` === id);
    return el("section", { class: "block" },
      el("h2", {}, tool ? el("a", { href: address(tool), class: "name" }, label) : el("span", { class: "name" }, label)),
      el("ul", {}, changes.map(change)),
      effects.length ? el("ul", {}, effects.map((one) => el("li", { class: "change quiet" }, one.message))) : null);
  });
  if (!parts.length) parts.push(el("p", { class: "empty" }, data.changes.length
    ? "No change of the tools that are searched for." : `No change against ${data.against}.`));
  $("results").replaceChildren(...parts);
}
