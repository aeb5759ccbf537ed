import type { Failure } from './answer.ts'
import type { ParsedRequest } from './parsed-request.ts'

/** A request as a vendor's front door sees it. */
export interface FakeRequest {
  method: string
  /** As it came on the wire, without the query. */
  path: string
  query: URLSearchParams
  headers: NodeJS.Dict<string | string[]>
  raw: Buffer
  /** Null when the body is not JSON object. */
  body: Record<string, unknown> | null
}

/** Frames leave one after the other; a whole answer is one frame. */
export interface FakeReply {
  status: number
  headers: Record<string, string>
  frames: Buffer[]
}

export interface Vendor {
  name: string
  /** Throws `Refused` for what the vendor would refuse. */
  answer(request: FakeRequest, saw: (asked: ParsedRequest) => void): FakeReply
  fail(failure: Failure, param: string | null, request: FakeRequest): FakeReply
}

export function json(body: unknown, headers: Record<string, string> = {}, status = 200): FakeReply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    frames: [Buffer.from(JSON.stringify(body))],
  }
}

export function sse(frames: Buffer[], headers: Record<string, string> = {}): FakeReply {
  return { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8', ...headers }, frames }
}

export function headerOf(request: FakeRequest, name: string): string {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}

export function retryHeaders(failure: Failure): Record<string, string> {
  return failure.retryAfter === undefined ? {} : { 'retry-after': String(failure.retryAfter) }
}
