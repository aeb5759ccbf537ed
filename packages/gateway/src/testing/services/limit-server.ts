import type { TestContext } from 'node:test'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js'
import { RateLimitResponse } from '../../protos/envoy/service/ratelimit/v3/rls.ts'

interface SeenDescriptor {
  /** `key=value,key=value` */
  entries: string
  /** Null when the message has none. */
  hits: number | null
}

interface SeenLimitRequest {
  domain: string
  descriptors: SeenDescriptor[]
}

export type Judge = (request: SeenLimitRequest) => Partial<RateLimitResponse> | Promise<Partial<RateLimitResponse>>

/** A rate limit service on the gRPC library, as users write one; it reads messages by their definition. */
export async function useLimitServer(t: TestContext, judge: Judge) {
  const seen: SeenLimitRequest[] = []
  const server = new Server()
  server.addService(
    {
      ShouldRateLimit: {
        path: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
        requestStream: false,
        responseStream: false,
        requestSerialize: (): Buffer => Buffer.alloc(0),
        requestDeserialize: readRequest,
        responseSerialize: (response: RateLimitResponse) => Buffer.from(RateLimitResponse.encode(response).finish()),
        responseDeserialize: (bytes: Buffer) => RateLimitResponse.decode(bytes),
      },
    },
    {
      ShouldRateLimit(
        call: ServerUnaryCall<SeenLimitRequest, RateLimitResponse>,
        done: sendUnaryData<RateLimitResponse>,
      ) {
        seen.push(call.request)
        void answer(judge, call.request, done)
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  t.after(() => server.forceShutdown())
  return { host: `127.0.0.1:${port}`, seen, stop: () => server.forceShutdown() }
}

async function answer(judge: Judge, request: SeenLimitRequest, done: sendUnaryData<RateLimitResponse>): Promise<void> {
  try {
    done(null, { ...NOTHING, ...(await judge(request)) })
  } catch (error) {
    done({ code: 13, details: String(error) })
  }
}

const NOTHING: RateLimitResponse = {
  overallCode: 1,
  statuses: [],
  responseHeadersToAdd: [],
  requestHeadersToAdd: [],
  rawBody: new Uint8Array(),
  dynamicMetadata: undefined,
  quota: undefined,
}

/** A server that counts hits by descriptor, each up to `limit`. */
export function counting(limit: number): Judge {
  const counts = new Map<string, number>()
  return ({ domain, descriptors }) => {
    const statuses = descriptors.map(({ entries, hits }) => {
      const key = `${domain} ${entries}`
      const count = (counts.get(key) ?? 0) + (hits ?? 1)
      counts.set(key, count)
      // One who only asks is over when nothing is left.
      const isOver = hits === 0 ? count >= limit : count > limit
      return {
        code: isOver ? (2 as const) : (1 as const),
        currentLimit: { name: '', requestsPerUnit: limit, unit: 2 as const },
        limitRemaining: Math.max(0, limit - count),
        durationUntilReset: { seconds: 30, nanos: 1 },
        quota: undefined,
      }
    })
    return { overallCode: statuses.some(({ code }) => code === 2) ? 2 : 1, statuses }
  }
}

function readRequest(bytes: Buffer): SeenLimitRequest {
  const request: SeenLimitRequest = { domain: '', descriptors: [] }
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1) request.domain = Buffer.from(asBytes(value)).toString()
    if (field === 2) request.descriptors.push(readDescriptor(asBytes(value)))
  }
  return request
}

function readDescriptor(bytes: Uint8Array): SeenDescriptor {
  const fields = fieldsOf(bytes)
  const entries = fields.filter(([field]) => field === 1).map(([, value]) => readEntry(asBytes(value)))
  const [, hits] = fields.find(([field]) => field === 3) ?? []
  return { entries: entries.join(','), hits: hits === undefined ? null : Number(fieldsOf(asBytes(hits))[0]?.[1] ?? 0) }
}

function readEntry(bytes: Uint8Array): string {
  const [key, value] = [1, 2].map(
    (wanted) => fieldsOf(bytes).find(([field]) => field === wanted)?.[1] ?? new Uint8Array(),
  )
  return `${Buffer.from(asBytes(key)).toString()}=${Buffer.from(asBytes(value)).toString()}`
}

type Field = [number: number, value: Uint8Array | number]

function fieldsOf(bytes: Uint8Array): Field[] {
  const reader = new BinaryReader(bytes)
  const fields: Field[] = []
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    fields.push([field, type === WireType.Varint ? Number(reader.uint64()) : reader.bytes()])
  }
  return fields
}

function asBytes(value: Uint8Array | number | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new Error('a number where bytes were expected')
}
