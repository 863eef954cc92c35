/** The service refused. `code` is stable; `message` is for people, in the language asked for. `request_id` names the
 * call in the service's log. */
export class ParaphError extends Error {
  override readonly name = "ParaphError";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly request_id = "",
  ) {
    super(message);
  }
}

/** A webhook body does not carry the signature of your secret: do not process it. */
export class InvalidSignatureError extends Error {
  override readonly name = "InvalidSignatureError";
}
