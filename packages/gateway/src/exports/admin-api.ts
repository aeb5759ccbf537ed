/** The types of the admin API and its words for secrets, for programs and pages outside of the gateway. */
export type * from '../admin/usage-view.ts'
export type * from '../findings/evaluation.ts'
export type * from '../findings/explanation.ts'
export type * from '../findings/route-match.ts'
export { mayBeSecretName, REDACTED } from '../redaction/secret-names.ts'
export type * from '../telemetry/history/series-view.ts'
export * from '../telemetry/recorder/record.ts'
export type { TraceEvent } from '../telemetry/trace/trace-event.ts'
