import { type Explainer, placeIn, remedy } from '../../../findings/subject.ts'

/** The config itself answered. */
export const ownAnswer: Explainer = (subject) => {
  const { record, reason } = subject
  const what = reason.policy === 'requestRedirect' ? 'is redirected' : 'is answered'
  return {
    code: reason.policy === 'requestRedirect' ? 'redirected' : 'answered_by_config',
    headline: `the request ${what} by ${reason.policy ?? 'the gateway'} with status ${record.status}`,
    place: placeIn(subject),
    wouldPass: [remedy('config', 'the route does not have this policy', { place: placeIn(subject) })],
  }
}
