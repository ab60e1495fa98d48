// The detail view of one tool, with all fields of its spec.
// A number that JavaScript cannot represent exactly is shown as it is written in the spec.
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
  if (schema.$ref !== undefined) return String(schema.$ref).replace(/^#\/(\$defs(\/shared)?|definitions)\//, "");
  const types = [].concat(schema.type || []).filter((type) => typeof type === "string");
  const labels = types.map((type) => {
    const itemType = type === "array" && isObject(schema.items) ? typeOf(schema.items) : "";
    return itemType ? `array of ${itemType}` : type;
  });
  if (labels.length) return labels.join(" or ");
  for (const key of ["anyOf", "oneOf"]) if (Array.isArray(schema[key])) return [...new Set(schema[key].map(typeOf))].join(" or ");
  if (Array.isArray(schema.enum)) return "";
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
  const parts = [];
  if (Array.isArray(schema.enum)) {
    const values = schema.enum.slice(0, MAX_VALUES).map(shownValue).join(", ");
    parts.push(["one of ", el("code", {}, schema.enum.length > MAX_VALUES ? `${values}, …` : values)]);
  }
  for (const [key, [before, after]] of Object.entries(LIMITS))
    if (Object.hasOwn(schema, key)) parts.push([before, el("code", {}, shownValue(schema[key])), schema[key] === 1 ? (after || "").replace(/s$/, "") : after]);
  if (schema.uniqueItems === true) parts.push(["each item once"]);
  return parts.length ? el("p", { class: "limits" }, parts.map((part, index) => [index ? " · " : "", part])) : null;
}
function tree(root, schema, path, budget) {
  if (budget.left <= 0 || path.length > MAX_DEPTH) return null;
  let at = schema;
  if (isObject(at) && typeof at.$ref === "string" && at.$ref.startsWith("#")) {
    if (path.includes(at.$ref)) return null;
    path = [...path, at.$ref];
    at = at.$ref.slice(1).split("/").filter(Boolean)
      .map((step) => { try { return decodeURIComponent(step).replace(/~1/g, "/").replace(/~0/g, "~"); } catch { return step; } })
      .reduce((value, step) => (value !== null && typeof value === "object" && Object.hasOwn(value, step) ? value[step] : null), root);
  }
  if (!isObject(at)) return null;
  const rows = [], deeper = [...path, ""];
  const required = Array.isArray(at.required) ? at.required : [];
  const add = (name, property, isRequired) => {
    if (budget.left-- <= 0) return;
    rows.push(el("li", {},
      el("span", { class: "name" }, name), el("span", { class: "type" }, typeOf(property)),
      isRequired ? el("span", { class: "required" }, "required") : null,
      isObject(property) && typeof property.description === "string" ? el("p", {}, property.description) : null,
      isObject(property) ? limits(property) : null,
      tree(root, property, deeper, budget)));
  };
  for (const [name, property] of Object.entries(isObject(at.properties) ? at.properties : {})) add(name, property, required.includes(name));
  for (const key of ["anyOf", "oneOf", "allOf"])
    if (Array.isArray(at[key])) at[key].forEach((branch, index) => { if (hasParts(branch)) add(`${key} ${index + 1}`, branch, false); });
  if (hasParts(at.items)) add("each item", at.items, false);
  if (hasParts(at.additionalProperties)) add("other properties", at.additionalProperties, false);
  return rows.length ? el("ul", { class: "tree" }, rows) : null;
}
const hasParts = (schema) => isObject(schema) &&
  ["properties", "anyOf", "oneOf", "allOf", "items", "additionalProperties", "$ref", "enum"].some((key) => key in schema);

function collapsed(title, make) {
  const element = el("details", {}, el("summary", {}, title));
  element.addEventListener("toggle", () => { if (element.open && element.childElementCount === 1) element.append(make()); });
  return element;
}
const raw = (text) => el("pre", { tabindex: "0" }, indented(text));

function drawDetail(tool) {
  const h3 = (text) => el("h3", {}, text);
  const text = (title, value) => (value ? [h3(title), el("p", { class: "text" }, value)] : null);
  const schema = (title, value, emptyText) => {
    if (value == null) return null;
    const root = parsed(value);
    return [h3(title), tree(root, root, [], { left: MAX_NODES }) || el("p", { class: "quiet" }, emptyText),
      collapsed("JSON Schema", () => raw(value))];
  };
  const facts = Object.entries(tool.facts).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, el("code", {}, value))]);
  const availability = (reasons) => Object.entries(reasons).flatMap(([name, reason]) => [
    el("dt", {}, name), reason ? el("dd", {}, el("span", { class: "risky" }, "no"), ` · ${reason}`) : el("dd", { class: "safe" }, "yes")]);
  const close = el("a", { id: "close", href: "#tools", "aria-label": "Close (Esc)", title: "Close (Esc)" }, "Close");
  const heading = el("h2", { tabindex: "-1" }, tool.name);
  const hints = tool.facets.annotations.map((hint) => el("span", { class: `badge${hint === "destructive" ? " bad" : ""}` }, hint));
  const changes = data.changes.filter((change) => change.tool === tool.name && change.toolset === tool.toolsetData.name);
  $("detail").replaceChildren(...[
    el("a", { id: "back", href: "#tools" }, "‹ All tools"),
    el("header", {}, el("div", {}, heading,
      el("p", { class: "quiet" }, [tool.title, tool.toolsetData.title, tool.section].filter(Boolean).join(" · ")),
      hints.length ? el("p", { class: "badges" }, hints) : null), close),
    tool.deprecated ? el("p", { class: "notice" }, tool.deprecated) : null,
    el("p", { class: "text lead" }, tool.description || tool.summary),
    tool.description && tool.description !== tool.summary ? text("Summary", tool.summary) : null,
    text("When to use it", tool.when_to_use), text("Guidance", tool.guidance),
    tool.confirm ? [text("Confirmation", tool.confirm.message), tool.confirm.when ? collapsed("When", () => raw(tool.confirm.when)) : null] : null,
    schema("Parameters", tool.parameters, "The tool has no parameters."), schema("Returns", tool.returns, "See the JSON Schema."),
    tool.examples.length ? [h3("Examples"), tool.examples.map((example) => el("div", {}, example.title ? el("p", {}, example.title) : null, raw(example.call)))] : null,
    h3("Tokens, estimated"), costs(tool),
    Object.keys(tool.clients).length ? [h3("Clients"), el("dl", { class: "facts" }, availability(tool.clients))] : null,
    Object.keys(tool.targets).length ? [h3("Targets"), el("dl", { class: "facts" }, availability(tool.targets))] : null,
    changes.length ? [h3(`Changed since ${data.against}`), el("ul", {}, changes.map(renderChange))] : null,
    facts.length ? [h3("More"), el("dl", { class: "facts" }, facts)] : null,
  ].flat(3).filter(Boolean));
  $("detail").scrollTop = 0;
  return heading;
}
function costs(tool) {
  const labels = { list: "In a list of tools", prompt: "In the prompt docs" };
  return el("div", { class: "bars" }, Object.entries(labels).map(([kind, label]) => [
    el("span", {}, label), bar(maxCost, tool.costs[kind]), el("span", { class: "number" }, tool.costs[kind].toLocaleString("en"))]));
}
