"use strict";
const by = (id) => document.getElementById(id);
const MOST_TEXTS = 50; // of one request
const WORD_LISTS = ["tags", "roles"]; // kinds that read words instead of a text
let models = [];

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children); // text nodes: nothing in a text or a label is read as HTML
  return element;
}

async function request(path, body) {
  const key = by("key").value;
  const headers = { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) };
  const reply = await fetch(path, body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
  const found = await reply.json();
  if (reply.status === 401) by("key-field").hidden = false;
  if (!reply.ok) throw new Error(found.error ? found.error.message : `status ${reply.status}`);
  return found;
}

const say = (text, isError = false) => { by("status").textContent = text; by("status").className = isError ? "error" : ""; };
const inputs = () => by("texts").value.split("\n").filter((line) => line.trim()).slice(0, MOST_TEXTS);
const chosen = () => models.filter((_, at) => by(`model-${at}`).checked);

function inputFor(model, line) {
  if (WORD_LISTS.includes(model.kind)) return line.split(/\s+/).filter(Boolean);
  return line.includes("\t") ? line.split("\t") : line;
}

async function load() {
  try {
    models = (await request("v1/models")).data;
  } catch (error) {
    return say(error.message, true);
  }
  say("");
  by("models").replaceChildren(...models.map((model, at) => make("label", {},
    make("input", { type: "checkbox", id: `model-${at}`, checked: at < 6 }), ` ${model.id} (${model.kind}, ${model.engine})`)));
}

/** What an answer says, in words, with a confidence from 0 to 1 where it has one. */
function summary(answer) {
  if (answer.heads) return { text: Object.entries(answer.heads).map(([name, one]) => `${name}: ${summary(one).text}`).join("; ") };
  if (answer.label !== undefined) return { text: answer.label, confidence: answer.probability };
  if (answer.labels) return { text: answer.labels.join(", ") || "none", confidence: Math.max(...Object.values(answer.probabilities)) };
  if (answer.value !== undefined) return { text: answer.value.toPrecision(4) };
  if (answer.choice !== undefined) return { text: answer.ending, confidence: answer.probability };
  if (answer.tags) return { text: answer.words.map((word, at) => answer.tags[at] === "O" ? word : `${word}/${answer.tags[at]}`).join(" ") };
  if (answer.embedding) return { text: `${answer.embedding.length} numbers: ${answer.embedding.slice(0, 3).map((x) => x.toFixed(3)).join(", ")}, …` };
  if (answer.generated !== undefined) return { text: answer.generated, confidence: answer.probability };
  return { text: JSON.stringify(answer) };
}

/** The steps of a cascade up to the one that answered. */
function path(model, answer) {
  if (answer.step === undefined || !model.steps) return "";
  return model.steps.slice(0, answer.step + 1).map((step, at) => at === answer.step ? `${step} answered` : step).join(" → ");
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const amount = (value, digits = 3) => value === null || value === undefined ? "–" : value.toPrecision(digits);

async function ask(model, lines) {
  const began = performance.now();
  try {
    const found = await request("v1/predict", { model: model.id, inputs: lines.map((line) => inputFor(model, line)) });
    return { model, answers: found.answers, usage: found.usage, seconds: performance.now() - began };
  } catch (error) {
    return { model, error: error.message };
  }
}

function row(found, at, count, agreed) {
  if (found.error) return make("tr", {}, make("th", { scope: "row" }, found.model.id), make("td", { colSpan: 6, className: "error" }, found.error));
  const answer = found.answers[at], said = summary(answer), { usage } = found;
  const confidence = said.confidence === undefined ? ["–"]
    : [make("meter", { min: 0, max: 1, value: said.confidence, title: percent(said.confidence) }), ` ${percent(said.confidence)}`];
  const cells = [make("td", {}, said.text), make("td", {}, ...confidence), make("td", { className: "number" }, amount(usage.compute_ms / count)),
    make("td", { className: "number" }, amount(found.seconds)), make("td", { className: "number" }, amount(usage.joules === null ? null : usage.joules / count)),
    make("td", {}, path(found.model, answer) || "–")];
  return make("tr", { className: agreed ? "" : "disagree" }, make("th", { scope: "row" }, found.model.id), ...cells);
}

const COLUMNS = ["Model", "Answer", "Confidence", "Computing, ms", "Request, ms", "Joules", "Path"];
function table(results, at, line, count) {
  const labels = new Map(); // what models with the same labels chose
  for (const { model, error, answers } of results) {
    const names = JSON.stringify(model.labels);
    if (!error && answers[at].label !== undefined) labels.set(names, (labels.get(names) || new Set()).add(answers[at].label));
  }
  const agree = ({ model }) => (labels.get(JSON.stringify(model.labels)) || { size: 0 }).size < 2;
  const head = make("tr", {}, ...COLUMNS.map((name) => make("th", { scope: "col" }, name)));
  const rows = results.map((found) => row(found, at, count, agree(found)));
  return [make("h3", {}, line.replaceAll("\t", " ⇥ ")), make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: line }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)))];
}

async function compare() {
  const lines = inputs(), list = chosen();
  if (!lines.length || !list.length) return say("Give a text and choose a model.", true);
  const results = [];
  for (const model of list) { // one after the other, so that they do not slow each other down
    say(`${model.id} …`);
    results.push(await ask(model, lines));
  }
  by("tables").replaceChildren(...lines.flatMap((line, at) => table(results, at, line, lines.length)));
  by("answers").hidden = false;
  const failed = results.filter((one) => one.error);
  say(failed.length ? `${failed.length} of ${results.length} models could not answer.` : `${lines.length} texts, ${results.length} models.`, failed.length > 0);
}

async function wordsOf(model, line) {
  const input = line.includes("\t") ? line.split("\t") : line;
  try {
    const found = await request("v1/words", { model: model.id, input });
    return { model, words: found.words, said: summary(found.answer).text };
  } catch (error) {
    return { model, error: error.message };
  }
}

function explained(found) {
  const title = make("h3", {}, found.error ? `${found.model.id}` : `${found.model.id}: ${found.said}`);
  if (found.error) return [title, make("p", { className: "error" }, found.error)];
  const largest = Math.max(1e-9, ...found.words.map((word) => Math.abs(word.change)));
  const words = found.words.map(({ text, change }) => {
    if (change === null) return make("span", { className: "word" }, text); // the only word of its text
    const color = change < 0 ? "--against" : "--for";
    const element = make("span", { className: "word" }, text, make("small", {}, (change < 0 ? "−" : "+") + Math.abs(change).toFixed(2)));
    element.style.backgroundColor = `rgb(var(${color}) / ${(0.35 * Math.abs(change) / largest).toFixed(2)})`;
    return element;
  });
  return [title, make("p", {}, ...words)];
}

async function explain() {
  const [line] = inputs(), list = chosen();
  if (!line || !list.length) return say("Give a text and choose a model.", true);
  const found = [];
  for (const model of list) {
    say(`${model.id} …`);
    found.push(await wordsOf(model, line));
  }
  by("explained").replaceChildren(...found.flatMap(explained));
  by("words").hidden = false;
  say(`Words of the first text, ${found.length} models.`);
}

async function busy(run) {
  const buttons = [by("compare"), by("explain")];
  buttons.forEach((button) => { button.disabled = true; });
  try { await run(); } catch (error) { say(error.message, true); } finally { buttons.forEach((button) => { button.disabled = false; }); }
}

by("form").addEventListener("submit", (event) => { event.preventDefault(); busy(compare); });
by("explain").addEventListener("click", () => busy(explain));
by("key").addEventListener("change", load);
load();
