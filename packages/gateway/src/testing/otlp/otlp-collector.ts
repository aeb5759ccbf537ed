import { createServer, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { type Metadata, Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js'
import type { LogValue } from '../../telemetry/log/access-log.ts'
import { readAttribute, readEnvelope, readFields, readValue, type SeenOrigin, skipZero } from './otlp-fields.ts'
import { readMetrics, type SeenMetric } from './otlp-metrics.ts'

/** One log record with its resource and scope. */
export interface SeenLog extends SeenOrigin {
  time: bigint
  observed: bigint
  severity: number
  severityText: string
  body: LogValue
  attributes: Record<string, LogValue>
  flags: number
  traceId: string
  spanId: string
}

/** One span with its resource and scope. */
export interface SeenSpan extends SeenOrigin {
  traceId: string
  spanId: string
  tracestate: string
  parentId: string
  name: string
  kind: number
  start: bigint
  end: bigint
  attributes: Record<string, LogValue>
  /** Null where the status is not set. */
  status: { code: number; message: string } | null
  flags: number
}

export interface Collector {
  host: string
  /** The log records of accepted requests. */
  logs: SeenLog[]
  spans: SeenSpan[]
  /** The metrics of accepted requests, one list for each request. */
  metrics: SeenMetric[][]
  /** The metadata or headers of every request. */
  asked: Record<string, unknown>[]
  /** Resolves when that many log records, or spans, were accepted. */
  taken(count: number): Promise<void>
}

/** The response of a collector that rejects a request. `GrpcAnswer` gets the number of the request, counted from 1; null accepts it. */
interface GrpcRefusal {
  code: number
  details?: string
  metadata?: Metadata
}
type GrpcAnswer = (number: number) => GrpcRefusal | Buffer | null | Promise<GrpcRefusal | Buffer | null>

/** A collector on the library of gRPC itself. */
export async function useGrpcCollector(
  t: TestContext,
  answer: GrpcAnswer = () => null,
  credentials = ServerCredentials.createInsecure(),
): Promise<Collector> {
  const { collector, ...take } = createCollector()
  const server = new Server()
  const definition = (service: string) => ({
    Export: {
      path: `/opentelemetry.proto.collector.${service}/Export`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (bytes: Buffer) => bytes,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: (bytes: Buffer) => bytes,
      responseDeserialize: (bytes: Buffer) => bytes,
    },
  })
  const implementation = (takeIt: (request: Buffer) => void) => ({
    async Export(call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) {
      const number = collector.asked.push(call.metadata.getMap())
      const said = await answer(number)
      if (said !== null && !Buffer.isBuffer(said)) return done({ details: '', ...said })
      takeIt(call.request)
      done(null, said ?? Buffer.alloc(0))
    },
  })
  server.addService(definition('logs.v1.LogsService'), implementation(take.logs))
  server.addService(definition('trace.v1.TraceService'), implementation(take.spans))
  server.addService(definition('metrics.v1.MetricsService'), implementation(take.metrics))
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)))
  })
  t.after(() => server.forceShutdown())
  return Object.assign(collector, { host: `127.0.0.1:${port}` })
}

interface HttpReply {
  status: number
  headers?: Record<string, string>
  body?: Buffer
}

/** A collector on the HTTP server of the runtime; only what it answers with 2xx is taken. */
export async function useHttpCollector(
  t: TestContext,
  answer: (number: number) => HttpReply | Promise<HttpReply> = () => ({ status: 200 }),
): Promise<Collector> {
  const { collector, ...take } = createCollector()
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request)
      const { method, url, headers } = request
      const number = collector.asked.push({ method, url, ...headers })
      const reply = await answer(number)
      if (reply.status <= 299) take[kindOf(url ?? '')](body)
      response.writeHead(reply.status, reply.headers).end(reply.body)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(collector, { host: `127.0.0.1:${(server.address() as AddressInfo).port}` })
}

