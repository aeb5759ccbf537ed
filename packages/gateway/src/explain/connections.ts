import type { Passing, WrittenPlace } from '../findings/explanation.ts'
import { configured, type Findings, value, way } from '../findings/subject.ts'
import type { ConfigExplainer, ConfigSubject } from './config-view.ts'
import { cut } from '../findings/words.ts'

/** Connections that never got as far as a request. */

export const tlsHandshake: ConfigExplainer = (subject) => {
  const { record } = subject
  const why = record.error ?? ''
  const [, explained] = TLS_CAUSES.find(([pattern]) => pattern.test(why)) ?? []
  return {
    code: 'tls_refused',
    headline: `the TLS handshake failed: ${cut(why)}`,
    place: tlsPlace(subject),
    values: [value('sni', record.sni), value('source', record.source), value('error', why)],
    wouldPass: [way('client', 'the client agrees with the listener on versions, ciphers and certificates')],
    ...explained?.(subject),
  }
}

type Cause = (subject: ConfigSubject) => Partial<Findings>

/** Causes by the error of the handshake. */
const TLS_CAUSES: readonly (readonly [RegExp, Cause])[] = [
  [/^no listener for /, unknownName],
  [
    /\balert\b/,
    (subject) => ({
      code: 'tls_client_refused',
      wouldPass: [
        way('client', 'it trusts the certificate that the listener shows'),
        ...inConfig(subject, 'the listener shows a certificate that clients trust'),
      ],
    }),
  ],
  [
    /certificate/,
    (subject) => ({
      code: 'tls_client_certificate',
      wouldPass: [
        way('client', 'it shows a certificate that an authority of the listener has signed'),
        ...inConfig(subject, '`tls` of the listener asks for no certificate, or trusts its authority'),
      ],
    }),
  ],
  [
    /timed out/,
    () => ({ code: 'tls_timeout', wouldPass: [way('client', 'the handshake is over within `handshakeTimeout`')] }),
  ],
  [
    /^not a TLS handshake/,
    () => ({ code: 'no_tls', wouldPass: [way('client', 'the client speaks TLS on this port (`https://`)')] }),
  ],
  [
    /version|protocol|cipher|sigalg|group/,
    (subject) => ({
      code: 'tls_no_agreement',
      wouldPass: [
        way('client', 'it offers a version and a cipher that the listener has'),
        ...inConfig(subject, '`tls` of the listener allows what it offers'),
      ],
    }),
  ],
]

function unknownName(subject: ConfigSubject): Partial<Findings> {
  const { record, view } = subject
  const names = view.ir.listeners.map(({ hostname }) => hostname).filter((name) => name !== '')
  const known = [...new Set(names)].slice(0, MOST_NAMES)
  return {
    code: 'tls_unknown_name',
    values: [value('sni', record.sni), configured(subject, 'listeners', known)],
    wouldPass: [
      way('client', `it asks for ${known.join(' or ')}`, {
        of: 'sni',
        found: record.sni,
        relation: 'oneOf',
        value: known,
      }),
      way('config', `a listener has the hostname ${record.sni ?? ''}`.trim()),
    ],
  }
}

function inConfig(subject: ConfigSubject, text: string): Passing[] {
  const place = tlsPlace(subject)
  return place === null ? [] : [way('config', text, { place })]
}

function tlsPlace({ record, view }: ConfigSubject): WrittenPlace | null {
  const listener = view.listener(record.keys.listener)
  return view.locate(listener, ['tls']) ?? view.locate(listener)
}

export const badProxyHeader: ConfigExplainer = ({ record, view }) => {
  const held = view.held('frontend', 'proxyProtocol', record.keys, null)
  const place = view.locate(held?.config)
  return {
    headline: 'the connection did not begin with a PROXY header as it must',
    place,
    values: [value('source', record.source)],
    wouldPass: [
      way('client', 'what stands before the gateway sends a PROXY header'),
      way('config', '`frontend.proxyProtocol` is left out, or has the mode Optional', { place }),
    ],
  }
}

const MOST_NAMES = 5
