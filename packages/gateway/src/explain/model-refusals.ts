import { type Findings, remedy, textIn, value } from '../findings/subject.ts'
import type { ConfigExplainer, ConfigSubject } from './config-view.ts'
import { backendPlace } from './upstream.ts'

/** Requests to backends with `ai.models` that were refused because of the model that they name. */

export const modelNotFound: ConfigExplainer = (subject) => {
  const near = textIn(subject.reason, 'nearest')
  return {
    ...about(subject),
    headline: `no model of backend ${subject.record.backend ?? ''} has the name ${modelOf(subject)}`,
    wouldPass: [
      remedy(
        'client',
        near === null ? 'the client requests a model of the list' : `the client requests the model ${near}`,
      ),
      remedy('config', '`ai.models` has this name, or a pattern that matches it', { place: backendPlace(subject) }),
    ],
  }
}

/** Explains the 404 for a file or a batch that does not exist, or that belongs to another client. */
export const resourceNotFound: ConfigExplainer = (subject) => ({
  headline: subject.record.error ?? 'this client has no such file or batch',
  place: backendPlace(subject),
  values: [value('code', subject.reason.code)],
  wouldPass: [
    remedy('client', 'the client sends the id that the gateway returned, with a key of the same team'),
    remedy('config', '`SESSION_KEY` has the key with which the id was made, and the provider has its former name'),
  ],
})

export const modelNotAllowed: ConfigExplainer = (subject) => ({
  ...about(subject),
  headline: `\`allow\` of the model ${modelOf(subject)} does not admit this client`,
  wouldPass: [
    remedy('client', 'the client requests a model that it may use'),
    remedy('config', '`allow` of the model is true for this client', { place: backendPlace(subject) }),
  ],
})

export const missingModel: ConfigExplainer = (subject) => ({
  ...about(subject),
  headline: `the request names no model, and backend ${subject.record.backend ?? ''} has no model for such requests`,
  wouldPass: [
    remedy('client', 'the client names a model'),
    remedy('config', '`ai.models` has the name `*`, with a provider that sets `model`', {
      place: backendPlace(subject),
    }),
  ],
})

export const noModelTarget: ConfigExplainer = (subject) => {
  const choice = textIn(subject.reason, 'choice') ?? ''
  const { place, values = [] } = about(subject)
  return {
    place,
    values: [...values, value('choice', choice)],
    headline: `no target of the model ${modelOf(subject)} takes the request: ${choice}`,
    wouldPass: [
      remedy('client', '`when` of a target is true for the request, and the client may use the target'),
      remedy('config', 'the model has a target without `when`', { place }),
    ],
  }
}

function about(subject: ConfigSubject): Pick<Findings, 'place' | 'values'> {
  return { place: backendPlace(subject), values: [value('model', textIn(subject.reason, 'model'))] }
}

function modelOf({ reason }: ConfigSubject): string {
  return textIn(reason, 'model') ?? ''
}
