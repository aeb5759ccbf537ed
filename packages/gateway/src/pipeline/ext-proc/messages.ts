import type { HeaderBlock } from '@portico/http'
import type { BodyMutation, ProcessingRequest } from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import { bufferOf, headerMap } from './mutation.ts'
import type { Side } from './side.ts'

export type RequestPart = ProcessingRequest['request']
type Name = Side['name']

export function headersMessage(side: Side, endOfStream: boolean): RequestPart {
  const value = { headers: side.headerMap(), attributes: new Map(), endOfStream }
  return { $case: side.name === 'request' ? 'requestHeaders' : 'responseHeaders', value }
}

export function bodyMessage(name: Name, body: Buffer, endOfStream: boolean): RequestPart {
  return { $case: name === 'request' ? 'requestBody' : 'responseBody', value: { body, endOfStream } }
}

export function trailersMessage(name: Name, trailers: HeaderBlock): RequestPart {
  const value = { trailers: headerMap([], trailers) }
  return { $case: name === 'request' ? 'requestTrailers' : 'responseTrailers', value }
}

/** The new body of a response; null keeps the body, and `piece` is a part of a stream. */
export function newBody(mutation: BodyMutation | undefined): Buffer | null | 'piece' {
  switch (mutation?.mutation?.$case) {
    case undefined:
      return null
    case 'body':
      return bufferOf(mutation.mutation.value)
    case 'clearBody':
      return mutation.mutation.value ? Buffer.alloc(0) : null
    case 'streamedResponse':
      return 'piece'
  }
}
