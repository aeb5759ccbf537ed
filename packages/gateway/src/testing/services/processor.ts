import type { ServerHttp2Stream } from 'node:http2'
import type { TestContext } from 'node:test'
import { type Metadata, Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js'
import {
  type CommonResponse,
  type HeaderMutation,
  ProcessingRequest,
  ProcessingResponse,
  type TrailersResponse,
} from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'

export type ProcessorCall = ServerDuplexStream<ProcessingRequest, ProcessingResponse>
type Case = NonNullable<ProcessingRequest['request']>['$case']

export interface Processor {
  host: string
  /** Every message, of all streams. */
  seen: ProcessingRequest[]
  metadata: Metadata[]
  streams: number
  /** Streams that ended well, and streams that were broken off. */
  ended: number
  cancelled: number
}

/** A processor as others write them, on the library of gRPC itself: each stream is handed to `talk`. */
export async function useProcessor(t: TestContext, talk: (call: ProcessorCall) => void): Promise<Processor> {
  const server = new Server()
  const definition = {
    Process: {
      path: '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
      requestStream: true,
      responseStream: true,
      requestSerialize: (request: ProcessingRequest) => Buffer.from(ProcessingRequest.encode(request).finish()),
      requestDeserialize: (bytes: Buffer) => ProcessingRequest.decode(bytes),
      responseSerialize: (response: ProcessingResponse) => Buffer.from(ProcessingResponse.encode(response).finish()),
      responseDeserialize: (bytes: Buffer) => ProcessingResponse.decode(bytes),
    },
  } as const
  const processor: Processor = { host: '', seen: [], metadata: [], streams: 0, ended: 0, cancelled: 0 }
  server.addService(definition, {
    Process(call: ProcessorCall) {
      processor.streams++
      processor.metadata.push(call.metadata)
      call.on('error', () => {})
      // The library tells of a stream that was broken off what it tells of any that is over.
      const { stream } = (call as unknown as { call: { stream: ServerHttp2Stream } }).call
      stream.once('close', () => (stream.rstCode === 0 ? processor.ended++ : processor.cancelled++))
      talk(call)
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  t.after(() => server.forceShutdown())
  processor.host = `127.0.0.1:${port}`
  return processor
}

export type Process = (
  request: ProcessingRequest,
) => Partial<ProcessingResponse> | null | Promise<Partial<ProcessingResponse> | null>

/** One that answers message by message; null says nothing. */
export async function useAnsweringProcessor(t: TestContext, process: Process): Promise<Processor> {
  const processor = await useProcessor(t, (call) => {
    let last = Promise.resolve()
    const answer = async (request: ProcessingRequest): Promise<void> => {
      try {
        const said = await process(request)
        if (said !== null) call.write(complete(said))
      } catch (error) {
        call.emit('error', { code: 13, details: String(error) })
      }
    }
    call.on('data', (request: ProcessingRequest) => {
      processor.seen.push(request)
      last = last.then(() => answer(request))
    })
    call.on('end', () => void last.then(() => call.end()))
  })
  return processor
}

/** Says of every part that it shall stay; bodies that are streamed come back as they went. */
export function agree({ request }: ProcessingRequest): Partial<ProcessingResponse> | null {
  if (request === undefined) return null
  if (request.$case !== 'requestBody' && request.$case !== 'responseBody') return answerTo(request.$case)
  return piece(request.$case, Buffer.from(request.value.body), request.value.endOfStream)
}

const SILENT: ProcessingResponse = {
  response: undefined,
  dynamicMetadata: undefined,
  modeOverride: undefined,
  overrideMessageTimeout: undefined,
}

export function complete(said: Partial<ProcessingResponse>): ProcessingResponse {
  return { ...SILENT, ...said }
}

/** An answer to a part of that name, with what it changes. */
export function answerTo($case: Case, common: Partial<CommonResponse> = {}): Partial<ProcessingResponse> {
  const response: CommonResponse = {
    status: 0,
    headerMutation: undefined,
    bodyMutation: undefined,
    trailers: undefined,
    clearRouteCache: false,
    ...common,
  }
  if ($case === 'requestTrailers' || $case === 'responseTrailers') {
    const value: TrailersResponse = { headerMutation: common.headerMutation }
    return { response: { $case, value } }
  }
  return { response: { $case, value: { response } } }
}

export function piece($case: Case, body: Buffer, endOfStream: boolean): Partial<ProcessingResponse> {
  return answerTo($case, { bodyMutation: { mutation: { $case: 'streamedResponse', value: { body, endOfStream } } } })
}

export function bodyOf(text: string): Partial<CommonResponse> {
  return { bodyMutation: { mutation: { $case: 'body', value: Buffer.from(text) } } }
}

export function headers(set: Record<string, string>, removeHeaders: string[] = []): { headerMutation: HeaderMutation } {
  const setHeaders = Object.entries(set).map(([key, value]) => ({
    header: { key, value: '', rawValue: Buffer.from(value) },
    append: undefined,
    appendAction: 0 as const,
    keepEmptyValue: false,
  }))
  return { headerMutation: { setHeaders, removeHeaders } }
}

/** Changes to headers as the wire has them, made by `option` and `bytesOption`. */
export function edits(...setHeaders: object[]): { headerMutation: HeaderMutation } {
  return { headerMutation: { setHeaders: setHeaders as HeaderMutation['setHeaders'], removeHeaders: [] } }
}

export function immediate(
  code: number,
  body = '',
  set: Record<string, string> = {},
  more: { grpcStatus?: { status: number }; details?: string } = {},
): Partial<ProcessingResponse> {
  const value = {
    status: { code: code as 200 },
    headers: headers(set).headerMutation,
    body: Buffer.from(body),
    grpcStatus: undefined,
    details: '',
    ...more,
  }
  return { response: { $case: 'immediateResponse', value } }
}

/** The headers or trailers of a processing request, as texts by name. */
export function fieldsOf(request: ProcessingRequest | undefined): Record<string, string> {
  const part = request?.request
  const map =
    part?.$case === 'requestHeaders' || part?.$case === 'responseHeaders'
      ? part.value.headers
      : part?.$case === 'requestTrailers' || part?.$case === 'responseTrailers'
        ? part.value.trailers
        : undefined
  return Object.fromEntries((map?.headers ?? []).map(({ key, rawValue }) => [key, Buffer.from(rawValue).toString()]))
}

/** Names of the parts in the order in which they came. */
export function partsOf(seen: readonly ProcessingRequest[]): string[] {
  return seen.map(({ request }) => request?.$case ?? 'nothing')
}

/** All bytes of a body that came in parts of that name. */
export function bytesOf(seen: readonly ProcessingRequest[], $case: 'requestBody' | 'responseBody'): string {
  return Buffer.concat(
    seen.flatMap(({ request }) => (request?.$case === $case ? Buffer.from(request.value.body) : [])),
  ).toString()
}
