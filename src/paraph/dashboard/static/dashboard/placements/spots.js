// Where something new goes when the palette adds it.
"use strict";

class Spots {
  constructor(editor) {
    this.editor = editor;
  }

  // A place that was found on the page that is looked at, else its middle. The first signature of somebody who has not
  // turned a page yet goes to a place that was found, wherever it is.
  best(signer, type) {
    const { sheets: { all, current }, stamps } = this.editor;
    const signs = stamps.of(false).some(({ values }) => values.signer === signer);
    const found = (sheet) => this.found(sheet, signer, type);
    const sheet = !type && !signs && current === all[0] && all.find(found) || current;
    return { sheet, place: found(sheet) || this.middle(sheet, type) };
  }

  // The place that the document has for the signer, else for anybody who signs, where nothing stands yet.
  found(sheet, signer, type) {
    const { editor } = this, limits = editor.limitsOf(Boolean(type));
    const targets = sheet.targets.filter(({ offer }) => offer ? offer.signer === signer && offer.type === type : !type);
    targets.sort((one, other) => Boolean(other.offer) - Boolean(one.offer));
    const places = targets.map((target) => placeAt(target, type ? editor.sizeOf(type) : target.size, sheet, limits));
    return places.find((place) => place && this.isFree(sheet, place));
  }

  isFree(sheet, { x, y, width, height }) {
    return this.editor.stamps.snapshot.every((each) => each.document !== sheet.document || each.page !== sheet.page ||
      y + height <= each.y || y >= each.y + each.height || x + width <= each.x || x >= each.x + each.width);
  }

  // The middle of the page, above or below what stands there.
  middle(sheet, type) {
    const { width, height } = this.editor.sizeOf(type), [x, y] = [(sheet.width - width) / 2, (sheet.height - height) / 2].map(Math.round);
    const middle = this.editor.limitsOf(Boolean(type)).fitted({ x, y, width, height }, sheet);
    const rows = Array.from({ length: Math.floor(sheet.height / height) }, (_, row) => row * height);
    rows.sort((one, other) => Math.abs(one - middle.y) - Math.abs(other - middle.y));
    return { ...middle, y: [middle.y, ...rows].find((each) => this.isFree(sheet, { ...middle, y: each })) ?? middle.y };
  }
}
