// Runs one exported folder in transformers.js: `node interop_child.mjs KIND FOLDER TEXTS`. Prints a line of JSON as interop_child.py does.
import fs from "fs";
import path from "path";
import { AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoModelForQuestionAnswering, AutoTokenizer, env, pipeline } from "@huggingface/transformers";

const CLASSES = { label: AutoModelForSequenceClassification, tags: AutoModelForTokenClassification, span: AutoModelForQuestionAnswering };
const [kind, folder, texts_file] = process.argv.slice(2);
const texts = JSON.parse(fs.readFileSync(texts_file));
env.allowRemoteModels = false;
env.localModelPath = path.dirname(folder);
const name = path.basename(folder);

async function runner() {
  if (kind === "embedding") {
    const extract = await pipeline("feature-extraction", name);
    return async (batch) => (await extract(batch, { pooling: "mean", normalize: true })).tolist();
  }
  const tokenizer = await AutoTokenizer.from_pretrained(name);
  const model = await CLASSES[kind].from_pretrained(name);
  return async (batch) => {
    const found = await model(tokenizer(batch, { padding: true, truncation: true }));
    if (kind !== "span") return found.logits.tolist();
    const [start, end] = [found.start_logits.tolist(), found.end_logits.tolist()];
    return start.map((row, i) => row.map((value, j) => [value, end[i][j]]));
  };
}

const answer = { versions: { "transformers.js": env.version } };
try {
  const run = await runner();
  answer.single = [];
  for (const text of texts) answer.single.push((await run([text]))[0]);
  answer.batch = await run(texts);
} catch (error) {
  answer.error = String(error).split("\n")[0];
}
console.log(JSON.stringify(answer));
