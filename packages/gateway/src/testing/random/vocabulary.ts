import { CONDITIONS, EXPRESSIONS } from './expressions.ts'
import type { Services } from './services.ts'
import type { Vocabulary } from './schema-value.ts'

/** The words that random configs are made of. */
export function vocabularyOf(services: Services): Vocabulary {
  const { hosts, ports, names } = services
  const byPath: Record<string, readonly string[]> = {
    'backendRef.name': names,
    'backendRef.host': hosts,
    'backends[].backend': names,
    'requestMirror.backend': [...names, ...hosts],
    'others[].backend': [...names, ...hosts],
    'static.host': ['127.0.0.1', 'localhost', 'nowhere.test'],
    'provider.host': ['127.0.0.1', 'localhost', 'nowhere.test'],
    'providers[].host': ['127.0.0.1', 'localhost'],
    'openapi.host': ['127.0.0.1', 'localhost'],
    'stdio.cmd': ['false', 'true', '/does/not/exist'],
    'users[].': services.users,
    'basicAuthentication.users[]': services.users,
    'jwks.inline': [services.keySet],
    'jwks.url': services.hosts.map((host) => `http://${host}/jwks`),
    'schema.inline': [services.openapi],
    'allowCidrs[].': ['127.0.0.0/8'],
    'dynamicForwardProxy.allowCidrs[]': ['127.0.0.0/8', '::1/128'],
    'forwardedHeaders.trustedProxies[]': ['127.0.0.1', '127.0.0.0/8', '10.0.0.0/8'],
    'authority.full': ['a.test', 'a.test:8080'],
    'authority.host': ['a.test', '[::1]'],
    'regex.matches[]': ['secret', '[0-9]{3}', '(a+)+$'],
    'value.regex': ['a.*', '[0-9]+', '^$'],
    'path.regex': ['/r[0-9].*', '/r0/(a|b)/.*', '.*'],
    'path.pathPrefix': ['/', '/r0', '/r1/', '/r2/v1', '/%72'],
    'path.exact': ['/', '/r0', '/r1/a'],
    'matches[].method': ['GET', 'POST', 'PURGE'],
    'defaults[].field': ['model', 'temperature', 'metadata', 'max_tokens'],
    'overrides[].field': ['model', 'temperature', 'stream', 'messages'],
    'transformations[].field': ['model', 'temperature', 'user'],
    'include[].path': ['/pets', '/pets/{id}', '/*'],
    'exclude[].path': ['/pets/{id}'],
    'agentCore.agentRuntimeArn': ['arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/agent-1'],
    'azureopenai.endpoint': ['res.openai.azure.com'],
    'providers[].issuer': [services.issuer, 'https://other.test'],
    'authentication.issuer': [services.issuer],
    'mcpAuthentication.issuer': [services.issuer],
    'data{}.keyHash': [`sha256:${'ab'.repeat(32)}`],
    'descriptors[].cost': ['1', 'size(request.body)', 'int(request.headers["x-a"])'],
    'set[].value': [...OFTEN_OF_REQUESTS, ...WORDS],
    'add[].value': [...OFTEN_OF_REQUESTS, ...WORDS],
    'extAuth.path': ['"/check"', 'request.path'],
  }
  return {
    texts(path) {
      const key = path.split('.').at(-1) ?? ''
      if (byPath[path] !== undefined) return byPath[path]
      if (CONDITION_KEYS.test(key)) return CONDITIONS
      return EXPRESSION_KEYS.test(key) ? expressions(path) : (BY_KEY[key.replaceAll('[]', '')] ?? ANYTHING)
    },
    numbers(path) {
      const key = path.split('.').at(-1) ?? ''
      return key === 'port' ? ports : (NUMBERS[key.replaceAll('[]', '')] ?? null)
    },
  }
}

/** Most places know the request alone; the check of the config refuses the rest. */
function expressions(path: string): readonly string[] {
  return path.startsWith('response') || path.startsWith('transformations') ? EXPRESSIONS : OFTEN_OF_REQUESTS
}

const OF_REQUESTS = EXPRESSIONS.filter((text) => !/\b(response|llm|llmRequest|mcp|backend)\./.test(text))
const OFTEN_OF_REQUESTS = [...Array.from({ length: 6 }, () => OF_REQUESTS).flat(), ...EXPRESSIONS]
const CONDITION_KEYS = /^(rules\[\]|allow|deny|require|matchExpressions\[\]|filter|condition|when|unhealthyCondition)$/
const EXPRESSION_KEYS =
  /^(expression|key\[\]|key|cost|body|redirect|requestMetadata\{\}|responseMetadata\{\}|addRequestHeaders\{\}|metadata\{\}|requestAttributes\{\}|responseAttributes\{\}|randomSampling|clientSampling|sampling|metadataContext\{\}\{\})$/
/** Requests have to end while the test waits, whatever the config says. */
const SHORT = ['0s', '1ms', '20ms']
const WORDS = ['a', '1', '', 'alice', 'text with blanks', 'é']
const BY_KEY: Record<string, readonly string[]> = {
  latency: SHORT,
  time: SHORT,
  jitter: SHORT,
  backoff: SHORT,
  retryAfter: SHORT,
  file: ['secret.txt', 'keys.json', 'openapi.json'],
  env: ['SECRET'],
  cert: ['a.test.crt'],
  root: ['ca.crt'],
  ca: ['ca.crt'],
  caCertificateRefs: ['ca.crt'],
  verifySubjectAltNames: ['a.test'],
  sni: ['a.test'],
  audiences: ['portico', 'other'],
  group: ['gateway.networking.k8s.io'],
  allowOrigins: ['*', 'https://a.test', 'http://*.b.test'],
  additionalOrigins: ['https://a.test'],
  allowMethods: ['GET', '*'],
  hostname: ['a.test', '*.test'],
  hostnames: ['a.test', '*.test'],
  protocols: ['websocket'],
  model: ['gpt-test', 'claude', 'm'],
  content: WORDS,
  message: WORDS,
}
const NUMBERS: Record<string, readonly number[]> = {
  attempts: [1, 2, 4],
  tokensPerSecond: [10_000, 100_000],
  codes: [400, 429, 500, 503, 599],
  weight: [0, 1, 7],
}
/** Texts of all the patterns that the schema has. */
const ANYTHING = [
  ...WORDS,
  '1s',
  '50ms',
  '1h30m',
  '0s',
  '1Ki',
  '64',
  '1Mi',
  '16384',
  '65535',
  '/',
  '/a/b',
  '/v1?a=b',
  'x-a',
  'x-user',
  'authorization',
  'content-type',
  'cookie',
  ':path',
  ':status',
  'host',
  'us-east-1',
  'echo',
  'e*',
  'portico',
  'a.b-c',
  'A_B',
  'a.test',
  'http://a.test',
  '12345678',
  'https://a.test/x',
]
