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

/** The endpoint of OTLP collectors for one signal. */
export interface CollectorService {
  /** The gRPC method. */
  method: string
  /** The HTTP path, unless the config sets another path. */
  path: string
}

interface CollectorConnection {
  deliver: Deliver
  /** Equal for configs that send to the same collector in the same way. */
  key: string
  address: string
}

/** Returns the connection to the collector that a config names. */
export function connectCollector(
  config: CollectorConfig,
  service: CollectorService,
  env: ExportEnv,
): CollectorConnection {
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

interface CollectorTarget {
  client: BackendClient
  authority: string
  path: string
  headers: readonly [string, string][]
  timeoutMs: number
}

/** Returns a function that sends requests to a collector by gRPC. */
function grpcDelivery({ client, authority, path, headers, timeoutMs }: CollectorTarget, env: ExportEnv): Deliver {
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

/** Returns a function that sends requests to a collector by HTTP, with a protobuf body. */
function httpDelivery({ client, authority, path, headers: own, timeoutMs }: CollectorTarget, env: ExportEnv): Deliver {
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
      // The collector accepted the batch, even if its response is broken: a retry would deliver the batch twice.
      if (isTaken(status)) return { kind: 'taken', rejected: 0, message: '' }
      return { kind: 'later', cause: error instanceof Error ? error.message : String(error), afterMs: null }
    }
  }
}

/** Returns a `traceparent` that is not sampled. A sampled export would create spans, whose export would create more spans. */
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
  // RESOURCE_EXHAUSTED is retried only when the collector says when to retry.
  const isLater = GRPC_LATER.has(code) || (code === RESOURCE_EXHAUSTED && afterMs !== null)
  return isLater ? { kind: 'later', cause, afterMs } : { kind: 'refused', cause }
}

/** Parses `Retry-After`: seconds or a date; null when it is neither. */
function readRetryAfter(text: string | null, now: number): number | null {
  if (text === null) return null
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Reads how many items the collector rejected; an unreadable response counts as none. */
function readRejection(body: Buffer): Rejection {
  try {
    return readAnswer(body)
  } catch {
    return { rejected: 0, message: '' }
  }
}

/** Decodes `Export…ServiceResponse`, which has the same layout for logs, traces and metrics. */
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

/** Retryable codes of the OTLP specification: cancelled, timed out, aborted, out of range, unavailable, data loss. */
const GRPC_LATER = new Set([1, DEADLINE_EXCEEDED, 10, 11, UNAVAILABLE, 15])
const HTTP_LATER = new Set([429, 502, 503, 504])
const DEFAULT_TIMEOUT = 10_000
const MAX_ANSWER = 1024 * 1024
