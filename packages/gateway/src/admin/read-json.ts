import type { IncomingMessage } from 'node:http'
import { type Reply, text } from './http.ts'

/** The body of a call, as JSON of at most so many bytes; or why it is none. */
export async function readJson(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ value: unknown } | { refused: Reply }> {
  // Forms cannot say so.
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? ''))
    return { refused: text(415, 'expected content-type: application/json\n') }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > maxBytes) return { refused: text(413, `the body has more than ${maxBytes} bytes\n`) }
    chunks.push(chunk as Buffer)
  }
  try {
    return { value: JSON.parse(Buffer.concat(chunks).toString()) }
  } catch {
    return { refused: text(400, 'the body is not JSON\n') }
  }
}
