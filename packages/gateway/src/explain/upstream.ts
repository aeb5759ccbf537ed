import type { Passing, WrittenPlace } from '../findings/explanation.ts'
import { routePlace } from './routing.ts'
import { configured, type Findings, value, way } from '../findings/subject.ts'
import type { ConfigExplainer, ConfigSubject } from './config-view.ts'
import { cut } from '../findings/words.ts'

/** Explains a failure between the gateway and its backend. */
export const upstream: ConfigExplainer = (subject) => {
  const { record, reason } = subject
  const failed = record.calls?.findLast(({ error }) => error !== null) ?? null
  const tried = record.calls?.length ?? record.attempts
  const last = failed?.target ?? record.endpoint ?? record.backend ?? 'the backend'
  const say = CAUSES[reason.code] ?? unknown
  const retry = tried > 1 ? `, after ${tried} attempts` : ''
  const said = say(subject, last)
  return {
    place: backendPlace(subject),
    ...said,
    headline: `${said.headline}${retry}`,
    values: [
      value('backend', record.backend),
      value('endpoint', record.endpoint),
      value('attempts', record.attempts),
      value('error', failed?.error ?? record.error),
      ...(said.values ?? []),
    ],
  }
}

type Cause = (subject: ConfigSubject, target: string) => Findings

const works = (what: string): Passing[] => [way('backend', what)]

const unknown: Cause = ({ record }, target) => ({
  headline: `the call to ${target} failed: ${cut(record.error ?? '')}`,
  wouldPass: works(`${target} answers`),
})

const CAUSES: Readonly<Record<string, Cause>> = {
  dns_failed: ({ record }) => ({
    headline: `the name of backend ${record.backend ?? ''} could not be resolved`,
    wouldPass: works('name servers know the name'),
  }),
  no_endpoints: ({ record }) => ({
    headline: `backend ${record.backend ?? ''} has no endpoint that is healthy`,
    wouldPass: works('one of its endpoints is there, and healthy'),
  }),
  no_provider: ({ record }) => ({
    headline: `backend ${record.backend ?? ''} has no provider that requests can go to`,
    wouldPass: works('one of its providers is there, and healthy'),
  }),
  no_targets: ({ record }) => ({
    headline: `backend ${record.backend ?? ''} has no MCP servers: its selectors match no Service`,
    wouldPass: works('a Service matches its selector, with a port of `appProtocol: portico.dev/mcp`'),
  }),
  endpoint_gone: ({ record }) => ({
    headline: `the endpoint of backend ${record.backend ?? ''} that was meant is gone`,
    wouldPass: works('the endpoint is there again'),
  }),
  connect_failed: (_, target) => ({
    headline: `no connection to ${target} could be opened`,
    wouldPass: works(`${target} accepts connections`),
  }),
  tls_failed: (subject, target) => {
    const place = policyPlace(subject, 'tls')
    return {
      headline: `TLS with ${target} failed: ${cut(subject.record.error ?? '')}`,
      place: place ?? backendPlace(subject),
      wouldPass: [
        ...works(`${target} shows a certificate that is trusted`),
        ...(place === null ? [] : [way('config', '`tls` of the backend trusts it', { place })]),
      ],
    }
  },
  connect_timeout: (subject, target) => {
    const place = policyPlace(subject, 'tcp', 'connectTimeout')
    return {
      headline: `no connection to ${target} was there in time`,
      place: place ?? backendPlace(subject),
      wouldPass: [
        ...works(`${target} accepts connections faster`),
        way('config', '`connectTimeout` is longer', { place }),
      ],
    }
  },
  response_timeout: (subject, target) => {
    const place = policyPlace(subject, 'http', 'requestTimeout')
    return {
      headline: `${target} did not answer in time`,
      place: place ?? backendPlace(subject),
      wouldPass: [
        ...works(`${target} answers faster`),
        ...(place === null ? [] : [way('config', '`requestTimeout` is longer', { of: 'requestTimeout', place })]),
      ],
    }
  },
  connection_lost: ({ record }, target) =>
    record.status === 101
      ? {
          headline: `the tunnel to ${target} failed: ${cut(record.error ?? '')}`,
          wouldPass: works(`${target} ends what it sends before it closes the connection`),
        }
      : {
          headline: `the connection to ${target} ended before its answer did`,
          wouldPass: works(`${target} answers whole`),
        },
  stream_error: (subject) => ({
    headline: `${providerOf(subject)} sent an error in its stream: ${cut(subject.record.error ?? '')}`,
    wouldPass: works('the provider answers without an error'),
  }),
  stream_incomplete: (subject) => ({
    headline: `${providerOf(subject)} ended its stream before the answer was complete`,
    wouldPass: works('the provider sends the last event of its answer'),
  }),
  stream_unreadable: (subject) => ({
    headline: `${providerOf(subject)} sent a stream that cannot be read: ${cut(subject.record.error ?? '')}`,
    wouldPass: works('the provider sends events of its format'),
  }),
  answer_unreadable: (subject) => ({
    headline: `${providerOf(subject)} sent an answer that cannot be read`,
    wouldPass: works('the provider sends JSON of its format'),
  }),
  answer_too_large: (subject) => ({
    headline: `${providerOf(subject)} sent an answer that is too large to be read`,
    wouldPass: [
      ...works('the provider answers with less'),
      way('config', '`frontend.http.maxBufferSize` is larger', { of: 'maxBufferSize', place: null }),
    ],
  }),
  provider_redirected: (subject) => ({
    headline: `${providerOf(subject)} answered with a redirect, which is not followed`,
    wouldPass: [
      ...works('the provider answers itself'),
      way('config', 'the provider has the host that the redirect names', { place: backendPlace(subject) }),
    ],
  }),
  bad_response: ({ record }, target) => ({
    headline: `${target} answered with something that is no HTTP: ${cut(record.error ?? '')}`,
    wouldPass: works(`${target} answers as HTTP says`),
  }),
  upgrade_failed: (_, target) => ({
    headline: `${target} agreed to change the protocol, but the client could not`,
    wouldPass: [way('client', 'the client stays until the protocol has changed')],
  }),
  address_refused: (subject) => ({
    headline: `the destination that the client named is refused: ${cut(subject.record.error ?? '')}`,
    wouldPass: [
      way('client', 'an address is named that `allowCidrs` and `ports` let pass'),
      way('config', 'the backend allows the address', { place: backendPlace(subject) }),
    ],
  }),
  no_valid_backends: (subject) => ({
    headline: `route ${subject.record.route ?? ''} has no backend that requests can go to`,
    place: routePlace(subject),
    wouldPass: [way('config', 'the route has a backend with a weight above 0', { place: routePlace(subject) })],
  }),
  invalid_backend: (subject) => ({
    headline: `backend ${subject.record.backend ?? ''} cannot be used: ${cut(subject.record.error ?? '')}`,
    wouldPass: [way('config', 'what the backend refers to exists', { place: backendPlace(subject) })],
  }),
  request_timeout: (subject) => {
    const { view, record } = subject
    const held = view.held('traffic', 'timeouts', record.keys, 'route')
    const limit = held !== null && 'request' in held.config ? held.config.request : null
    const place = view.locate(held?.config, ['request'])
    return {
      headline: 'the request took longer than it may',
      place: place ?? routePlace(subject),
      values: [
        configured(subject, 'timeouts.request', typeof limit === 'number' ? `${limit} ms` : null),
        value('took', `${Math.round(record.took / 1000)} ms`),
      ],
      wouldPass: [
        way('backend', 'the backend answers faster'),
        way('config', '`timeouts.request` is longer', {
          of: 'timeouts.request',
          found: typeof limit === 'number' ? limit : null,
          relation: 'greater',
          value: Math.round(record.took / 1000),
          place,
        }),
      ],
    }
  },
}