function kindOf(url: string): 'logs' | 'spans' | 'metrics' {
  if (url.includes('traces')) return 'spans'
  return url.includes('metrics') ? 'metrics' : 'logs'
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

interface Taking {
  collector: Collector
  logs: (request: Buffer) => void
  spans: (request: Buffer) => void
  metrics: (request: Buffer) => void
}

function createCollector(): Taking {
  const waiting: { count: number; resolve: () => void }[] = []
  const collector: Collector = {
    host: '',
    logs: [],
    spans: [],
    metrics: [],
    asked: [],
    async taken(count) {
      if (countTaken() >= count) return
      await new Promise<void>((resolve) => waiting.push({ count, resolve }))
    },
  }
  const countTaken = (): number => collector.logs.length + collector.spans.length
  const tell = (): void => {
    for (const { count, resolve } of waiting) if (countTaken() >= count) resolve()
  }
  return {
    collector,
    logs(request) {
      collector.logs.push(...readLogs(request))
      tell()
    },
    spans(request) {
      collector.spans.push(...readSpans(request))
      tell()
    },
    metrics: (request) => void collector.metrics.push(readMetrics(request)),
  }
}

/** Every span of an `ExportTraceServiceRequest`; a field that the protocol does not have throws. */
export function readSpans(request: Uint8Array): SeenSpan[] {
  const spans: SeenSpan[] = []
  readEnvelope(request, (bytes, origin) => spans.push({ ...origin, ...readSpan(bytes) }))
  return spans
}

function readSpan(bytes: Uint8Array): Omit<SeenSpan, keyof SeenOrigin> {
  const span: Omit<SeenSpan, keyof SeenOrigin> = {
    traceId: '',
    spanId: '',
    tracestate: '',
    parentId: '',
    name: '',
    kind: 0,
    start: 0n,
    end: 0n,
    attributes: {},
    status: null,
    flags: 0,
  }
  readFields(bytes, {
    1: (reader) => (span.traceId = Buffer.from(reader.bytes()).toString('hex')),
    2: (reader) => (span.spanId = Buffer.from(reader.bytes()).toString('hex')),
    3: (reader) => (span.tracestate = reader.string()),
    4: (reader) => (span.parentId = Buffer.from(reader.bytes()).toString('hex')),
    5: (reader) => (span.name = reader.string()),
    6: (reader) => (span.kind = reader.int32()),
    7: (reader) => (span.start = BigInt(reader.fixed64())),
    8: (reader) => (span.end = BigInt(reader.fixed64())),
    9: (reader) => readAttribute(reader.bytes(), span.attributes),
    10: skipZero,
    12: skipZero,
    14: skipZero,
    15: (reader) => (span.status = readStatus(reader.bytes())),
    16: (reader) => (span.flags = reader.fixed32()),
  })
  return span
}

/** One that says nothing is none. */
function readStatus(bytes: Uint8Array): SeenSpan['status'] {
  const status = { code: 0, message: '' }
  readFields(bytes, {
    2: (reader) => (status.message = reader.string()),
    3: (reader) => (status.code = reader.int32()),
  })
  return status.code === 0 ? null : status
}

/** Every record of an `ExportLogsServiceRequest`; a field that the protocol does not have throws. */
export function readLogs(request: Uint8Array): SeenLog[] {
  const logs: SeenLog[] = []
  readEnvelope(request, (bytes, origin) => logs.push({ ...origin, ...readLog(bytes) }))
  return logs
}

function readLog(bytes: Uint8Array): Omit<SeenLog, keyof SeenOrigin> {
  const log: Omit<SeenLog, keyof SeenOrigin> = {
    time: 0n,
    observed: 0n,
    severity: 0,
    severityText: '',
    body: null,
    attributes: {},
    flags: 0,
    traceId: '',
    spanId: '',
  }
  readFields(bytes, {
    1: (reader) => (log.time = BigInt(reader.fixed64())),
    2: (reader) => (log.severity = reader.int32()),
    3: (reader) => (log.severityText = reader.string()),
    5: (reader) => (log.body = readValue(reader.bytes())),
    6: (reader) => readAttribute(reader.bytes(), log.attributes),
    7: skipZero,
    8: (reader) => (log.flags = reader.fixed32()),
    9: (reader) => (log.traceId = Buffer.from(reader.bytes()).toString('hex')),
    10: (reader) => (log.spanId = Buffer.from(reader.bytes()).toString('hex')),
    11: (reader) => (log.observed = BigInt(reader.fixed64())),
  })
  return log
}
