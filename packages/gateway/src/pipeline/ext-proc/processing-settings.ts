import type { Deadlines } from '@portico/http'
import type { RequestContext } from '../context/request-context.ts'
import type { RecordCallout } from '../../telemetry/metrics/callout-metrics.ts'
import type { GrpcStream, StreamHandler } from '@portico/http/grpc'
import type { ProcessingResponse } from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import type { ProcessorMessage } from './messages.ts'
import type { Modes } from './modes.ts'

export type Stream = Pick<
  GrpcStream<ProcessorMessage, ProcessingResponse>,
  'send' | 'finish' | 'hold' | 'proceed' | 'drop'
>

/** The settings and services that all requests of one policy share. */
export interface ProcessingSettings {
  readonly modes: Modes
  readonly allowModeOverride: boolean
  /** Whether the processor may answer a streamed body without a new body, and before the head. */
  readonly isLenient: boolean
  readonly timeoutMs: number
  /** The longest timeout that a processor may ask for; 0 when it may not. */
  readonly maxTimeoutMs: number
  readonly maxBufferBytes: number
  readonly deadlines: Deadlines
  readonly now: () => number
  /** Called with the time that each response took. */
  readonly record: RecordCallout
  /** Opens a stream; returns a promise only while the code of the protocol is loaded. */
  connect(rx: RequestContext, handler: StreamHandler<ProcessingResponse>): Promise<Stream> | Stream
}
