import { failOpen } from '../../../findings/fail-open.ts'
import { type Explainer, numberIn, placeIn, textIn, value, remedy } from '../../../findings/subject.ts'

export const extAuth: Explainer = (subject) => {
  const { reason } = subject
  if (reason.code === 'no_decision') {
    return {
      code: 'authorizer_failed',
      headline: `the call to the external authorizer failed: ${textIn(reason, 'cause') ?? ''}`,
      place: placeIn(subject, 'backendRef'),
      values: [value('cause', textIn(reason, 'cause')), value('failureMode', textIn(reason, 'failureMode'))],
      wouldPass: [remedy('backend', 'the authorizer responds'), failOpen(subject)],
    }
  }
  if (reason.code === 'invalid_header') {
    const header = textIn(reason, 'header') ?? ''
    return {
      code: 'authorizer_invalid_header',
      headline: `the authorizer set the header ${header} to an invalid value`,
      place: placeIn(subject, 'backendRef'),
      values: [value('header', header)],
      wouldPass: [
        remedy('backend', `the authorizer sets ${header} to a value without line breaks or control characters`),
      ],
    }
  }
  return {
    code: 'authorizer_denied',
    headline: `the authorizer denied the request with status ${numberIn(reason, 'status') ?? subject.record.status}`,
    place: placeIn(subject, 'backendRef'),
    values: [value('status', numberIn(reason, 'status'))],
    wouldPass: [remedy('backend', 'the authorizer allows the request')],
  }
}
