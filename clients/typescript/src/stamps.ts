/** Where stamps and fields stand. */

import type { components } from "./schema.js";

type Schemas = components["schemas"];

/** A stamp, or the placement of a field, just under the first place where the text `tag` stands, centred on it. */
export function underTag({ optional, ...value }: Schemas["Tag"] & { optional?: boolean }): Schemas["MagicFieldStamp"] {
  return { type: "magic_field", value, ...(optional === undefined ? {} : { optional }) };
}

/** A stamp, or the placement of a field, at a place in PDF points, origin at the bottom left. */
export function at({ optional, ...value }: Schemas["Rectangle"] & { optional?: boolean }): Schemas["CoordinatesStamp"] {
  return { type: "coordinates", value, ...(optional === undefined ? {} : { optional }) };
}
