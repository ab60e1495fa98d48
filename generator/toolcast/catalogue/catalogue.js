"use strict";
// Everything that a spec says reaches the page as text of an element, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const FIRST_ROWS = 50, NEXT_ROWS = 100, MOST_NODES = 1500, DEEPEST = 12, MOST_BOXES = 8, MOST_VALUES = 60;
  const AUDIENCES = ["call", "prompt", "code", "attachment"];

  // --- Elements ---------------------------------------------------------------------------
  function el(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === true) made.setAttribute(name, "");
      else if (value !== false && value != null) made.setAttribute(name, value);
    }
    made.append(...children.flat(3).filter((child) => child != null && child !== false));
    return made;
  }
  const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
  function bar(most, ...parts) {
    const made = el("span", { class: "bar", "aria-hidden": "true" });
    for (const part of parts) {
      const piece = el("i");
      piece.style.width = `${most ? (100 * part) / most : 0}%`;
      made.append(piece);
    }
    return made;
  }

  // --- The tools --------------------------------------------------------------------------
  const tools = data.tools;
  tools.forEach((tool, index) => {
    const toolset = data.toolsets[tool.toolset];
    tool.index = index;
    tool.of = toolset;
    tool.id = `${toolset.name}/${tool.name}`;
    tool.low = tool.name.toLowerCase();
    const texts = [tool.name, tool.title, tool.summary, tool.description, tool.when_to_use,
      tool.guidance, ...tool.words, toolset.name];
    tool.all = texts.filter(Boolean).join("\n").toLowerCase();
    const hints = tool.annotations || {};
    tool.facets = {
      toolset: [toolset.title],
      section: [tool.section || "without a section"],
      client: Object.keys(tool.clients).filter((name) => !tool.clients[name]),
      target: Object.keys(tool.targets).filter((name) => !tool.targets[name]),
      offered: [tool.always ? "always" : toolset.router ? "routed" : "listed"],
      annotations: [
        hints.readOnlyHint === true && "read only",
        hints.destructiveHint === true && "destructive",
        hints.idempotentHint === true && "idempotent",
        hints.openWorldHint === true && "open world",
      ].filter(Boolean),
      life: [tool.deprecated && "deprecated", tool.renamed_from.length && "renamed"].filter(Boolean),
      change: data.against ? [tool.worst ? `${tool.worst}` : "unchanged"] : [],
    };
  });
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  const dearest = tools.reduce((most, tool) => Math.max(most, tool.costs.list), 0);
  const TITLES = {
    toolset: "Toolset", change: "Change", client: "Client", target: "Target", offered: "Offered",
    annotations: "Annotations", life: "Life", section: "Section",
  };

  // --- Filters ----------------------------------------------------------------------------
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
      const more = boxes.slice(MOST_BOXES);
      const others = more.length ? el("details", {}, el("summary", {}, `${more.length} more`), more) : null;
      form.append(el("fieldset", {}, el("legend", {}, title), boxes.slice(0, MOST_BOXES), others));
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
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const asked = [...chosen].filter(([, values]) => values.size);
    const some = tools.filter((tool) =>
      words.every((word) => tool.all.includes(word)) &&
      asked.every(([facet, values]) => tool.facets[facet].some((value) => values.has(value))));
    const sort = $("sort").value;
    if (sort === "name") some.sort((a, b) => (a.low < b.low ? -1 : a.low > b.low ? 1 : 0));
    else if (sort === "cost") some.sort((a, b) => b.costs.list - a.costs.list || a.index - b.index);
    else if (words.length) {
      const rank = (tool) =>
        tool.low === words.join("_") ? 0 : tool.low.startsWith(words[0]) ? 1
          : words.every((word) => tool.low.includes(word)) ? 2 : 3;
      const ranks = new Map(some.map((tool) => [tool, rank(tool)]));
      some.sort((a, b) => ranks.get(a) - ranks.get(b) || a.index - b.index);
    }
    return some;
  }

  // --- The list ---------------------------------------------------------------------------
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
  // A line is as long as a line is: laying out whole pages of text in each takes its time.
  const short = (text) => (text.length > 160 ? `${text.slice(0, 160).trimEnd()}…` : text);
  const address = (tool) => `#tool=${encodeURIComponent(tool.id)}`;

  // What a person may see without scrolling is drawn at once, the rest when they come near.
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
      // Observed anew, it tells again when it is still in sight.
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
  // --- Exposure ---------------------------------------------------------------------------
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

  // --- Costs ------------------------------------------------------------------------------
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
      ? "All tools that a client has. Dark: in each request. Middle: names of tools that are not loaded yet. Light: loaded on demand."
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

  // --- Changes ----------------------------------------------------------------------------
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

  // --- One tool ---------------------------------------------------------------------------
  // A number that JavaScript cannot hold stays the text that the spec has.
  const exact = (_, value, context) =>
    typeof value === "number" && context && context.source && String(value) !== context.source
      ? { exact: context.source } : value;
  const parsed = (text) => { try { return JSON.parse(text, exact); } catch { return null; } };
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const shownValue = (value) => isObject(value) && "exact" in value && Object.keys(value).length === 1
    ? value.exact : JSON.stringify(value);

  function indented(text) {
    let out = "", depth = 0;
    for (const [piece] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"]+/gs)) {
      if (piece === "{" || piece === "[") { depth += 1; out += `${piece}\n${"  ".repeat(depth)}`; }
      else if (piece === "}" || piece === "]") { depth -= 1; out = `${out.trimEnd()}\n${"  ".repeat(depth)}${piece}`; }
      else if (piece === ",") out += `,\n${"  ".repeat(depth)}`;
      else if (piece === ":") out += ": ";
      else out += piece;
    }
    return out.replace(/([{[])\n\s*([}\]])/g, "$1$2");
  }

  function typeOf(schema) {
    if (schema === true) return "anything";
    if (schema === false) return "nothing";
    if (!isObject(schema)) return "";
    if (schema.$ref !== undefined) return String(schema.$ref).replace(/^#\/(\$defs|definitions)\//, "");
    const types = [].concat(schema.type || []).filter((one) => typeof one === "string");
    const told = types.map((type) => {
      const of = type === "array" && isObject(schema.items) ? typeOf(schema.items) : "";
      return of ? `array of ${of}` : type;
    });
    if (told.length) return told.join(" or ");
    for (const key of ["anyOf", "oneOf"]) if (Array.isArray(schema[key])) return [...new Set(schema[key].map(typeOf))].join(" or ");
    if (Array.isArray(schema.enum)) return "one of";
    return "const" in schema ? "constant" : schema.properties ? "object" : "anything";
  }
  const LIMITS = {
    default: ["default "], const: ["always "], format: ["format "], pattern: ["matches "],
    minimum: ["at least "], maximum: ["at most "], exclusiveMinimum: ["more than "],
    exclusiveMaximum: ["less than "], multipleOf: ["a multiple of "],
    minLength: ["at least ", " characters"], maxLength: ["at most ", " characters"],
    minItems: ["at least ", " items"], maxItems: ["at most ", " items"],
    minProperties: ["at least ", " members"], maxProperties: ["at most ", " members"],
  };
  function limits(schema) {
    const told = [];
    if (Array.isArray(schema.enum)) {
      const values = schema.enum.slice(0, MOST_VALUES).map(shownValue).join(", ");
      told.push(["one of ", el("code", {}, schema.enum.length > MOST_VALUES ? `${values}, …` : values)]);
    }
    for (const [key, [before, after]] of Object.entries(LIMITS))
      if (Object.hasOwn(schema, key)) told.push([before, el("code", {}, shownValue(schema[key])), after || ""]);
    if (schema.uniqueItems === true) told.push(["each item once"]);
    return told.length ? el("p", { class: "limits" }, told.map((parts, at) => [at ? " · " : "", parts])) : null;
  }
  function tree(whole, schema, way, budget) {
    if (budget.left <= 0 || way.length > DEEPEST) return null;
    let at = schema;
    if (isObject(at) && typeof at.$ref === "string" && at.$ref.startsWith("#")) {
      if (way.includes(at.$ref)) return null;
      way = [...way, at.$ref];
      at = at.$ref.slice(1).split("/").filter(Boolean)
        .map((step) => { try { return decodeURIComponent(step).replace(/~1/g, "/").replace(/~0/g, "~"); } catch { return step; } })
        .reduce((value, step) => (value !== null && typeof value === "object" && Object.hasOwn(value, step) ? value[step] : null), whole);
    }
    if (!isObject(at)) return null;
    const rows = [], deeper = [...way, ""];
    const required = Array.isArray(at.required) ? at.required : [];
    const add = (name, one, must) => {
      if (budget.left-- <= 0) return;
      rows.push(el("li", {},
        el("span", { class: "name" }, name), el("span", { class: "type" }, typeOf(one)),
        must ? el("span", { class: "required" }, "required") : null,
        isObject(one) && typeof one.description === "string" ? el("p", {}, one.description) : null,
        isObject(one) ? limits(one) : null,
        tree(whole, one, deeper, budget)));
    };
    for (const [name, one] of Object.entries(isObject(at.properties) ? at.properties : {})) add(name, one, required.includes(name));
    for (const key of ["anyOf", "oneOf", "allOf"])
      if (Array.isArray(at[key])) at[key].forEach((one, index) => { if (hasInside(one)) add(`${key} ${index + 1}`, one, false); });
    if (hasInside(at.items)) add("each item", at.items, false);
    if (hasInside(at.additionalProperties)) add("any other", at.additionalProperties, false);
    return rows.length ? el("ul", { class: "tree" }, rows) : null;
  }
  const hasInside = (schema) => isObject(schema) &&
    ["properties", "anyOf", "oneOf", "allOf", "items", "additionalProperties", "$ref", "enum"].some((key) => key in schema);

  function folded(title, make) {
    const made = el("details", {}, el("summary", {}, title));
    made.addEventListener("toggle", () => { if (made.open && made.childElementCount === 1) made.append(make()); });
    return made;
  }
  const raw = (text) => el("pre", { tabindex: "0" }, indented(text));

  function drawDetail(tool) {
    const h3 = (text) => el("h3", {}, text);
    const text = (title, value) => (value ? [h3(title), el("p", { class: "text" }, value)] : null);
    const schema = (title, value, none) => {
      if (value == null) return null;
      const whole = parsed(value);
      return [h3(title), tree(whole, whole, [], { left: MOST_NODES }) || el("p", { class: "quiet" }, none),
        folded("JSON Schema", () => raw(value))];
    };
    const facts = Object.entries(tool.facts).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, el("code", {}, value))]);
    const who = (of) => Object.entries(of).flatMap(([name, reason]) => [
      el("dt", {}, name), reason ? el("dd", {}, el("span", { class: "risky" }, "no"), ` · ${reason}`) : el("dd", { class: "safe" }, "yes")]);
    const close = el("a", { id: "close", href: "#tools", "aria-label": "Close (Esc)", title: "Close (Esc)" }, "Close");
    const heading = el("h2", { tabindex: "-1" }, tool.name);
    const hints = tool.facets.annotations.map((one) => el("span", { class: `badge${one === "destructive" ? " bad" : ""}` }, one));
    const changes = data.changes.filter((one) => one.tool === tool.name && one.toolset === tool.of.name);
    $("detail").replaceChildren(...[
      el("a", { id: "back", href: "#tools" }, "‹ All tools"),
      el("header", {}, el("div", {}, heading,
        el("p", { class: "quiet" }, [tool.title, tool.of.title, tool.section].filter(Boolean).join(" · ")),
        hints.length ? el("p", { class: "badges" }, hints) : null), close),
      tool.deprecated ? el("p", { class: "notice" }, tool.deprecated) : null,
      el("p", { class: "text lead" }, tool.description || tool.summary),
      tool.description && tool.description !== tool.summary ? text("Summary", tool.summary) : null,
      text("When to use it", tool.when_to_use), text("Guidance", tool.guidance),
      schema("Parameters", tool.parameters, "It takes none."), schema("Returns", tool.returns, "Described by its schema alone."),
      tool.examples.length ? [h3("Examples"), tool.examples.map((one) => el("div", {}, one.title ? el("p", {}, one.title) : null, raw(one.call)))] : null,
      h3("Tokens, estimated"), costs(tool),
      Object.keys(tool.clients).length ? [h3("Clients"), el("dl", { class: "facts" }, who(tool.clients))] : null,
      Object.keys(tool.targets).length ? [h3("Targets"), el("dl", { class: "facts" }, who(tool.targets))] : null,
      changes.length ? [h3(`Changed since ${data.against}`), el("ul", {}, changes.map(change))] : null,
      facts.length ? [h3("More"), el("dl", { class: "facts" }, facts)] : null,
    ].flat(3).filter(Boolean));
    $("detail").scrollTop = 0;
    return heading;
  }
  function costs(tool) {
    const labels = { list: "In a list of tools", prompt: "In the prompt docs" };
    return el("div", { class: "bars" }, Object.entries(labels).map(([kind, label]) => [
      el("span", {}, label), bar(dearest, tool.costs[kind]), el("span", { class: "number" }, tool.costs[kind].toLocaleString("en"))]));
  }

  // --- Which view -------------------------------------------------------------------------
  const VIEWS = { tools: drawTools, matrix: drawMatrix, costs: drawCosts, changes: drawChanges };
  let view = "", opened = null;
  function draw() {
    const some = found();
    VIEWS[view](some);
    const filters = [...chosen.values()].reduce((total, values) => total + values.size, 0);
    $("count").textContent = some.length === tools.length
      ? counted(tools.length, "tool") : `${some.length.toLocaleString("en")} of ${counted(tools.length, "tool")}`;
    $("chosen").textContent = filters ? ` (${filters})` : "";
    $("clear").hidden = !filters;
    if (view === "changes") $("count").textContent = `${counted(data.changes.length, "change")} against ${data.against}`;
    $("sorting").hidden = view !== "tools";
  }
  function follow() {
    let hash = location.hash.slice(1);
    if (hash.startsWith("reason-")) return;
    let tool = null;
    if (hash.startsWith("tool=")) {
      try { tool = byId.get(decodeURIComponent(hash.slice(5))) || null; } catch { tool = null; }
      hash = view || "tools";
    }
    const next = Object.hasOwn(VIEWS, hash) && (hash !== "changes" || data.against) ? hash : "tools";
    if (next !== view) {
      view = next;
      for (const link of document.querySelectorAll("nav a")) {
        if (link.dataset.view === view) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
      draw();
      $("list").scrollTop = 0;
    }
    if (opened) opened.row?.firstChild.removeAttribute("aria-current");
    const before = opened;
    opened = tool;
    document.body.classList.toggle("has-detail", tool !== null);
    $("detail").hidden = tool === null;
    if (tool) {
      const heading = drawDetail(tool);
      row(tool).firstChild.setAttribute("aria-current", "true");
      document.title = `${tool.name} · ${data.title}`;
      $("close").href = $("back").href = `#${view}`;
      if (matchMedia("(max-width: 900px)").matches) { scrollTo(0, 0); heading.focus(); }
    } else {
      document.title = data.title;
      if (before && before.row?.isConnected) before.row.firstChild.focus();
    }
  }

  // --- Keys -------------------------------------------------------------------------------
  const links = () => [...document.querySelectorAll(view === "matrix" ? "#results tbody th a" : "#results .row a, #results a.name")];
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target === $("search");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      $("search").focus();
      $("search").select();
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (opened) location.hash = `#${view}`;
      else if ($("search").value) { $("search").value = ""; draw(); $("search").focus(); }
      else $("search").blur();
    } else if (["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) {
      const all = links(), at = all.indexOf(document.activeElement);
      if (at < 0 && !(typing && event.key === "ArrowDown")) return;
      event.preventDefault();
      const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
      if (next < 0) $("search").focus();
      else all[Math.min(next, all.length - 1)]?.focus();
    }
  });

  // --- Light and dark ---------------------------------------------------------------------
  const root = document.documentElement, prefers = matchMedia("(prefers-color-scheme: dark)");
  let picked = null;
  try { picked = localStorage.getItem("toolcast-theme"); } catch { /* a file may have no storage */ }
  function paint() {
    const dark = picked ? picked === "dark" : prefers.matches;
    root.classList.toggle("dark", dark);
    $("theme").textContent = dark ? "Light" : "Dark";
    $("theme").setAttribute("aria-label", dark ? "Use light colours" : "Use dark colours");
  }
  prefers.addEventListener("change", paint);
  $("theme").addEventListener("click", () => {
    picked = root.classList.contains("dark") ? "light" : "dark";
    try { localStorage.setItem("toolcast-theme", picked); } catch { /* as above */ }
    paint();
  });

  paint();
  document.querySelector("[data-view=changes]").hidden = !data.against;
  drawFilters();
  $("search").addEventListener("input", draw);
  $("sort").addEventListener("change", draw);
  addEventListener("hashchange", follow);
  follow();
})();
