// The view of resources and MCP prompts, which MCP clients list in addition to tools.
const KINDS = { resource: "Resource", template: "Resource template", prompt: "MCP prompt" };
function foundSpecs() {
  const terms = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const toolsets = chosen.get("toolset"), clients = chosen.get("client");
  return data.mcp_specs.filter((spec) => {
    const toolset = data.toolsets[spec.toolset];
    const texts = [spec.name, spec.title, spec.description, toolset.name, ...Object.values(spec.facts)];
    const all = texts.filter(Boolean).join("\n").toLowerCase();
    return terms.every((term) => all.includes(term))
      && (!toolsets.size || toolsets.has(toolset.title))
      && (!clients.size || (spec.clients || []).some((name) => clients.has(name)));
  });
}
function drawSpecs() {
  const container = el("div");
  const specs = foundSpecs();
  const button = drawn(specs, (spec) => container.append(el("section", { class: "block" },
    el("h2", {}, el("span", { class: "name" }, spec.name), el("span", { class: "badge" }, KINDS[spec.kind])),
    el("p", { class: "quiet" }, [spec.title, data.toolsets.length > 1 && data.toolsets[spec.toolset].title].filter(Boolean).join(" · ")),
    spec.description ? el("p", { class: "text" }, spec.description) : null,
    el("dl", { class: "facts" }, Object.entries(spec.facts).flatMap(([name, value]) => [
      el("dt", {}, name), el("dd", {}, el("code", {}, value))])))));
  const emptyText = "No resource or prompt contains all search terms. Press Esc to clear the search.";
  $("results").replaceChildren(container, specs.length ? button : el("p", { class: "empty" }, emptyText));
}
