import { request, sendRaw } from '../../testing/client.ts'
import { httpConfig, routeTo } from '../../testing/scene.ts'
import type { RefusalCase } from './refusal-case.ts'

const cors = { allowOrigins: ['https://app.test'], allowMethods: ['GET'], allowHeaders: ['x-known'] }

function preflight(headers: Record<string, string>): RefusalCase['send'] {
  const asked = { origin: 'https://app.test', 'access-control-request-method': 'GET', ...headers }
  return ({ port }) => request(port, { method: 'OPTIONS', headers: asked })
}

const withCors: RefusalCase['config'] = ({ origin }) => httpConfig([routeTo(origin, { cors })])
const withCsrf: RefusalCase['config'] = ({ origin }) =>
  httpConfig([routeTo(origin, { csrf: { additionalOrigins: ['https://app.test'] } })])

export const browserCases: RefusalCase[] = [
  {
    name: 'a page of another site',
    config: withCsrf,
    send: ({ port }) => request(port, { method: 'POST', headers: { origin: 'https://evil.test' } }),
    code: 'csrf_cross_origin',
    at: 'csrf',
    passes: 'a page of http://test.example or https://app.test sends the request.',
    alsoPass: ['`additionalOrigins` contains https://evil.test.'],
    values: { 'request.headers.origin': 'https://evil.test' },
  },
  {
    name: 'a page of another site that does not say which',
    config: ({ origin }) => httpConfig([routeTo(origin, { csrf: {} })]),
    send: ({ port }) => request(port, { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } }),
    code: 'csrf_cross_origin',
    at: 'csrf',
    says: /sec-fetch-site is cross-site/,
    passes: 'a page of http://test.example sends the request.',
    alsoPass: [],
  },
  {
    name: 'a page that says two things of itself',
    config: withCsrf,
    send: ({ port }) =>
      sendRaw(port, 'POST / HTTP/1.1\r\nhost: a\r\norigin: http://a\r\norigin: http://b\r\ncontent-length: 0\r\n\r\n'),
    code: 'csrf_contradictory',
    at: 'csrf',
    passes: 'the client sends each of these headers once.',
  },
  {
    name: 'a preflight of an origin that is not allowed',
    config: withCors,
    send: preflight({ origin: 'https://evil.test' }),
    code: 'cors_origin',
    at: 'allowOrigins',
    passes: '`allowOrigins` contains https://evil.test.',
    alsoPass: ['the request uses https://app.test.'],
    values: { 'request.headers.origin': 'https://evil.test' },
  },
  {
    name: 'a preflight for a method that is not allowed',
    config: withCors,
    send: preflight({ 'access-control-request-method': 'DELETE' }),
    code: 'cors_method',
    at: 'allowMethods',
    passes: '`allowMethods` contains DELETE.',
    alsoPass: ['the request uses GET.'],
  },
  {
    name: 'a preflight for a header that is not allowed',
    config: withCors,
    send: preflight({ 'access-control-request-headers': 'x-known, x-other' }),
    code: 'cors_headers',
    at: 'allowHeaders',
    passes: '`allowHeaders` contains x-known, x-other.',
    alsoPass: ['the request uses x-known.'],
  },
  {
    name: 'a preflight for a header where none is allowed',
    config: ({ origin }) => httpConfig([routeTo(origin, { cors: { allowOrigins: ['https://app.test'] } })]),
    send: preflight({ 'access-control-request-headers': 'x-other' }),
    code: 'cors_headers',
    at: 'cors',
    passes: '`allowHeaders` contains x-other.',
    alsoPass: [],
  },
]
