import type { InvalidHeader } from '../../../pipeline/policy/header-edit.ts'
import type { Reply } from '../../../pipeline/context/reply.ts'
import type { JsonObject } from '../../../pipeline/context/request-context.ts'
import type { ProcessingMode } from '../../../protos/envoy/extensions/filters/http/ext_proc/v3/processing_mode.ts'
import type { CommonResponse, HeaderMutation } from '../../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import type { RequestPart } from './messages.ts'
import type { DirectionModes } from './modes.ts'
import type { HeaderChanges } from './mutation.ts'
import type { Side } from './side.ts'

export type Part = 'headers' | 'body' | 'trailers'

/** The processor's answer to one part. */
export interface Answer {
  common?: CommonResponse | undefined
  /** Set for trailers only. */
  mutation?: HeaderMutation | undefined
  metadata: JsonObject | undefined
  override: ProcessingMode | undefined
}

/** The talk with the processor, as one direction of it sees it. */
export interface Talk {
  readonly isOver: boolean
  readonly isBlocked: boolean
  readonly maxBufferBytes: number
  open(): Promise<void>
  modes(name: Side['name']): DirectionModes
  say(said: RequestPart): void
  /** An answer is waited for. */
  asked(): void
  /** Notes the answer to a part, and the changes that it made. */
  noted(part: Part, answer: Answer, changed: HeaderChanges): void
  /** The request is answered with this, and there is nothing more to process. */
  stop(reply: Reply): void
  fail(why: string): void
  /** The processor has set a header that cannot stand: the request does not go on, whatever the failure mode. */
  refuse(invalid: InvalidHeader): void
  /** Whether the direction is full, waits or is done may have changed. */
  changed(): void
}
