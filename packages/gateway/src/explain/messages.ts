import { configured, textIn, value, way } from '../findings/subject.ts'
import type { ConfigExplainer, ConfigSubject } from './config-view.ts'
import { routePlace } from './routing.ts'
import { cut } from '../findings/words.ts'

/** Messages that the gateway could not, or would not, read. */

export const requestTooLarge: ConfigExplainer = (subject) => tooLarge(subject, 'request')
export const responseTooLarge: ConfigExplainer = (subject) => tooLarge(subject, 'response')

function tooLarge(subject: ConfigSubject, which: 'request' | 'response') {
  const { view, record } = subject
  const http = view.held('frontend', 'http', record.keys, null)
  const place = http !== null && 'maxBufferSize' in http.config ? view.locate(http.config, ['maxBufferSize']) : null
  const by = which === 'request' ? ('client' as const) : ('backend' as const)
  return {
    headline: `a policy reads the whole ${which} body, and this one is larger than may be kept`,
    place: place ?? routePlace(subject),
    values: [
      value(`${which}.bytes`, which === 'request' ? record.bytesIn : record.bytesOut),
      configured(subject, 'limit', http !== null && 'maxBufferSize' in http.config ? http.config.maxBufferSize : null),
    ],
    wouldPass: [
      way(by, 'the body is smaller'),
      way('config', '`frontend.http.maxBufferSize` is larger', { of: 'maxBufferSize', place }),
    ],
  }
}

/** Broken HTTP: there was no request yet. */
export const malformed: ConfigExplainer = ({ record, reason }) => ({
  code: record.method === null ? `malformed_${record.error ?? reason.code}` : reason.code,
  headline: `what the client sent is no HTTP that the gateway accepts: ${cut(record.error ?? reason.code)}`,
  values: [value('error', record.error), value('status', record.status)],
  wouldPass: [way('client', 'the message keeps to the rules of HTTP')],
})

/** A call to a model that no format or provider understands. */
export const badCall: ConfigExplainer = (subject) => ({
  code: reasonCode(subject),
  headline: cut(subject.record.error ?? 'the request cannot be understood'),
  place: routePlace(subject),
  values: [value('field', textIn(subject.reason, 'field')), value('model', subject.record.llm?.requestModel || null)],
  wouldPass: [way('client', 'the request is one that the backend understands')],
})

function reasonCode({ reason }: ConfigSubject): string {
  return reason.code === 'invalid_request' ? 'bad_model_request' : reason.code
}

export const internal: ConfigExplainer = () => ({
  headline: 'a bug in the gateway: its log has the error',
  wouldPass: [],
})

export const clientGone: ConfigExplainer = ({ record }) => ({
  code: 'client_gone',
  headline: `the client left before the answer was whole: ${cut(record.error ?? '')}`,
  wouldPass: [way('client', 'the client waits')],
})
