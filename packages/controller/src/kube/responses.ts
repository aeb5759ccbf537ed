import type { IncomingMessage } from 'node:http'
import { KubeError, retryAfterMs } from './kube-error.ts'

/** The request, for error messages. */
interface RequestLine {
  method?: string
  path: string
}

/** The largest response. A page of 500 objects stays far below it in practice. */
const MOST_BYTES = 128 * 1024 * 1024

export function describeRequest({ method = 'GET', path }: RequestLine): string {
  return `${method} ${path}`
}

/** Returns a successful response; throws a KubeError for any other. */
export async function successOf(ask: RequestLine, response: IncomingMessage): Promise<IncomingMessage> {
  const { statusCode: status = 0, headers } = response
  if (status >= 200 && status < 300) return response
  const text = await readText(response)
  const { reason, message } = parseStatus(text)
  const wait = retryAfterMs(headers['retry-after'])
  throw new KubeError(describeRequest(ask), {
    status,
    reason,
    message,
    ...(wait !== undefined && { retryAfterMs: wait }),
  })
}

/** Parses a `Status` of the API server, or the text of a proxy in front of it. */
function parseStatus(text: string): { reason: string; message: string } {
  try {
    const { reason, message } = JSON.parse(text) as { reason?: unknown; message?: unknown }
    if (typeof message === 'string') return { reason: typeof reason === 'string' ? reason : '', message }
  } catch {
    // The text is not JSON.
  }
  return { reason: '', message: text.slice(0, 200) }
}

export async function readText(response: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    length += part.length
    if (length > MOST_BYTES) throw new Error(`response exceeds ${MOST_BYTES} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

export function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new KubeError(what, { message: 'response is not JSON', cause })
  }
}

export function asKubeError(what: string, error: unknown): KubeError {
  if (error instanceof KubeError) return error
  return new KubeError(what, { message: error instanceof Error ? error.message : String(error), cause: error })
}
