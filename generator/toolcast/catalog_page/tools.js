// The tools with their search text and facets, the filters, and the search.
// Tools
const tools = data.tools;
tools.forEach((tool, index) => {
  const toolset = data.toolsets[tool.toolset];
  tool.index = index;
  tool.toolsetData = toolset;
  tool.id = `${toolset.name}/${tool.name}`;
  tool.low = tool.name.toLowerCase();
  const texts = [tool.name, tool.title, tool.summary, tool.description, tool.when_to_use,
    tool.guidance, ...tool.words, toolset.name];
  tool.all = texts.filter(Boolean).join("\n").toLowerCase();
  const hints = tool.annotations || {};
  tool.facets = {
    toolset: [toolset.title],
    section: [tool.section || "no section"],
    client: Object.keys(tool.clients).filter((name) => !tool.clients[name]),
    target: Object.keys(tool.targets).filter((name) => !tool.targets[name]),
    offered: [tool.always ? "always" : toolset.router ? "routed" : "listed"],
    annotations: [
      hints.readOnlyHint === true && "read only",
      hints.destructiveHint === true && "destructive",
      hints.idempotentHint === true && "idempotent",
      hints.openWorldHint === true && "open world",
    ].filter(Boolean),
    consent: [tool.confirm && "requires confirmation"].filter(Boolean),
    life: [tool.deprecated && "deprecated", tool.renamed_from.length && "renamed"].filter(Boolean),
    change: data.against ? [tool.worst || "unchanged"] : [],
  };
});
const byId = new Map(tools.map((tool) => [tool.id, tool]));
const maxCost = tools.reduce((maximum, tool) => Math.max(maximum, tool.costs.list), 0);
const TITLES = {
  toolset: "Toolset", change: "Change", client: "Client", target: "Target", offered: "Listing",
  annotations: "Annotations", consent: "Confirmation", life: "Status", section: "Section",
};

// Filters
const chosen = new Map(Object.keys(TITLES).map((facet) => [facet, new Set()]));
function drawFilters() {
  const form = $("filter-form");
  for (const [facet, title] of Object.entries(TITLES)) {
    const counts = new Map();
    for (const tool of tools)
      for (const value of tool.facets[facet]) counts.set(value, (counts.get(value) || 0) + 1);
    if (![...counts.values()].some((count) => count < tools.length)) continue;
    const boxes = [...counts].map(([value, count]) => {
      const box = el("input", { type: "checkbox" });
      box.addEventListener("change", () => {
        if (box.checked) chosen.get(facet).add(value);
        else chosen.get(facet).delete(value);
        draw();
      });
      return el("label", {}, box, el("span", {}, value), el("span", {}, count.toLocaleString("en")));
    });
    const more = boxes.slice(MAX_BOXES);
    const others = more.length ? el("details", {}, el("summary", {}, `${more.length} more`), more) : null;
    form.append(el("fieldset", {}, el("legend", {}, title), boxes.slice(0, MAX_BOXES), others));
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  $("clear").addEventListener("click", () => {
    for (const values of chosen.values()) values.clear();
    for (const box of form.querySelectorAll("input")) box.checked = false;
    draw();
    $("search").focus();
  });
  const wide = matchMedia("(min-width: 901px)");
  const fit = () => { $("filters").open = wide.matches; };
  wide.addEventListener("change", fit);
  fit();
}

function found() {
  const terms = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const active = [...chosen].filter(([, values]) => values.size);
  const matches = tools.filter((tool) =>
    terms.every((term) => tool.all.includes(term)) &&
    active.every(([facet, values]) => tool.facets[facet].some((value) => values.has(value))));
  const sort = $("sort").value;
  if (sort === "name") matches.sort((a, b) => (a.low < b.low ? -1 : a.low > b.low ? 1 : 0));
  else if (sort === "cost") matches.sort((a, b) => b.costs.list - a.costs.list || a.index - b.index);
  else if (terms.length) {
    const rank = (tool) =>
      tool.low === terms.join("_") ? 0 : tool.low.startsWith(terms[0]) ? 1
        : terms.every((term) => tool.low.includes(term)) ? 2 : 3;
    const ranks = new Map(matches.map((tool) => [tool, rank(tool)]));
    matches.sort((a, b) => ranks.get(a) - ranks.get(b) || a.index - b.index);
  }
  return matches;
}
