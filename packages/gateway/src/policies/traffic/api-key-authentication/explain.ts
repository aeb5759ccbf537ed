import { credential } from '../../../findings/credentials.ts'
import { type Explainer, type Findings, placeIn, remedy, type Subject, textIn } from '../../../findings/subject.ts'

export const apiKey: Explainer = (subject) => credential(subject, 'API key', 'api_key')

/** A refusal by a limit of a key or a team. */
export const keyLimitExceeded: Explainer = (subject) => ({
  ...refusalOfKey(subject, 'a limit of the key is used up'),
  wouldPass: [
    remedy('time', 'the window of the limit is over, or another call has ended'),
    remedy('client', 'the client sends fewer requests'),
  ],
})

/** A refusal because the key is for other routes. */
export const keyNotForRoute: Explainer = (subject) => ({
  ...refusalOfKey(subject, 'the key may not use this route'),
  wouldPass: [remedy('client', 'the client sends a key that may use this route')],
})

/** A refusal because the store of keys cannot be read. */
export const keyStoreFailed: Explainer = (subject) => ({
  ...refusalOfKey(subject, 'API keys cannot be checked'),
  wouldPass: [remedy('config', 'the store of keys can be read again; `/api/state` has its problem')],
})

function refusalOfKey(subject: Subject, otherwise: string): Pick<Findings, 'headline' | 'place'> {
  return { headline: textIn(subject.reason, 'reason') ?? otherwise, place: placeIn(subject, 'store') }
}
