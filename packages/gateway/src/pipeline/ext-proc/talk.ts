import type { InvalidHeader } from '../policy/header-edit.ts'
import type { Reply } from '../context/reply.ts'
import type { JsonObject } from '../context/request-context.ts'
import type { ProcessingMode } from '../../protos/envoy/extensions/filters/http/ext_proc/v3/processing_mode.ts'
import type { CommonResponse, HeaderMutation } from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import type { RequestPart } from './messages.ts'
import type { DirectionModes } from './modes.ts'
import type { HeaderChanges } from './mutation.ts'
import type { Side } from './side.ts'

export type Part = 'headers' | 'body' | 'trailers'

/** The response of the processor to one part. */
export interface Answer {
  common?: CommonResponse | undefined
  /** Set for trailers only. */
  mutation?: HeaderMutation | undefined
  metadata: JsonObject | undefined
  override: ProcessingMode | undefined
}

/** The stream to the processor, as one direction uses it. */
export interface Talk {
  readonly isOver: boolean
  readonly isBlocked: boolean
  readonly maxBufferBytes: number
  /** Whether the processor may answer a streamed body without a new body, and before the head. */
  readonly isLenient: boolean
  /** Opens the stream to the processor; null when it is open. */
  open(): Promise<void> | null
  modes(name: Side['name']): DirectionModes
  say(said: RequestPart): void
  /** Called when a response of the processor is expected. */
  asked(): void
  /** Records the response to a part, and the changes that it made. */
  noted(part: Part, answer: Answer, changed: HeaderChanges): void
  /** The request is answered with this, and there is nothing more to process. */
  stop(reply: Reply): void
  fail(why: string): void
  /** The processor set an invalid header: the request is denied, whatever the failure mode. */
  refuse(invalid: InvalidHeader): void
  /** Whether the direction is full, waits or is done may have changed. */
  changed(): void
}
