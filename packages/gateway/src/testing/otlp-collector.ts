import { createServer, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import { type Metadata, Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js'
import type { LogValue } from '../telemetry/log/edited-line.ts'

/** One log record with what stands around it. */
export interface SeenLog {
  resource: Record<string, LogValue>
  scope: { name: string; version: string }
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

/** One span with what stands around it. */
export interface SeenSpan {
  resource: Record<string, LogValue>
  scope: { name: string; version: string }
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
  /** Of requests that were taken. */
  logs: SeenLog[]
  spans: SeenSpan[]
  /** Metadata or headers of every request. */
  asked: Record<string, unknown>[]
  /** Resolves when that many records, or spans, were taken. */
  taken(count: number): Promise<void>
}

/** What a collector answers the request of this number, counted from 1: nothing takes it. */
export interface GrpcRefusal {
  code: number
  details?: string
  metadata?: Metadata
}
export type GrpcAnswer = (number: number) => GrpcRefusal | Buffer | null | Promise<GrpcRefusal | Buffer | null>

/** A collector on the library of gRPC itself. */
export async function useGrpcCollector(
  t: TestContext,
  answer: GrpcAnswer = () => null,
  credentials = ServerCredentials.createInsecure(),
): Promise<Collector> {
  const { collector, takeLogs, takeSpans } = createCollector()
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
  const implementation = (take: (request: Buffer) => void) => ({
    async Export(call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) {
      const number = collector.asked.push(call.metadata.getMap())
      const said = await answer(number)
      if (said !== null && !Buffer.isBuffer(said)) return done({ details: '', ...said })
      take(call.request)
      done(null, said ?? Buffer.alloc(0))
    },
  })
  server.addService(definition('logs.v1.LogsService'), implementation(takeLogs))
  server.addService(definition('trace.v1.TraceService'), implementation(takeSpans))
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)))
  })
  t.after(() => server.forceShutdown())
  return Object.assign(collector, { host: `127.0.0.1:${port}` })
}

export interface HttpReply {
  status: number
  headers?: Record<string, string>
  body?: Buffer
}

/** A collector on the HTTP server of the runtime; only what it answers with 2xx is taken. */
export async function useHttpCollector(
  t: TestContext,
  answer: (number: number) => HttpReply | Promise<HttpReply> = () => ({ status: 200 }),
): Promise<Collector> {
  const { collector, takeLogs, takeSpans } = createCollector()
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request)
      const { method, url, headers } = request
      const number = collector.asked.push({ method, url, ...headers })
      const reply = await answer(number)
      if (reply.status <= 299) (url?.includes('traces') === true ? takeSpans : takeLogs)(body)
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

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

interface Taking {
  collector: Collector
  takeLogs: (request: Buffer) => void
  takeSpans: (request: Buffer) => void
}

function createCollector(): Taking {
  const waiting: { count: number; resolve: () => void }[] = []
  const collector: Collector = {
    host: '',
    logs: [],
    spans: [],
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
    takeLogs(request) {
      collector.logs.push(...readLogs(request))
      tell()
    },
    takeSpans(request) {
      collector.spans.push(...readSpans(request))
      tell()
    },
  }
}

/** Every span of an `ExportTraceServiceRequest`; a field that the protocol does not have throws. */
export function readSpans(request: Uint8Array): SeenSpan[] {
  const spans: SeenSpan[] = []
  readFields(request, {
    1: (reader) => readItems(reader.bytes(), (around, bytes) => spans.push({ ...around, ...readSpan(bytes) })),
  })
  return spans
}

function readSpan(bytes: Uint8Array): Omit<SeenSpan, 'resource' | 'scope'> {
  const span: Omit<SeenSpan, 'resource' | 'scope'> = {
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
  readFields(request, {
    1: (reader) => readItems(reader.bytes(), (around, bytes) => logs.push({ ...around, ...readLog(bytes) })),
  })
  return logs
}

type TakeItem = (around: Pick<SeenLog, 'resource' | 'scope'>, bytes: Uint8Array) => void

/** For logs and spans it is built the same. */
function readItems(bytes: Uint8Array, take: TakeItem): void {
  const resource: Record<string, LogValue> = {}
  readFields(bytes, {
    1: (reader) => readFields(reader.bytes(), { 1: (inner) => readAttribute(inner.bytes(), resource), 2: skipZero }),
    2: (reader) => readScope(reader.bytes(), resource, take),
  })
}

function readScope(bytes: Uint8Array, resource: SeenLog['resource'], take: TakeItem): void {
  const scope = { name: '', version: '' }
  readFields(bytes, {
    1: (reader) =>
      readFields(reader.bytes(), {
        1: (inner) => (scope.name = inner.string()),
        2: (inner) => (scope.version = inner.string()),
      }),
    2: (reader) => take({ resource, scope }, reader.bytes()),
  })
}

function readLog(bytes: Uint8Array): Omit<SeenLog, 'resource' | 'scope'> {
  const log: Omit<SeenLog, 'resource' | 'scope'> = {
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

function readAttribute(bytes: Uint8Array, attributes: Record<string, LogValue>): void {
  let name = ''
  let value: LogValue = null
  readFields(bytes, {
    1: (reader) => (name = reader.string()),
    2: (reader) => (value = readValue(reader.bytes())),
  })
  if (Object.hasOwn(attributes, name)) throw new Error(`the attribute ${name} stands there twice`)
  Object.defineProperty(attributes, name, { value, enumerable: true })
}

function readValue(bytes: Uint8Array): LogValue {
  let value: LogValue = null
  readFields(bytes, {
    1: (reader) => (value = reader.string()),
    2: (reader) => (value = reader.bool()),
    3: (reader) => (value = Number(reader.int64())),
    4: (reader) => (value = reader.double()),
    5: (reader) => {
      const items: LogValue[] = []
      readFields(reader.bytes(), { 1: (inner) => items.push(readValue(inner.bytes())) })
      value = items
    },
    6: (reader) => {
      const entries: Record<string, LogValue> = {}
      readFields(reader.bytes(), { 1: (inner) => readAttribute(inner.bytes(), entries) })
      value = entries
    },
  })
  return value
}

function skipZero(reader: BinaryReader): void {
  if (reader.uint32() !== 0) throw new Error('attributes were dropped')
}

function readFields(bytes: Uint8Array, readers: Record<number, (reader: BinaryReader) => unknown>): void {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field] = reader.tag()
    const read = readers[field]
    if (read === undefined) throw new Error(`there is no field ${field}`)
    read(reader)
  }
}
