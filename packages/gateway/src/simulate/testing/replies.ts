import { hash } from 'node:crypto'
import type { UpstreamMessage, WorldReply } from '../world.ts'

/** A response that depends on nothing but the request, so that real and simulated upstreams agree. */
export function replyTo({ method, target, body }: UpstreamMessage, keySet: string): WorldReply {
  if (target.startsWith('/jwks')) return reply(200, 'application/json', keySet)
  const digest = hash('sha256', `${method} ${target} ${body.toString('latin1')}`, 'buffer')
  const pick = <T>(choices: readonly T[], index: number): T => choices[(digest[index] ?? 0) % choices.length] as T
  const text = body.toString('utf8')
  const chat = text.includes('"messages"') ? CHAT : null
  const chosen = pick(BODIES, 1)
  const made = reply(pick(STATUSES, 0), chat === null ? pick(TYPES, 2) : 'application/json', chat ?? chosen)
  const extra: [string, string][] = pick([[], [], [['set-cookie', 'a=1; Path=/']], [['x-a', 'b']]], 3)
  return { ...made, headers: [...made.headers, ...extra] }
}

function reply(status: number, type: string, text: string): WorldReply {
  const headers: [string, string][] = type === '' ? [] : [['content-type', type]]
  const hasBody = status !== 204 && status !== 304
  return { status, headers, body: Buffer.from(hasBody ? text : ''), trailers: null, delayMs: 0, fault: null }
}

const STATUSES = [200, 200, 200, 200, 201, 204, 304, 401, 404, 429, 500, 503]
const TYPES = ['text/plain', 'application/json', 'text/html; charset=utf-8', '']
const BODIES = ['', 'an answer', '{"a":{"b":1}}', '{"a":', 'x'.repeat(70_000), '{"error":{"message":"no","type":"x"}}']
const CHAT = JSON.stringify({
  id: 'chat-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-test',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello secret' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})
