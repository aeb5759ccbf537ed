import type { HandshakeFailure } from '@portico/http/server'
import type { Passing, SourceLocation } from '../findings/explanation.ts'
import { configured, type Findings, textIn, value, remedy } from '../findings/subject.ts'
import type { ConfigExplainer, ConfigSubject } from './config-view.ts'
import { cut } from '../findings/words.ts'

/** Connections that never got as far as a request. */

export const tlsHandshake: ConfigExplainer = (subject) => {
  const { record, reason } = subject
  const why = record.error ?? ''
  const cause = textIn(reason, 'cause') ?? 'other'
  return {
    code: 'tls_refused',
    headline: `the TLS handshake failed: ${cut(why)}`,
    place: tlsPlace(subject),
    values: [value('sni', record.sni), value('source', record.source), value('error', why)],
    wouldPass: [remedy('client', 'the client agrees with the listener on versions, ciphers and certificates')],
    ...(isHandshakeFailure(cause) && TLS_CAUSES[cause](subject)),
  }
}

type Cause = (subject: ConfigSubject) => Partial<Findings>

const TLS_CAUSES: Readonly<Record<HandshakeFailure, Cause>> = {
  unknown_name: unknownName,
  client_alert: (subject) => ({
    code: 'tls_client_refused',
    wouldPass: [
      remedy('client', 'the client trusts the certificate of the listener'),
      ...inConfig(subject, 'the listener presents a certificate that clients trust'),
    ],
  }),
  client_certificate: (subject) => ({
    code: 'tls_client_certificate',
    wouldPass: [
      remedy('client', 'the client presents a certificate that a trusted CA of the listener signed'),
      ...inConfig(subject, '`tls` of the listener requires no client certificate, or trusts its CA'),
    ],
  }),
  timeout: () => ({
    code: 'tls_timeout',
    wouldPass: [remedy('client', 'the client completes the handshake within `handshakeTimeout`')],
  }),
  not_tls: () => ({ code: 'no_tls', wouldPass: [remedy('client', 'the client speaks TLS on this port (`https://`)')] }),
  no_agreement: (subject) => ({
    code: 'tls_no_agreement',
    wouldPass: [
      remedy('client', 'the client offers a TLS version and a cipher that the listener supports'),
      ...inConfig(subject, '`tls` of the listener allows a TLS version and a cipher that the client offers'),
    ],
  }),
  other: () => ({}),
}

function isHandshakeFailure(text: string): text is HandshakeFailure {
  return Object.hasOwn(TLS_CAUSES, text)
}

function unknownName(subject: ConfigSubject): Partial<Findings> {
  const { record, view } = subject
  const names = view.ir.listeners.map(({ hostname }) => hostname).filter((name) => name !== '')
  const known = [...new Set(names)].slice(0, MOST_NAMES)
  return {
    code: 'tls_unknown_name',
    values: [value('sni', record.sni), configured(subject, 'listeners', known)],
    wouldPass: [
      remedy('client', `the client connects with the server name (SNI) ${known.join(' or ')}`, {
        of: 'sni',
        found: record.sni,
        relation: 'oneOf',
        value: known,
      }),
      remedy('config', `a listener has the hostname ${record.sni ?? ''}`.trim()),
    ],
  }
}

function inConfig(subject: ConfigSubject, text: string): Passing[] {
  const place = tlsPlace(subject)
  return place === null ? [] : [remedy('config', text, { place })]
}

function tlsPlace({ record, view }: ConfigSubject): SourceLocation | null {
  const listener = view.listener(record.keys.listener)
  return view.locate(listener, ['tls']) ?? view.locate(listener)
}

export const badProxyHeader: ConfigExplainer = ({ record, view }) => {
  const held = view.held('frontend', 'proxyProtocol', record.keys, null)
  const place = view.locate(held?.config)
  return {
    headline: 'the connection does not begin with the required PROXY header',
    place,
    values: [value('source', record.source)],
    wouldPass: [
      remedy('client', 'the proxy in front of the gateway sends a PROXY header'),
      remedy('config', '`frontend.proxyProtocol` is not set, or its `mode` is Optional', { place }),
    ],
  }
}

export const sessionLimit: ConfigExplainer = (subject) => {
  const { record, view, reason } = subject
  const field = reason.code === 'max_sessions' ? 'maxSessions' : 'maxSessionsPerAddress'
  const held = view.held('frontend', 'udp', record.keys, null)
  const place = view.locate(held?.config, [field]) ?? view.locate(held?.config)
  const limit = (held?.config as Partial<Record<string, unknown>> | undefined)?.[field] ?? UDP_DEFAULTS[field]
  const whose = field === 'maxSessions' ? 'the port' : 'the address of the client'
  return {
    headline: `the datagram was dropped: ${whose} has as many sessions as it may have`,
    place,
    values: [value('source', record.source), configured(subject, `frontend.udp.${field}`, limit)],
    wouldPass: [
      remedy('client', 'another session of that kind has ended, so that there is room for this one'),
      remedy('config', `\`frontend.udp.${field}\` is higher, or \`frontend.udp.idleTimeout\` is shorter`, { place }),
    ],
  }
}

/** The limits of a config that sets none. */
const UDP_DEFAULTS: Readonly<Record<string, number>> = { maxSessions: 16_384, maxSessionsPerAddress: 1_024 }

const MOST_NAMES = 5
