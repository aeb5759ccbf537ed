import type { IncomingMessage } from 'node:http'
import { KubeError, retryAfterMs } from './kube-error.ts'

/** What errors say that was asked. */
interface Asked {
  method?: string
  path: string
}

/** A page of 500 objects, each of at most what etcd takes, is far below it in practice. */
const MOST_BYTES = 128 * 1024 * 1024

export function asked({ method = 'GET', path }: Asked): string {
  return `${method} ${path}`
}

/** The answer, if it is one of success; else a KubeError with what it says. */
export async function successOf(ask: Asked, response: IncomingMessage): Promise<IncomingMessage> {
  const { statusCode: status = 0, headers } = response
  if (status >= 200 && status < 300) return response
  const text = await textOf(response)
  const { reason, message } = statusOf(text)
  const wait = retryAfterMs(headers['retry-after'])
  throw new KubeError(asked(ask), {
    status,
    reason,
    message,
    ...(wait !== undefined && { retryAfterMs: wait }),
  })
}

/** A `Status` of the API server, or the text of whoever stands before it. */
function statusOf(text: string): { reason: string; message: string } {
  try {
    const { reason, message } = JSON.parse(text) as { reason?: unknown; message?: unknown }
    if (typeof message === 'string') return { reason: typeof reason === 'string' ? reason : '', message }
  } catch {
    // Not JSON.
  }
  return { reason: '', message: text.slice(0, 200) }
}

export async function textOf(response: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    length += part.length
    if (length > MOST_BYTES) throw new Error(`the answer is longer than ${MOST_BYTES} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

export function parse(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new KubeError(what, { message: 'the answer is not JSON', cause })
  }
}

export function asKubeError(what: string, error: unknown): KubeError {
  if (error instanceof KubeError) return error
  return new KubeError(what, { message: error instanceof Error ? error.message : String(error), cause: error })
}
