import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { sourceOf } from '../net/body.ts'
import { HeaderBlock } from '../net/header-block.ts'
import type { Deliver, Delivery } from '../telemetry/otlp/retrying-sender.ts'
import { callUnary, type GrpcMethod } from '../upstream/grpc/call.ts'
import { readRetryInfo } from '../upstream/grpc/retry-info.ts'
import { DEADLINE_EXCEEDED, type GrpcError, RESOURCE_EXHAUSTED, UNAVAILABLE } from '../upstream/grpc/status.ts'
import { fetchWhole, type WholeAnswer } from './fetch-text.ts'
import { ownContext } from './own-request.ts'
import type { Env } from './step.ts'

export type ExportEnv = Pick<Env, 'client' | 'describe' | 'deadlines' | 'clock' | 'monotonic' | 'kept'>

export interface CollectorPlace {
  /** Key of its backend. */
  backend: string
  /** Path of the method for gRPC, of the resource for HTTP. */
  path: string
}

/** Requests to a collector by gRPC. */
export function grpcDelivery({ backend, path }: CollectorPlace, env: ExportEnv): Deliver {
  const client = env.client(backend)
  const authority = env.describe(backend).address
  const method: GrpcMethod<Buffer, Rejection> = { path, encode: (request) => request, decode: readAnswer }
  return (request) =>
    new Promise((resolve) => {
      const context = ownContext({ path, authority }, env.monotonic())
      const options = {
        send: (outgoing: Parameters<typeof client.send>[0], handler: Parameters<typeof client.send>[2]) =>
          client.send(outgoing, context, handler),
        authority,
        deadlines: env.deadlines,
        timeoutMs: TIMEOUT,
        maxMessageBytes: MAX_ANSWER,
      }
      callUnary(method, request, options, (error, answer) => {
        if (answer !== null) resolve({ kind: 'taken', ...answer })
        else resolve(failedCall(error))
      })
    })
}

/** Requests to a collector by HTTP, with a protobuf body. */
export function httpDelivery({ backend, path }: CollectorPlace, env: ExportEnv): Deliver {
  const client = env.client(backend)
  const authority = env.describe(backend).address
  const limits = { deadlines: env.deadlines, timeoutMs: TIMEOUT, maxBytes: MAX_ANSWER }
  return async (request) => {
    const headers = HeaderBlock.of([['content-type', 'application/x-protobuf']])
    const outgoing = {
      method: 'POST',
      target: path,
      authority,
      headers,
      body: sourceOf(request),
      upgrade: '',
      teTrailers: false,
    }
    try {
      const context = ownContext({ path, authority }, env.monotonic())
      return readReply(await fetchWhole(client, outgoing, { context, ...limits }), env.clock())
    } catch (error) {
      return { kind: 'later', cause: error instanceof Error ? error.message : String(error), afterMs: null }
    }
  }
}

interface Rejection {
  rejected: number
  message: string
}

function readReply({ status, headers, body }: WholeAnswer, now: number): Delivery {
  if (status >= 200 && status <= 299) return { kind: 'taken', ...readRejection(body) }
  const cause = `the collector answered with status ${status}`
  if (!HTTP_LATER.has(status)) return { kind: 'refused', cause }
  return { kind: 'later', cause, afterMs: readRetryAfter(headers.get('retry-after'), now) }
}

function failedCall(error: GrpcError | null): Delivery {
  const code = error?.code ?? UNAVAILABLE
  const cause = `${error?.message} (code ${code})`
  const afterMs = readRetryInfo(error?.details ?? null)
  // A collector without room may say that it will have some again.
  const isLater = GRPC_LATER.has(code) || (code === RESOURCE_EXHAUSTED && afterMs !== null)
  return isLater ? { kind: 'later', cause, afterMs } : { kind: 'refused', cause }
}

/** Seconds, or a date; null where it is neither. */
export function readRetryAfter(text: string | null, now: number): number | null {
  if (text === null) return null
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** A collector that took it all may answer with anything. */
function readRejection(body: Buffer): Rejection {
  try {
    return readAnswer(body)
  } catch {
    return { rejected: 0, message: '' }
  }
}

/** `Export…ServiceResponse`: for logs, traces and metrics it is built the same. */
function readAnswer(bytes: Uint8Array): Rejection {
  const reader = new BinaryReader(bytes)
  const answer = { rejected: 0, message: '' }
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === 1 && type === WireType.LengthDelimited) readPartial(reader.bytes(), answer)
    else reader.skip(type)
  }
  return answer
}

function readPartial(bytes: Uint8Array, answer: Rejection): void {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === 1 && type === WireType.Varint) answer.rejected = Math.max(0, Number(reader.int64()))
    else if (field === 2 && type === WireType.LengthDelimited) answer.message = reader.string()
    else reader.skip(type)
  }
}

/** As the protocol has it: cancelled, timed out, aborted, out of range, unavailable, data loss. */
const GRPC_LATER = new Set([1, DEADLINE_EXCEEDED, 10, 11, UNAVAILABLE, 15])
const HTTP_LATER = new Set([429, 502, 503, 504])
const TIMEOUT = 10_000
const MAX_ANSWER = 1024 * 1024
