import { compileExpression } from '../../../pipeline/expression/expression.ts'
import type { RecorderSettings } from '../../../telemetry/recorder/recorder.ts'
import { createRedaction } from '../../../redaction/request-redaction.ts'
import type { RecorderConfig } from './schema.ts'

/** The settings of a config without the policy. */
export const RECORDER_DEFAULTS: RecorderConfig = {
  enabled: true,
  passedSize: 2 * 1024 * 1024,
  notableSize: 2 * 1024 * 1024,
  slow: 10_000,
}

/** Null where nothing is recorded. `credentials` has names of headers and parameters, in lower case, that carry some. */
export function recorderSettings(
  config: RecorderConfig = RECORDER_DEFAULTS,
  credentials: ReadonlySet<string>,
): Omit<RecorderSettings, 'generation'> | null {
  if (!config.enabled) return null
  const sampled = config.sampling === undefined ? null : compileExpression(config.sampling, 'log')
  return {
    slowMs: config.slow,
    isSampled: sampled === null ? null : (scope) => sampled.evaluate(scope) === true,
    redaction: createRedaction(credentials),
  }
}
