import { request } from '../../testing/client.ts'
import { createSigningKey, ISSUER, keySetOf, sign } from '../../testing/services/issuer.ts'
import { httpConfig, routeTo } from '../../testing/scene.ts'
import type { RefusalCase } from './refusal-case.ts'

const key = createSigningKey('main')
const jwtAuthentication = { mode: 'Optional', providers: [{ issuer: ISSUER, jwks: { inline: keySetOf(key) } }] }

function rules(...list: [mode: string, expression: string][]): object {
  return { rules: list.map(([mode, expression]) => ({ [mode]: expression })) }
}

/** A request that these rules refuse. */
function refusedBy(
  authorization: object,
  about: Omit<RefusalCase, 'config' | 'send'>,
  sent: Parameters<typeof request>[1] = {},
): RefusalCase {
  return {
    ...about,
    config: ({ origin }) => httpConfig([routeTo(origin, { jwtAuthentication, authorization })]),
    send: ({ port }) => request(port, sent),
  }
}

export const ruleCases: RefusalCase[] = [
  refusedBy(
    rules(['deny', 'request.path.startsWith("/admin")']),
    {
      name: 'a deny rule that is true',
      code: 'deny_rule_true',
      at: 'deny: request.path.startsWith("/admin")',
      passes: 'request.path does not begin with "/admin" (it is "/admin/x").',
      alsoPass: ['the rule is changed.'],
      values: { 'request.path': '/admin/x' },
    },
    { path: '/admin/x' },
  ),
  refusedBy(rules(['deny', 'jwt.admin == true']), {
    name: 'a deny rule that fails',
    code: 'deny_rule_true',
    at: 'deny: jwt.admin == true',
    passes: 'jwt.admin is not true (it is missing).',
    alsoPass: ['the rule is changed.'],
  }),
  refusedBy(
    rules(['require', 'request.method == "GET"']),
    {
      name: 'a requirement that is false',
      code: 'require_rule_false',
      at: 'require: request.method == "GET"',
      passes: 'request.method is "GET" (it is "POST").',
      alsoPass: ['the rule is changed.'],
    },
    { method: 'POST' },
  ),
  refusedBy(rules(['require', 'has(jwt.sub)']), {
    name: 'a claim that is required and not there',
    code: 'require_rule_false',
    at: 'require: has(jwt.sub)',
    passes: 'jwt.sub is present (it is missing).',
    alsoPass: ['the rule is changed.'],
  }),
  refusedBy(
    rules(['allow', 'request.headers["x-team"] in ["a", "b"]']),
    {
      name: 'the only allow rule is not true',
      code: 'no_allow_rule_true',
      at: 'allow: request.headers["x-team"] in ["a", "b"]',
      passes: 'request.headers.x-team is one of ["a","b"] (it is "c").',
      alsoPass: ['the rule is changed.'],
      values: { 'request.headers["x-team"]': 'c' },
    },
    { headers: { 'x-team': 'c' } },
  ),
  refusedBy(
    rules(['allow', 'request.method == "GET" && request.path == "/open"'], ['allow', 'request.path == "/other"']),
    {
      name: 'none of two allow rules, the nearest first',
      code: 'no_allow_rule_true',
      at: 'allow: request.method == "GET" && request.path == "/open"',
      passes: 'request.path is "/other" (it is "/closed").',
      alsoPass: ['request.method is "GET" (it is "POST"), and request.path is "/open" (it is "/closed").'],
    },
    { method: 'POST', path: '/closed' },
  ),
  refusedBy(
    { action: 'Deny', policy: { matchExpressions: ['request.method == "DELETE"'] } },
    {
      name: 'expressions of one action',
      code: 'deny_rule_true',
      at: 'request.method == "DELETE"',
      passes: 'request.method is not "DELETE" (it is "DELETE").',
      alsoPass: ['the rule is changed.'],
    },
    { method: 'DELETE' },
  ),
  refusedBy(rules(['require', 'default(request.headers["x-team"], "") != ""']), {
    name: 'a header with a default that is not enough',
    code: 'require_rule_false',
    at: 'require: default(request.headers["x-team"], "") != ""',
    passes: 'request.headers.x-team is present (it is missing).',
    alsoPass: ['the rule is changed.'],
  }),
  refusedBy(rules(['allow', 'source.address == "10.1.1.1"']), {
    name: 'an address of the client',
    code: 'no_allow_rule_true',
    at: 'allow: source.address == "10.1.1.1"',
    passes: 'source.address is "10.1.1.1" (it is "127.0.0.1").',
    alsoPass: ['the rule is changed.'],
  }),
  refusedBy(
    rules(['allow', 'request.headers["x-api-key"] == "open sesame"']),
    {
      name: 'a header that is hidden in records',
      code: 'no_allow_rule_true',
      at: 'allow: request.headers["x-api-key"]',
      passes: 'request.headers.x-api-key is "open sesame".',
      alsoPass: ['the rule is changed.'],
      hides: ['my own key'],
    },
    { headers: { 'x-api-key': 'my own key' } },
  ),
  refusedBy(
    rules(['allow', 'size(request.path) < 4']),
    {
      name: 'a rule that only words of its own can tell of',
      code: 'no_allow_rule_true',
      at: 'allow: size(request.path) < 4',
      passes: '`size(request.path) < 4` is true.',
      alsoPass: ['the rule is changed.'],
      values: { 'request.path': '/long/path' },
    },
    { path: '/long/path' },
  ),
  {
    name: 'claims of a token',
    config: ({ origin }) =>
      httpConfig([
        routeTo(origin, {
          jwtAuthentication,
          authorization: rules(['require', '"admin" in jwt.groups'], ['require', 'jwt.level >= 3']),
        }),
      ]),
    send: async ({ port }) => {
      const token = await sign(key, { groups: ['dev'], level: 2 })
      return request(port, { headers: { authorization: `Bearer ${token}` } })
    },
    code: 'require_rule_false',
    at: 'require: \'"admin" in jwt.groups\'',
    passes: 'jwt.groups has "admin" (it is ["dev"]), and jwt.level is at least 3 (it is 2).',
    values: { 'jwt.groups': ['dev'], 'jwt.level': 2 },
  },
  {
    name: 'a rule of a policy that is attached from the list',
    config: ({ origin }) => ({
      ...httpConfig([routeTo(origin, {}, { name: 'shop' })]),
      policies: [
        {
          name: 'no-robots',
          targetRefs: [{ kind: 'Route', name: 'shop' }],
          traffic: { authorization: rules(['deny', 'request.headers["user-agent"].contains("bot")']) },
        },
      ],
    }),
    send: ({ port }) => request(port, { headers: { 'user-agent': 'a bot' } }),
    code: 'deny_rule_true',
    at: 'deny: request.headers["user-agent"].contains("bot")',
    passes: 'request.headers.user-agent does not have "bot" (it is "a bot").',
    alsoPass: ['the rule is changed.'],
  },
  {
    name: 'a rule of the listener, before a route is chosen',
    config: ({ origin }) =>
      httpConfig([routeTo(origin)], {
        listener: {
          policies: { phase: 'PreRouting', authorization: rules(['deny', 'request.path == "/nowhere"']) },
        },
      }),
    send: ({ port }) => request(port, { path: '/nowhere' }),
    code: 'deny_rule_true',
    at: 'deny: request.path == "/nowhere"',
    passes: 'request.path is not "/nowhere" (it is "/nowhere").',
    alsoPass: ['the rule is changed.'],
  },
  {
    name: 'rules of the listener and of the route together',
    config: ({ origin }) =>
      httpConfig([routeTo(origin, { authorization: rules(['require', 'request.method == "PUT"']) })], {
        listener: { policies: { authorization: rules(['require', 'request.method != "TRACE"']) } },
      }),
    send: ({ port }) => request(port),
    code: 'require_rule_false',
    at: 'require: request.method == "PUT"',
    passes: 'request.method is "PUT" (it is "GET").',
    alsoPass: ['the rule is changed.'],
  },
]
