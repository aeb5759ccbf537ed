import { type Explainer, numberIn, placeIn, remedy } from '../../../findings/subject.ts'

/** Explains a response that the `abort` policy has sent on purpose in place of the backend. */
export const abort: Explainer = (subject) => {
  const status = numberIn(subject.reason, 'status') ?? subject.record.status
  const percentage = numberIn(subject.reason, 'percentage')
  const share = percentage === null || percentage === 100 ? '' : `, like ${percentage} % of the requests`
  return {
    code: 'aborted_by_rehearsal',
    headline: `this was a rehearsal: the policy \`abort\` answered with status ${status} on purpose${share}, and no backend was called`,
    place: placeIn(subject),
    wouldPass: [remedy('config', 'the route does not have the policy `abort`', { place: placeIn(subject) })],
  }
}
