import type { Ir } from '../../ir/resources.ts'
import { RECORDER_DEFAULTS } from '../../policies/frontend/recorder/settings.ts'
import type { RecorderConfig } from '../../policies/frontend/recorder/schema.ts'
import type { RecorderSizes } from '../../telemetry/recorder/record-store.ts'

/** The settings of the recorder: the last policy with `recorder` wins. */
export function recorderConfig({ policies }: Pick<Ir, 'policies'>): RecorderConfig {
  const isMeant = ({ target, frontend }: Ir['policies'][number]): boolean =>
    target.kind === 'gateway' && frontend?.recorder !== undefined
  return policies.findLast(isMeant)?.frontend?.recorder ?? RECORDER_DEFAULTS
}

/** Null when recording is off. */
export function recorderSizes(ir: Pick<Ir, 'policies'>): RecorderSizes | null {
  const { enabled, passedSize: passed, notableSize: notable } = recorderConfig(ir)
  return enabled ? { passed, notable } : null
}
