/** A small HTTP server that answers what a test tells it to and keeps what it was asked. */

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export interface Asked {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Status, body and headers; `lost` hangs up instead. */
export type Told = [status: number, body: unknown, headers?: Record<string, string>] | "lost";

export interface Answering {
  url: string;
  answers: Told[];
  asked: Asked[];
}

/** Runs until the test ends; `answers` are taken in turn. */
export async function answering(test: TestContext, ...answers: Told[]): Promise<Answering> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      asked.push({ method, path: url, headers, body: Buffer.concat(parts).toString("latin1") });
      const told = answers.shift();
      if (!told || told === "lost") return request.socket.destroy();
      const [status, body, more = {}] = told;
      response.writeHead(status, { Connection: "close", ...more });
      return response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answers, asked };
}
