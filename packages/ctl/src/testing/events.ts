import { type Fields, parseEvent, type TraceEvent } from '../trace/event.ts'

/** The request whose events are generated. */
export interface TracedRequest {
  method: string
  host: string
  path: string
  headers: Readonly<Record<string, unknown>>
}

const plainRequest: TracedRequest = {
  method: 'GET',
  host: 'api.example.com',
  path: '/api/users',
  headers: { host: 'api.example.com', authorization: '<redacted>' },
}

/** Returns the trace events of one request, in order. */
export function eventsOf(request: TracedRequest = plainRequest): object[] {
  const state = (changes: object = {}) => ({
    request: { ...request, uri: `http://${request.host}${request.path}`, scheme: 'http', version: 'HTTP/1.1' },
    source: { address: '127.0.0.1', port: 40_000, rawAddress: '127.0.0.1', rawPort: 40_000 },
    env: { podName: '', namespace: '', gateway: 'local' },
    ...changes,
  })
  const rewritten = { request: { ...request, path: '/users', headers: { host: request.host, 'x-added': 'yes' } } }
  const backend = { name: 'users', type: 'static', protocol: 'http' }
  const response = { code: 200, headers: { 'content-type': 'text/plain' } }
  const env = { podName: '', namespace: '', gateway: 'local' }
  const messages: Fields[] = [
    { type: 'requestStarted' },
    { type: 'requestSnapshot', stage: 'initial request', requestState: state() },
    { type: 'requestSnapshot', stage: 'gateway policies', requestState: state() },
    { type: 'routeSelection', selectedRoute: 'api', evaluatedRoutes: ['api', 'other'] },
    { type: 'policySelection', effectivePolicy: { cors: {}, jwt: null, urlRewrite: { path: '/' } } },
    { type: 'policy', kind: 'cors', phase: 'route', result: { type: 'skip', reason: 'no origin header' } },
    { type: 'requestSnapshot', stage: 'route policies', requestState: state(rewritten) },
    { type: 'requestSnapshot', stage: 'final request', requestState: state({ ...rewritten, backend }) },
    { type: 'backendCallStart', target: '127.0.0.1:9000' },
    { type: 'backendCallResult', status: 200, error: null },
    { type: 'responseSnapshot', stage: 'backend response ready', requestState: { response, env } },
    {
      type: 'responseSnapshot',
      stage: 'final response',
      requestState: { response: { ...response, headers: { ...response.headers, 'x-served-by': 'portico' } }, env },
    },
    { type: 'requestFinished', status: 200, error: null },
  ]
  return messages.map((message, at) => ({
    eventStart: message['type'] === 'backendCallResult' ? at * 10 - 5 : null,
    eventEnd: at * 10,
    severity: 'info',
    message,
  }))
}

export function eventFrom(value: unknown): TraceEvent {
  const event = parseEvent(JSON.stringify(value))
  if (event === null) throw new Error('no trace event')
  return event
}

export function messageEvent(message: object): TraceEvent {
  return eventFrom({ eventStart: null, eventEnd: 0, severity: 'info', message })
}
