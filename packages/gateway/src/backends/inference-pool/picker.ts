import type { PickOutcome } from '../../telemetry/metrics/pick-metrics.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import { Callouts } from '../../pipeline/callouts/callouts.ts'
import type { Env } from '../../pipeline/context/step.ts'
import { connectProcessor } from '../../pipeline/ext-proc/connect.ts'
import type { PickerTarget } from '../../schema/fields/inference-pool.ts'
import type { ProcessingSettings } from '../../pipeline/ext-proc/processing-settings.ts'

/** The endpoint picker of a pool, ready for calls. */
export interface Picker {
  readonly settings: ProcessingSettings
  readonly failureMode: PickerTarget['failureMode']
  readonly log: Logger
  readonly count: (outcome: PickOutcome) => void
}

/** Pickers get heads and bodies of both directions. Trailers stay here: not every picker answers them. */
const PARTS = { sendsHeaders: true, body: 'FullDuplexStreamed', sendsTrailers: false } as const

export function createPicker({ backend, failureMode, timeoutMs }: PickerTarget, pool: string, env: Env): Picker {
  return {
    settings: {
      modes: { request: PARTS, response: PARTS },
      allowModeOverride: false,
      isLenient: true,
      timeoutMs,
      maxTimeoutMs: 0,
      maxBufferBytes: env.maxBufferBytes,
      deadlines: env.deadlines,
      now: env.monotonic,
      record: env.callouts('EndpointPicker'),
      connect: connectProcessor(new Callouts('EndpointPicker', backend, env), env),
    },
    failureMode,
    log: env.log,
    count: env.picks(pool),
  }
}
