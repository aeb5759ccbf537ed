import type { Passing } from './explanation.ts'
import { type Explainer, numberIn, placeIn, type Subject, textIn, value, way } from './subject.ts'
import { cut } from './words.ts'

/** Decisions of others: authorizers, processors, guards. */

export const extAuth: Explainer = (subject) => {
  const { reason } = subject
  if (reason.code === 'no_decision') {
    return {
      code: 'authorizer_failed',
      headline: `the authorizer could not be asked: ${textIn(reason, 'cause') ?? ''}`,
      place: placeIn(subject, 'backendRef'),
      values: [value('cause', textIn(reason, 'cause')), value('failureMode', textIn(reason, 'failureMode'))],
      wouldPass: [way('backend', 'the authorizer answers'), failOpen(subject)],
    }
  }
  return {
    code: 'authorizer_denied',
    headline: `the authorizer refused it with status ${numberIn(reason, 'status') ?? subject.record.status}`,
    place: placeIn(subject, 'backendRef'),
    values: [value('status', numberIn(reason, 'status'))],
    wouldPass: [way('backend', 'the authorizer allows it')],
  }
}

export const extProc: Explainer = (subject) => {
  const { reason } = subject
  if (reason.code === 'answered') {
    return {
      code: 'processor_answered',
      headline: `the processor answered itself with status ${numberIn(reason, 'status') ?? subject.record.status}`,
      place: placeIn(subject, 'backendRef'),
      values: [value('status', numberIn(reason, 'status')), value('details', textIn(reason, 'details'))],
      wouldPass: [way('backend', 'the processor lets it go on')],
    }
  }
  return {
    code: 'processor_failed',
    headline: `the processor failed: ${textIn(reason, 'cause') ?? ''}`,
    place: placeIn(subject, 'backendRef'),
    values: [value('cause', textIn(reason, 'cause')), value('failureMode', textIn(reason, 'failureMode'))],
    wouldPass: [way('backend', 'the processor works'), failOpen(subject)],
  }
}

function failOpen(subject: Subject): Passing {
  return way('config', '`failureMode` is FailOpen', {
    of: 'failureMode',
    found: textIn(subject.reason, 'failureMode') ?? 'FailClosed',
    relation: 'equals',
    value: 'FailOpen',
    place: placeIn(subject),
  })
}

/** Which guard, where, and what it found; never the text. */
export const guard: Explainer = ({ reason, record, view }) => {
  const phase = textIn(reason, 'phase') === 'response' ? 'response' : 'request'
  const index = numberIn(reason, 'index') ?? 0
  const said = view.said('backend', 'ai', record.keys, null).filter(({ config }) => 'promptGuard' in config)
  const place = view.locate(said.at(-1)?.config, ['promptGuard', phase, index])
  const found = Array.isArray(reason.values['found']) ? reason.values['found'].map(String) : []
  const name = textIn(reason, 'guard') ?? 'guard'
  const why = textIn(reason, 'reason') ?? ''
  const isFailed = reason.code === 'guard_failed'
  const whose = phase === 'request' ? 'what the client said' : 'what the model said'
  return {
    code: `${phase}_${reason.code}`,
    headline: isFailed
      ? `guard ${index} (${name}) of the ${phase} could not judge: ${why}`
      : `guard ${index} (${name}) of the ${phase} refused ${whose}: ${why}`,
    place,
    values: [
      value('guard', name),
      value('phase', phase),
      value('found', found.length === 0 ? null : found),
      value('model', record.llm?.requestModel || null),
    ],
    wouldPass: isFailed
      ? [
          way('backend', `the service behind the guard ${name} answers`),
          way('config', 'the guard may fail open', { place }),
        ]
      : [
          way('client', `the text is without ${found.length === 0 ? 'what the guard found' : cut(found.join(', '))}`),
          way('config', 'the guard lets it pass', { place }),
        ],
  }
}

/** The config itself answered. */
export const ownAnswer: Explainer = (subject) => {
  const { record, reason } = subject
  const what = reason.policy === 'requestRedirect' ? 'is redirected' : 'is answered'
  return {
    code: reason.policy === 'requestRedirect' ? 'redirected' : 'answered_by_config',
    headline: `the request ${what} by ${reason.policy ?? 'the gateway'} with status ${record.status}, as the config says`,
    place: placeIn(subject),
    wouldPass: [way('config', 'the route has no such answer', { place: placeIn(subject) })],
  }
}
