import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import type { CollectorConfig } from '../../schema/fields/collector.ts'
import { HeaderBlock, sourceOf } from '@portico/http'
import type { Deliver, Delivery } from '../../telemetry/otlp/retrying-sender.ts'
import {
  callUnary,
  DEADLINE_EXCEEDED,
  type GrpcError,
  type GrpcMethod,
  readRetryInfo,
  RESOURCE_EXHAUSTED,
  UNAVAILABLE,
} from '@portico/http/grpc'
import { ConfigFault } from '../compiled/config-fault.ts'
import { fetchWhole, type WholeAnswer } from './fetch-text.ts'
import { ownContext } from './own-request.ts'
import type { BackendClient, Env } from '../context/step.ts'

export type ExportEnv = Pick<Env, 'client' | 'describe' | 'deadlines' | 'clock' | 'monotonic' | 'kept' | 'random'>

/** Where collectors take one kind of telemetry. */
export interface CollectorService {
  /** Of gRPC. */
  method: string
  /** Of HTTP, unless a config says another. */
  path: string
}

export interface CollectorWay {
  deliver: Deliver
  /** The same for configs that lead to the same place in the same way. */
  key: string
  address: string
}

/** The way to the collector that a config names. */
export function wayToCollector(config: CollectorConfig, service: CollectorService, env: ExportEnv): CollectorWay {
  const { backendRef, protocol, path = service.path } = config
  if (protocol === 'GRPC' && config.path !== undefined) {
    const expected = '`protocol: HTTP`, or no path: that of gRPC is fixed'
    throw new ConfigFault(config, ['path'], { found: 'found a path for gRPC', expected })
  }
  const backend = backendRef.name ?? backendRef.host
  const { content, address } = env.describe(backend)
  const place = {
    client: env.client(backend),
    authority: address,
    path: protocol === 'GRPC' ? service.method : path,
    headers: (config.headers ?? []).map(({ name, value }): [string, string] => [name, value]),
    timeoutMs: config.timeout ?? DEFAULT_TIMEOUT,
  }
  const deliver = protocol === 'GRPC' ? grpcDelivery(place, env) : httpDelivery(place, env)
  return { deliver, key: `${protocol} ${path} ${content}`, address }
}

interface CollectorPlace {
  client: BackendClient
  authority: string
  path: string
  headers: readonly [string, string][]
  timeoutMs: number
}

/** Requests to a collector by gRPC. */
function grpcDelivery({ client, authority, path, headers, timeoutMs }: CollectorPlace, env: ExportEnv): Deliver {
  const method: GrpcMethod<Buffer, Rejection> = { path, encode: (request) => request, decode: readAnswer }
  return (request) =>
    new Promise((resolve) => {
      const context = ownContext({ path, authority }, env.monotonic())
      const options = {
        send: (outgoing: Parameters<typeof client.send>[0], handler: Parameters<typeof client.send>[2]) =>
          client.send(outgoing, context, handler),
        authority,
        deadlines: env.deadlines,
        metadata: [...headers, untraced(env)],
        timeoutMs,
        maxMessageBytes: MAX_ANSWER,
      }
      callUnary(method, request, options, (error, answer) => {
        if (answer !== null) resolve({ kind: 'taken', ...answer })
        else resolve(failedCall(error))
      })
    })
}

/** Requests to a collector by HTTP, with a protobuf body. */
function httpDelivery({ client, authority, path, headers: own, timeoutMs }: CollectorPlace, env: ExportEnv): Deliver {
  const limits = { deadlines: env.deadlines, timeoutMs, maxBytes: MAX_ANSWER }
  return async (request) => {
    const headers = HeaderBlock.of([...own, untraced(env)])
    headers.set('content-type', 'application/x-protobuf')
    const outgoing = {
      method: 'POST',
      target: path,
      authority,
      headers,
      body: sourceOf(request),
      upgrade: '',
      teTrailers: false,
    }
    let status = 0
    try {
      const context = ownContext({ path, authority }, env.monotonic())
      const answered = (known: number): void => void (status = known)
      return readReply(await fetchWhole(client, outgoing, { context, answered, ...limits }), env.clock())
    } catch (error) {
      // It has the batch, whatever is wrong with the rest of its answer: sent again, it would have it twice.
      if (isTaken(status)) return { kind: 'taken', rejected: 0, message: '' }
      return { kind: 'later', cause: error instanceof Error ? error.message : String(error), afterMs: null }
    }
  }
}

/** A trace that is not sampled: who makes spans of these calls, the gateway itself among them, would never come to an end. */
function untraced({ random }: ExportEnv): [string, string] {
  const digits = (): string => (0x1000_0000 + Math.floor(random() * 0xe000_0000)).toString(16)
  return ['traceparent', `00-${digits()}${digits()}${digits()}${digits()}-${digits()}${digits()}-00`]
}

interface Rejection {
  rejected: number
  message: string
}

function readReply({ status, headers, body }: WholeAnswer, now: number): Delivery {
  if (isTaken(status)) return { kind: 'taken', ...readRejection(body) }
  const cause = `the collector answered with status ${status}`
  if (!HTTP_LATER.has(status)) return { kind: 'refused', cause }
  return { kind: 'later', cause, afterMs: readRetryAfter(headers.get('retry-after'), now) }
}

function isTaken(status: number): boolean {
  return status >= 200 && status <= 299
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
const DEFAULT_TIMEOUT = 10_000
const MAX_ANSWER = 1024 * 1024
