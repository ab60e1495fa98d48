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
      bar(maxCost, tool.costs.list))));
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
  const container = el("div");
  const grouped = $("sort").value === "order" && !$("search").value.trim();
  let list = null, group = null;
  const button = drawn(some, (tool) => {
    const name = grouped
      ? [data.toolsets.length > 1 && tool.toolsetData.title, tool.section].filter(Boolean).join(" · ") : "";
    if (list === null || name !== group) {
      group = name;
      if (name) container.append(el("h2", { class: "group" }, name));
      list = el("ul");
      container.append(list);
    }
    list.append(row(tool));
  });
  $("results").replaceChildren(container, button);
}
function nothing() {
  if (!tools.length) return el("p", { class: "empty" }, "The project has no tools yet. Create one with `toolcast new NAME`.");
  return el("p", { class: "empty" }, "No tool matches all search terms and filters. Press Esc to clear the search.");
}

// Access
function drawMatrix(some) {
  const container = el("div");
  let last = null, add = null;
  const button = drawn([...some].sort((a, b) => a.index - b.index), (tool) => {
    if (tool.toolsetData !== last) {
      last = tool.toolsetData;
      add = buildMatrix(last, container);
    }
    add(tool);
  });
  $("results").replaceChildren(container, button);
}
function buildMatrix(toolset, container) {
  const { clients, targets } = toolset, reasons = new Map();
  const body = el("tbody"), reasonList = el("ol", { class: "reasons" });
  const cell = (exclusions, name, index) => {
    const reason = exclusions[name], edge = index ? "" : " first";
    if (!reason) return el("td", { class: `cell yes${edge}` }, el("span", { role: "img", "aria-label": "yes" }, "✓"));
    if (!reasons.has(reason)) {
      reasons.set(reason, reasons.size + 1);
      reasonList.append(el("li", { id: `reason-${toolset.name}-${reasons.size}` },
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
    el("caption", { class: "unseen" }, `Clients and targets of the tools of ${toolset.title}`),
    el("thead", {},
      el("tr", {}, el("td"), group(clients, "Clients"), group(targets, "Targets")),
      el("tr", {}, el("th", { scope: "col" }, "Tool"), head(clients), head(targets))),
    body);
  container.append(el("section", { class: "block" },
    el("h2", {}, toolset.title),
    el("p", {}, clients.length
      ? "A client can use a tool through a target if both columns contain a check mark. A number links to the reason why not."
      : "The toolset declares no clients, so every caller can use every tool. A number links to the reason why a target does not have a tool."),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Access to ${toolset.title}` }, table),
    reasonList));
  return (tool) => body.append(el("tr", {},
    el("th", { scope: "row" }, el("a", { href: address(tool), title: tool.name }, tool.name)),
    clients.map((name, at) => cell(tool.clients, name, at)),
    targets.map((name, at) => cell(tool.targets, name, at))));
}

// Costs
function drawCosts(some) {
  const sum = (list) => list.reduce((all, tool) => all + tool.costs.list, 0);
  const total = (parts) => parts.reduce((a, b) => a + b, 0);
  const container = el("div");
  const chart = (title, description, rows) => {
    if (!rows.length) return;
    const maximum = Math.max(...rows.map((row) => total(row.parts)));
    container.append(el("section", { class: "block" }, el("h2", {}, title), el("p", {}, description),
      el("div", { class: "bars" }, rows.map(({ label, parts }) => line(label, null, maximum, parts)))));
  };
  const line = (label, href, maximum, parts) => [
    href ? el("a", { href, class: "name", title: label }, label) : el("span", { title: label }, label),
    bar(maximum, ...parts), el("span", { class: "number" }, total(parts).toLocaleString("en"))];
  const several = data.toolsets.length > 1;
  const clients = data.toolsets.flatMap((toolset) => some.some((tool) => tool.toolsetData === toolset)
    ? toolset.costs.map((cost) => ({
      label: [several && toolset.title, cost.client || "every caller"].filter(Boolean).join(" · "),
      parts: [cost.upfront, cost.names, cost.on_demand],
    })) : []);
  chart("By client", clients.some(({ parts }) => parts[1] || parts[2])
    ? "All tools of a client. From the left: tokens in each request, names of tools that are not loaded yet, tokens loaded on demand."
    : "All tools of a client and the server's instructions. Each request contains them.", clients);
  const sections = new Map();
  for (const tool of some) {
    const label = [several && tool.toolsetData.title, tool.section || "no section"].filter(Boolean).join(" · ");
    sections.set(label, [...(sections.get(label) || []), tool]);
  }
  chart("By section", "Estimated tokens of the tools of each section, in a list of tools.", [...sections].map(([label, own]) => ({ label, parts: [sum(own)] })));
  const bars = el("div", { class: "bars" });
  const sorted = [...some].sort((a, b) => b.costs.list - a.costs.list || a.index - b.index);
  const maximum = sorted.length ? sorted[0].costs.list : 0;
  const button = drawn(sorted, (tool) => bars.append(...line(tool.name, address(tool), maximum, [tool.costs.list])));
  if (some.length) container.append(el("section", { class: "block" }, el("h2", {}, "By tool"),
    el("p", {}, "Estimated tokens of the name, description and parameters that the model receives."), bars));
  $("results").replaceChildren(container, button);
}

// Changes
function renderChange(change) {
  const grades = AUDIENCES.filter((audience) => change.grades[audience] !== "safe");
  return el("li", { class: "change" },
    el("p", {}, change.message),
    change.before != null && change.after != null
      ? [el("p", { class: "before" }, el("del", {}, change.before)), el("p", { class: "after" }, el("ins", {}, change.after))] : null,
    el("p", { class: "grades" }, el("code", {}, change.rule), " ",
      grades.length
        ? grades.map((audience) => [` · ${audience} `, el("b", { class: change.grades[audience] }, change.grades[audience])])
        : [" · ", el("b", { class: "safe" }, "safe")],
      change.reason ? ` · ${change.reason}` : null));
}
function drawChanges(some) {
  const visible = new Set(some.map((tool) => tool.id));
  const terms = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const narrowed = some.length < tools.length;
  const groups = new Map();
  for (const change of data.changes) {
    const id = `${change.toolset}/${change.tool}`;
    if (narrowed && !visible.has(id) && !(terms.length && terms.every((term) => id.toLowerCase().includes(term)))) continue;
    groups.set(id, [...(groups.get(id) || []), change]);
  }
  const parts = [...groups].map(([id, changes]) => {
    const tool = byId.get(id), label = changes[0].tool || changes[0].toolset || "toolcast.yaml";
    const effects = data.effects.filter((effect) => `${effect.toolset}/${effect.tool}` === id);
    return el("section", { class: "block" },
      el("h2", {}, tool ? el("a", { href: address(tool), class: "name" }, label) : el("span", { class: "name" }, label)),
      el("ul", {}, changes.map(renderChange)),
      effects.length ? el("ul", {}, effects.map((effect) => el("li", { class: "change quiet" }, effect.message))) : null);
  });
  if (!parts.length) parts.push(el("p", { class: "empty" }, data.changes.length
    ? "No changes of the matching tools." : `No change against ${data.against}.`));
  $("results").replaceChildren(...parts);
}
