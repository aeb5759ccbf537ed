import type { Findings } from '../findings/subject.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/** Explains a response that a rehearsal sent in place of the backend; null for other responses. */
export function rehearsedAnswer({ rehearsal = [], route, backend, status }: RequestRecord): Findings | null {
  if (rehearsal.at(-1) !== `abort ${status}`) return null
  const way = [route === null ? '' : `route ${route}`, backend === null ? '' : `backend ${backend}`]
  const at = way.filter((part) => part !== '').join(' → ')
  return {
    code: 'aborted_by_rehearsal',
    headline: `this was a rehearsal: ${at === '' ? 'a call' : `a call of ${at}`} was answered with status ${status} on purpose`,
  }
}

/** Returns a remark about the delays and aborts of the request by rehearsals; empty without any. */
export function rehearsalRemarks({ rehearsal = [] }: RequestRecord): string[] {
  return rehearsal.length === 0 ? [] : [`a rehearsal took part on purpose: ${rehearsal.join(', ')}`]
}
