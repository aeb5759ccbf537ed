import type { Passing, ReadValue, SourceLocation } from '../findings/explanation.ts'
import { routePlace } from './routing.ts'
import { failOpen } from '../findings/fail-open.ts'
import { configured, type Findings, textIn, value, remedy } from '../findings/subject.ts'
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

/** The values of a decision about the endpoint of an inference pool. */
function pickValues({ reason }: ConfigSubject): ReadValue[] {
  return ['cause', 'failureMode', 'picked'].map((name) => value(name, reason.values[name]))
}

function causeIn({ reason }: ConfigSubject): string {
  return cut(textIn(reason, 'cause') ?? '')
}

function withPicker(subject: ConfigSubject, what: string): Passing[] {
  return [...works(what), failOpen(subject)]
}

type Cause = (subject: ConfigSubject, target: string) => Findings

const works = (what: string): Passing[] => [remedy('backend', what)]

const unknown: Cause = ({ record }, target) => ({
  headline: `the call to ${target} failed: ${cut(record.error ?? '')}`,
  wouldPass: works(`${target} answers`),
})

const CAUSES: Readonly<Record<string, Cause>> = {
  dns_failed: ({ record }) => ({
    headline: `the name of backend ${record.backend ?? ''} could not be resolved`,
    wouldPass: works('the host name of the backend can be resolved'),
  }),
  no_endpoints: ({ record }) => ({
    headline: `backend ${record.backend ?? ''} has no healthy endpoint`,
    wouldPass: works('the backend has a healthy endpoint'),
  }),
  no_provider: ({ record }) => ({
    headline: `backend ${record.backend ?? ''} has no healthy provider`,
    wouldPass: works('the backend has a healthy provider'),
  }),
  no_targets: ({ record }) => ({
    headline: `backend ${record.backend ?? ''} has no MCP servers: its selectors match no Service`,
    wouldPass: works('a Service with a port of `appProtocol: portico.dev/mcp` matches the selector of the backend'),
  }),
  picker_failed: (subject) => ({
    headline: `the endpoint picker of ${subject.record.backend ?? 'the pool'} failed: ${causeIn(subject)}`,
    values: pickValues(subject),
    wouldPass: withPicker(subject, 'the endpoint picker works'),
  }),
  no_member_picked: (subject) => ({
    headline: `the endpoint picker of ${subject.record.backend ?? 'the pool'} chose no usable endpoint: ${causeIn(subject)}`,
    values: pickValues(subject),
    wouldPass: withPicker(subject, 'the endpoint picker chooses a member of the pool'),
  }),
  picker_answered: (subject) => ({
    headline: `the endpoint picker of ${subject.record.backend ?? 'the pool'} sent its own response, with status ${subject.record.status}`,
    values: pickValues(subject),
    wouldPass: works('the endpoint picker chooses an endpoint'),
  }),
  endpoint_gone: ({ record }) => ({
    headline: `the endpoint of backend ${record.backend ?? ''} that the session is bound to no longer exists`,
    wouldPass: works('the endpoint exists again'),
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
        ...works(`${target} presents a trusted certificate`),
        ...(place === null ? [] : [remedy('config', '`tls` of the backend trusts the certificate', { place })]),
      ],
    }
  },
  connect_timeout: (subject, target) => {
    const place = policyPlace(subject, 'tcp', 'connectTimeout')
    return {
      headline: `no connection to ${target} could be opened in time`,
      place: place ?? backendPlace(subject),
      wouldPass: [
        ...works(`${target} accepts connections faster`),
        remedy('config', '`connectTimeout` is longer', { place }),
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
        ...(place === null ? [] : [remedy('config', '`requestTimeout` is longer', { of: 'requestTimeout', place })]),
      ],
    }
  },
  connection_lost: ({ record }, target) =>
    record.status === 101
      ? {
          headline: `the tunnel to ${target} failed: ${cut(record.error ?? '')}`,
          wouldPass: works(`${target} completes its response before it closes the connection`),
        }
      : {
          headline: `the connection to ${target} was closed before the response was complete`,
          wouldPass: works(`${target} sends a complete response`),
        },
  stream_error: (subject) => ({
    headline: `${providerOf(subject)} sent an error in its stream: ${cut(subject.record.error ?? '')}`,
    wouldPass: works('the provider answers without an error'),
  }),
  stream_incomplete: (subject) => ({
    headline: `${providerOf(subject)} ended its stream before the response was complete`,
    wouldPass: works('the provider sends a complete stream'),
  }),
  stream_unreadable: (subject) => ({
    headline: `${providerOf(subject)} sent an invalid stream: ${cut(subject.record.error ?? '')}`,
    wouldPass: works('the provider sends a stream in its documented format'),
  }),
  answer_unreadable: (subject) => ({
    headline: `${providerOf(subject)} sent an invalid response`,
    wouldPass: works('the provider sends a response in its documented format'),
  }),
  answer_too_large: (subject) => ({
    headline: `${providerOf(subject)} sent a response that is larger than the buffer limit`,
    wouldPass: [
      ...works('the provider sends a smaller response'),
      remedy('config', '`frontend.http.maxBufferSize` is larger', { of: 'maxBufferSize', place: null }),
    ],
  }),
  provider_redirected: (subject) => ({
    headline: `${providerOf(subject)} answered with a redirect, which is not followed`,
    wouldPass: [
      ...works('the provider responds without a redirect'),
      remedy('config', 'the provider is configured with the host that the redirect names', {
        place: backendPlace(subject),
      }),
    ],
  }),
  bad_response: ({ record }, target) => ({
    headline: `${target} sent an invalid HTTP response: ${cut(record.error ?? '')}`,
    wouldPass: works(`${target} sends valid HTTP`),
  }),
  retry_budget_spent: (subject, target) => ({
    headline: `${target} failed, and the retry budget of backend ${subject.record.backend ?? ''} is spent`,
    place: policyPlace(subject, 'retryBudget') ?? backendPlace(subject),
    wouldPass: [
      ...works(`${target} answers`),
      remedy('config', '`retryBudget` of the backend allows more retries', {
        place: policyPlace(subject, 'retryBudget') ?? backendPlace(subject),
      }),
    ],
  }),
  upgrade_failed: (_, target) => ({
    headline: `${target} accepted the protocol upgrade, but the client had already disconnected`,
    wouldPass: [remedy('client', 'the client stays connected until the upgrade is complete')],
  }),
  address_refused: (subject) => ({
    headline: `the requested destination is not allowed: ${cut(subject.record.error ?? '')}`,
    wouldPass: [
      remedy('client', 'the client requests an address that `allowCidrs` and `ports` allow'),
      remedy('config', 'the backend allows the address', { place: backendPlace(subject) }),
    ],
  }),
  no_valid_backends: (subject) => ({
    headline: `route ${subject.record.route ?? ''} has no usable backend`,
    place: routePlace(subject),
    wouldPass: [remedy('config', 'the route has a backend with a weight above 0', { place: routePlace(subject) })],
  }),
  invalid_backend: (subject) => ({
    headline: `backend ${subject.record.backend ?? ''} cannot be used: ${cut(subject.record.error ?? '')}`,
    wouldPass: [remedy('config', 'the objects that the backend refers to exist', { place: backendPlace(subject) })],
  }),
  request_timeout: (subject) => {
    const { view, record } = subject
    const held = view.held('traffic', 'timeouts', record.keys, 'route')
    const limit = held !== null && 'request' in held.config ? held.config.request : null
    const place = view.locate(held?.config, ['request'])
    return {
      headline: 'the request exceeded its time limit',
      place: place ?? routePlace(subject),
      values: [
        configured(subject, 'timeouts.request', typeof limit === 'number' ? `${limit} ms` : null),
        value('took', `${Math.round(record.took / 1000)} ms`),
      ],
      wouldPass: [
        remedy('backend', 'the backend answers faster'),
        remedy('config', '`timeouts.request` is longer', {
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
function policyPlace({ view, record }: ConfigSubject, policy: string, ...path: string[]): SourceLocation | null {
  const said = view.said('backend', policy, record.keys, null)
  const holder = path.length === 0 ? said.at(-1) : said.findLast(({ config }) => path.every((name) => name in config))
  return view.locate(holder?.config, path)
}

/** The location of the route entry that leads to the backend. */
export function backendPlace(subject: ConfigSubject): SourceLocation | null {
  const { view, record } = subject
  const route = view.route(record.keys.route)
  const index =
    route?.backends.findIndex(({ key, backend }) => [key, backend].includes(record.keys.backend ?? '')) ?? -1
  return index === -1 ? routePlace(subject) : view.locate(route, ['backends', index])
}

/** Explains an attempt that a backend policy did not send. */
export const attemptRefused: ConfigExplainer = (subject) => ({
  code: 'backend_policy_failed',
  headline: `the policy ${subject.reason.policy ?? ''} of backend ${subject.record.backend ?? ''} failed: ${cut(subject.record.error ?? '')}`,
  place: policyPlace(subject, subject.reason.policy ?? '') ?? backendPlace(subject),
  values: [value('error', subject.record.error)],
  wouldPass: [remedy('backend', 'the policy of the backend succeeds')],
})

/** Explains an error status of the backend itself. */
export const backendAnswer: ConfigExplainer = (subject) => {
  const { record } = subject
  return {
    code: 'backend_answered',
    headline: `backend ${record.backend ?? ''} (${record.endpoint ?? ''}) responded with status ${record.status}`,
    place: backendPlace(subject),
    values: [value('endpoint', record.endpoint), value('status', record.status)],
    wouldPass: works('the backend responds with another status'),
  }
}
