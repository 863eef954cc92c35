/** The service refused. `code` is stable; `message` is for people, in the language asked for. `request_id` names the
 * call in the service's log. `retry_after`: seconds after which the same call may succeed, where the service names
 * them. */
export class ParaphError extends Error {
  override readonly name = "ParaphError";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly request_id = "",
    readonly retry_after?: number,
  ) {
    super(message);
  }
}

/** A webhook body does not carry the signature of your secret: do not process it. */
export class InvalidSignatureError extends Error {
  override readonly name = "InvalidSignatureError";
}
