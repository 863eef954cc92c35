// Milliseconds of processor time that other libraries need for one seal, as their guides show it.
// node peers.mjs FILE.pdf KEY.p12 PASSWORD ROUNDS  ->  {"LibPDF": 12.3, "signpdf": 45.6}
import { readFileSync } from 'node:fs';
import { P12Signer as LibPdfSigner, PDF } from '@libpdf/core';
import { pdflibAddPlaceholder } from '@signpdf/placeholder-pdf-lib';
import { P12Signer } from '@signpdf/signer-p12';
import { SignPdf } from '@signpdf/signpdf';
import { SUBFILTER_ETSI_CADES_DETACHED } from '@signpdf/utils';
import { PDFDocument } from 'pdf-lib';

const [path, keyPath, password, rounds] = process.argv.slice(2);
const file = readFileSync(path);
const key = readFileSync(keyPath);
const libPdfSigner = await LibPdfSigner.create(new Uint8Array(key), password);

const peers = {
  async LibPDF() {
    const pdf = await PDF.load(new Uint8Array(file));
    const { bytes } = await pdf.sign({ signer: libPdfSigner, level: 'B-B' });
    return bytes;
  },
  async signpdf() {
    const document = await PDFDocument.load(file);
    const facts = { reason: 'Seal', contactInfo: '', name: 'Seal', location: '' };
    pdflibAddPlaceholder({ pdfDoc: document, ...facts, subFilter: SUBFILTER_ETSI_CADES_DETACHED });
    return new SignPdf().sign(Buffer.from(await document.save()), new P12Signer(key, { passphrase: password }));
  },
};

function median(numbers) {
  return numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)];
}

async function timed(action) {
  const before = process.cpuUsage();
  const result = await action();
  if (result.length <= file.length) throw new Error('it is not sealed');
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const medians = {};
for (const [name, action] of Object.entries(peers)) {
  for (let turn = 0; turn < 3; turn += 1) await action(); // warm
  const times = [];
  for (let turn = 0; turn < Number(rounds); turn += 1) times.push(await timed(action));
  medians[name] = median(times);
}
console.log(JSON.stringify(medians));