function providerOf({ record, reason }: ConfigSubject): string {
  const { provider } = reason.values
  return typeof provider === 'string' && provider !== '' ? `provider ${provider}` : `backend ${record.backend ?? ''}`
}

/** The location of a backend policy, or of one of its fields. */
function policyPlace({ view, record }: ConfigSubject, policy: string, ...path: string[]): WrittenPlace | null {
  const said = view.said('backend', policy, record.keys, null)
  const holder = path.length === 0 ? said.at(-1) : said.findLast(({ config }) => path.every((name) => name in config))
  return view.locate(holder?.config, path)
}

/** The location of the route entry that leads to the backend. */
export function backendPlace(subject: ConfigSubject): WrittenPlace | null {
  const { view, record } = subject
  const route = view.route(record.keys.route)
  const index =
    route?.backends.findIndex(({ key, backend }) => [key, backend].includes(record.keys.backend ?? '')) ?? -1
  return index === -1 ? routePlace(subject) : view.locate(route, ['backends', index])
}

/** Explains an attempt that a backend policy did not send. */
export const attemptRefused: ConfigExplainer = (subject) => ({
  code: 'backend_policy_failed',
  headline: `the policy ${subject.reason.policy ?? ''} of backend ${subject.record.backend ?? ''} could not do its work: ${cut(subject.record.error ?? '')}`,
  place: policyPlace(subject, subject.reason.policy ?? '') ?? backendPlace(subject),
  values: [value('error', subject.record.error)],
  wouldPass: [way('backend', 'credentials for the backend can be had')],
})

/** Explains an error status of the backend itself. */
export const backendAnswer: ConfigExplainer = (subject) => {
  const { record } = subject
  return {
    code: 'backend_answered',
    headline: `the backend ${record.backend ?? ''} (${record.endpoint ?? ''}) itself answered ${record.status}`,
    place: backendPlace(subject),
    values: [value('endpoint', record.endpoint), value('status', record.status)],
    wouldPass: works('the backend answers otherwise'),
  }
}
