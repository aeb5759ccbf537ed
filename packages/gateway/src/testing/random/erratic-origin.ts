import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Random } from '../../../../http/src/http1/fuzz/random.ts'
import type { SeenRequest } from '../origin.ts'

/** Answers well or badly, whole, streamed, compressed, or not to its end. */
export function respondAtRandom(random: Random, seen: SeenRequest, response: ServerResponse, keySet: string): void {
  if (seen.url.startsWith('/jwks')) return void response.end(keySet)
  if (random.chance(5)) return void response.destroy()
  const status = random.pick([200, 200, 200, 201, 204, 304, 401, 404, 429, 500, 503])
  response.statusCode = status
  const body = random.pick(BODIES)
  response.setHeader('content-type', random.pick(TYPES))
  if (random.chance(20)) response.setHeader('set-cookie', ['a=1; Path=/', 'b=2'])
  if (random.chance(20)) response.setHeader('retry-after', random.pick(['0', '1', 'soon']))
  if (random.chance(10)) response.setHeader('access-control-allow-origin', '*')
  if (random.chance(10)) return void response.setHeader('content-encoding', 'gzip').end(gzipSync(body))
  if (random.chance(5)) return void response.setHeader('content-encoding', 'gzip').end(body)
  if (random.chance(30)) {
    response.write(body)
    return void setImmediate(() => (random.chance(20) ? response.destroy() : response.end(body)))
  }
  response.end(body)
}

const TYPES = ['text/plain', 'application/json', 'text/event-stream', 'application/grpc', 'text/html; charset="é"', '']
const BODIES = [
  '',
  'an answer',
  '{"a":{"b":1}}',
  '{"a":',
  'data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n',
  'data: \n\nevent: x\ndata: {}\n\n',
  '\u{0}\u{ffff}',
  'x'.repeat(70_000),
  '{"error":{"message":"no","type":"x"}}',
  '{"jsonrpc":"2.0","id":1,"result":{}}',
]
