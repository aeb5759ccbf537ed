import type { Findings } from '../findings/subject.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/** The explanation of a response that a rehearsal made in place of the backend; null for others. */
export function rehearsedAnswer({ rehearsal = [], route, backend, status }: RequestRecord): Findings | null {
  if (rehearsal.at(-1) !== `abort ${status}`) return null
  const way = [route === null ? '' : `route ${route}`, backend === null ? '' : `backend ${backend}`]
  const at = way.filter((part) => part !== '').join(' → ')
  return {
    code: 'aborted_by_rehearsal',
    headline: `this was a rehearsal: ${at === '' ? 'a call' : `a call of ${at}`} was answered with status ${status} on purpose`,
  }
}

/** The delays and aborts of the request, in words. */
export function rehearsalRemarks({ rehearsal = [] }: RequestRecord): string[] {
  return rehearsal.length === 0 ? [] : [`a rehearsal took part on purpose: ${rehearsal.join(', ')}`]
}
