import { configured, type Findings, textIn, value, remedy } from '../findings/subject.ts'
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
    headline: `a policy reads the whole ${which} body, and this body is larger than the buffer limit`,
    place: place ?? routePlace(subject),
    values: [
      value(`${which}.bytes`, which === 'request' ? record.bytesIn : record.bytesOut),
      configured(subject, 'limit', http !== null && 'maxBufferSize' in http.config ? http.config.maxBufferSize : null),
    ],
    wouldPass: [
      remedy(by, 'the body is smaller'),
      remedy('config', '`frontend.http.maxBufferSize` is larger', { of: 'maxBufferSize', place }),
    ],
  }
}

/** Broken HTTP: there was no request yet. */
const tunnelRefusals: Readonly<Record<string, Findings>> = {
  hbone_not_connect: {
    headline: 'the mesh peer sent a request that is not CONNECT to the HBONE listener',
    wouldPass: [remedy('client', 'the peer opens a tunnel with CONNECT, and sends the request inside')],
  },
  hbone_no_listener: {
    headline: 'the tunnel of the mesh peer names a port on which no HTTP listener is',
    wouldPass: [
      remedy('client', 'the peer names the port of an HTTP listener of this gateway'),
      remedy('config', 'an HTTP listener has the port'),
    ],
  },
  hbone_denied: {
    headline: 'the network rules deny the mesh peer',
    wouldPass: [remedy('config', '`frontend.networkAuthorization` admits the peer')],
  },
  hbone_full: {
    headline: 'the port that the tunnel leads to has too many connections',
    wouldPass: [remedy('config', '`frontend.tcp.maxConnections` is higher')],
  },
  hbone_loop: {
    headline: 'the tunnel has passed this gateway too often',
    wouldPass: [remedy('config', 'no backend of the gateway leads back to it')],
  },
}

/** A message that is no request, or a tunnel that was refused. */
export const malformed: ConfigExplainer = (subject) => {
  const refused = tunnelRefusals[subject.record.error ?? '']
  if (refused === undefined) return malformedHttp(subject)
  return { code: subject.record.error ?? '', values: [value('status', subject.record.status)], ...refused }
}

const malformedHttp: ConfigExplainer = ({ record, reason }) => ({
  code: record.method === null ? `malformed_${record.error ?? reason.code}` : reason.code,
  headline: `the client sent an invalid HTTP message: ${cut(record.error ?? reason.code)}`,
  values: [value('error', record.error), value('status', record.status)],
  wouldPass: [remedy('client', 'the client sends a valid HTTP message')],
})

/** A call to a model that no format or provider understands. */
export const badCall: ConfigExplainer = (subject) => ({
  code: reasonCode(subject),
  headline: cut(subject.record.error ?? 'the request cannot be understood'),
  place: routePlace(subject),
  values: [value('field', textIn(subject.reason, 'field')), value('model', subject.record.llm?.requestModel || null)],
  wouldPass: [remedy('client', 'the client sends a request that the backend supports')],
})

function reasonCode({ reason }: ConfigSubject): string {
  return reason.code === 'invalid_request' ? 'bad_model_request' : reason.code
}

export const internal: ConfigExplainer = () => ({
  headline: 'internal error of the gateway: its log has the details',
  wouldPass: [],
})

export const clientGone: ConfigExplainer = ({ record }) => ({
  code: 'client_gone',
  headline: `the client disconnected before the response was complete: ${cut(record.error ?? '')}`,
  wouldPass: [remedy('client', 'the client waits for the response')],
})
