/** Uploads the PDFs that are named and has each signed by somebody invited, four at a time; prints the requests' ids. Of
 * `lab.chaos.dropped_answers`. */

import { readFile } from "node:fs/promises";
import { basename } from "node:path";

import { Paraph, at } from "../src/index.js";

const { PARAPH_URL = "", PARAPH_API_KEY = "" } = process.env;
const paraph = new Paraph({ baseUrl: PARAPH_URL, apiKey: PARAPH_API_KEY, retries: 20 });
const waiting = process.argv.slice(2);
const made: number[] = [];

async function work(): Promise<void> {
  for (let path = waiting.pop(); path; path = waiting.pop()) {
    const document = await paraph.uploadDocument({ content: new Uint8Array(await readFile(path)) });
    const email = `invited${basename(path, ".pdf")}@example.com`;
    const request = await paraph.createSignatureRequest({
      mode: "parallel",
      validity_days: 1,
      signers: [{ ref: "a", first_name: "Ada", last_name: "Lovelace", email }],
      documents: [{ id: document.id, signers: [{ signer_ref: "a", stamps: [at({ page_number: 1, x: 72, y: 72 })] }] }],
      send_email: true,
      identity_declaration_accepted: true,
    });
    made.push(request.id);
  }
}

await Promise.all(Array.from({ length: 4 }, work));
console.log(JSON.stringify(made));
