import type { HeaderBlock } from '@portico/http'
import type { BodyMutation, ProcessingRequest } from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import { withFields } from './fields.ts'
import type { Modes } from './modes.ts'
import { bufferOf } from './mutation.ts'
import type { Side } from './side.ts'

type Name = Side['name']

/** A part of a request or response, as the processor gets it. */
export interface RequestPart {
  readonly name: Name
  readonly kind: 'headers' | 'body' | 'trailers'
  /** Names and values of headers or trailers in turn; empty for bodies. */
  readonly fields: readonly string[]
  /** Bytes of a body, which are copied when the message is encoded. */
  readonly body: Buffer
  readonly endOfStream: boolean
}

/** Attributes and metadata beside a part. */
export interface MessageContext extends Pick<ProcessingRequest, 'attributes' | 'metadataContext'> {
  /** The context as it is sent, set by the encoder: a context that many requests share is encoded once. */
  encoded?: Uint8Array
}

/** One message to the processor. */
export interface ProcessorMessage {
  readonly part: RequestPart
  readonly context: MessageContext | null
  /** The modes of bodies, in the first message of a stream; null in the others. */
  readonly modes: Modes | null
  /** Whether the processor only looks on. */
  readonly isObserved: boolean
}

export function headersMessage(side: Side, endOfStream: boolean): RequestPart {
  return { name: side.name, kind: 'headers', fields: side.fields(), body: EMPTY, endOfStream }
}

export function bodyMessage(name: Name, body: Buffer, endOfStream: boolean): RequestPart {
  return { name, kind: 'body', fields: NO_FIELDS, body, endOfStream }
}

export function trailersMessage(name: Name, trailers: HeaderBlock): RequestPart {
  return { name, kind: 'trailers', fields: withFields([], trailers), body: EMPTY, endOfStream: false }
}

/** Whether a message carries attributes and metadata: the first message of a stream, and the head of a response. */
export function hasContext({ name, kind }: RequestPart, isFirst: boolean): boolean {
  return isFirst || (name === 'response' && kind === 'headers')
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

const EMPTY = Buffer.alloc(0)
const NO_FIELDS: readonly string[] = []
