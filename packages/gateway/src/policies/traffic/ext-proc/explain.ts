import { failOpen } from '../../../findings/fail-open.ts'
import { type Explainer, numberIn, placeIn, textIn, value, remedy } from '../../../findings/subject.ts'

export const extProc: Explainer = (subject) => {
  const { reason } = subject
  if (reason.code === 'answered') {
    return {
      code: 'processor_answered',
      headline: `the external processor sent its own response, with status ${numberIn(reason, 'status') ?? subject.record.status}`,
      place: placeIn(subject, 'backendRef'),
      values: [value('status', numberIn(reason, 'status')), value('details', textIn(reason, 'details'))],
      wouldPass: [remedy('backend', 'the processor lets the request continue')],
    }
  }
  return {
    code: 'processor_failed',
    headline: `the external processor failed: ${textIn(reason, 'cause') ?? ''}`,
    place: placeIn(subject, 'backendRef'),
    values: [value('cause', textIn(reason, 'cause')), value('failureMode', textIn(reason, 'failureMode'))],
    wouldPass: [remedy('backend', 'the processor responds without an error'), failOpen(subject)],
  }
}
