// The scenarios. `kind` names the file of kinds/ that runs one; `rps` is per client (32 clients) at the fixed load.

const MANY = 10_000

/** The size of a large body. */
export const BULK_BYTES = 50_000_000

// Paths spread over the whole list, so that neither the first nor the last routes are favored.
const manyPaths = Array.from({ length: 100 }, (_, i) => `/r${i * 100 + 37}/x`)

/**
 * @typedef {{ name: string, title: string, kind: 'load' | 'bulk' | 'idle' | 'reload' | 'rest' | 'slow' | 'start' | 'stream' | 'tools',
 *   protocol?: 'http' | 'https' | 'h2c' | 'h2', paths?: string[], body?: number, secured?: boolean, logs?: boolean, rps?: number, crowd?: number,
 *   paceMs?: number, perSecond?: number, bars?: Bar[], also?: string[], variants?: { peer: string, label: string, routes?: number, chat?: Chat,
 *   tools?: boolean, workers?: number, keys?: number, rules?: Rules, extension?: Extension, backend?: SecureBackend }[] }} Scenario
 *   `also`: peers that are only measured when named; `paceMs`: time between two events of a stream, 0 for all at once; `perSecond`: streams that begin each second in all, as many as fit when left out; `tools`: the origin is an MCP server; `keys`: a local rate limit with this many keys in use; `rules`: the mode of `authorization`; `extension`: the proxy calls further services; `backend`: the backend is called with TLS or through HBONE
 * @typedef {'Enforce' | 'Shadow'} Rules
 * @typedef {'extAuthGrpc' | 'extAuthHttp' | 'globalLimit' | 'otlpLog' | 'tracing' | 'tracingSome' | 'extProc' | 'picker' | 'recorderOff'} Extension
 * @typedef {'tls' | 'hbone'} SecureBackend
 * @typedef {{ client: import('./chat.mjs').ChatFormat, provider?: 'openai' | 'anthropic', cache?: 'hit' | 'miss', spend?: 'embedded' | 'redis', stored?: number }} Chat
 *   the format of the client, and the provider that the origin imitates; without a provider it is a plain origin; `cache`: whether the response cache has the answer; `spend`: the client has a key of the gateway's with a budget, and each call is charged; `stored`: the requests use this many keys of the store in turn
 * @typedef {{ ratio?: number, time?: number, readyMs?: number, overEmptyMb?: number, furtherWorkerMb?: number, effectiveMs?: number, growth?: number, againstBefore?: number, of?: string, to?: string, beyond?: string, saturated?: boolean }} Bar
 *   Limits of Portico (or the row `of`) relative to nginx (or the row `to`), at the fixed load unless `saturated`, and of what they take beyond the row `beyond`. `time`: ratio of the time of one request; `effectiveMs`: from a changed config to the first response that shows it; `growth`: ratio of memory after and before many changes; `againstBefore`: ratio of CPU after and before a rest; `overEmptyMb`: memory beyond that of an empty program of the same runtime
 */

const PLAIN = { peer: 'portico', label: 'portico, plain route', chat: { client: 'completions' } }
const NATIVE = { peer: 'portico', label: 'portico, native', chat: { client: 'completions', provider: 'openai' } }
const HIT = { peer: 'portico', label: 'portico, cache hit', chat: { ...NATIVE.chat, cache: 'hit' } }
const MISS = { peer: 'portico', label: 'portico, cache miss', chat: { ...NATIVE.chat, cache: 'miss' } }
const FREE = { ...NATIVE, label: 'portico, no keys' }
const SPENT = {
  peer: 'portico',
  label: 'portico, key, budget, ledger',
  chat: { ...NATIVE.chat, spend: 'embedded' },
}
const SPENT_IN_REDIS = { ...SPENT, label: 'portico, with Redis', chat: { ...NATIVE.chat, spend: 'redis' } }
const FEW_KEYS = { ...NATIVE, label: 'portico, 100 stored keys', chat: { ...NATIVE.chat, stored: 100 } }
const MANY_KEYS = { ...NATIVE, label: 'portico, 100,000 stored keys', chat: { ...NATIVE.chat, stored: 100_000 } }
const BIFROST_SPENT = { ...SPENT, peer: 'bifrost', label: 'bifrost, key, budget' }
const LITELLM_SPENT = { peer: 'litellm', label: 'litellm, no keys', chat: NATIVE.chat }
const TO_OPENAI = {
  peer: 'portico',
  label: 'portico, Messages to Completions',
  chat: { client: 'messages', provider: 'openai' },
}
const TO_ANTHROPIC = {
  peer: 'portico',
  label: 'portico, Completions to Messages',
  chat: { client: 'completions', provider: 'anthropic' },
}
const PORTKEY = { peer: 'portkey', label: 'portkey', chat: { client: 'completions', provider: 'openai' } }
/** Peers that are measured when they are installed. */
const OTHERS = ['agentgateway', 'bifrost', 'litellm'].map((peer) => ({ ...PORTKEY, peer, label: peer }))
const NGINX = { peer: 'nginx', label: 'nginx', chat: { client: 'completions' } }
const FORWARDER = { peer: 'forwarder', label: 'byte forwarder', chat: { client: 'completions' } }

const EMPTY = { peer: 'empty', label: 'empty' }

/** The memory some seconds after a load. */
function rest(name, load, protocol, chat) {
  const variants = [EMPTY, { peer: 'portico', label: 'portico', chat }]
  return {
    name: `rest-${name}`,
    title: `10 s after 8 s of ${load}`,
    kind: 'rest',
    protocol,
    rps: name === 'get' ? 250 : 125,
    variants,
    bars: [{ overEmptyMb: 60 }, { againstBefore: 1.1 }],
  }
}

/** Transfers of 50 MB in each direction; nginx streams them, as Portico does. */
function bulk(name, version, protocol) {
  const variants = ['nginx', 'portico'].map((peer) => ({ peer, label: peer }))
  const common = { kind: 'bulk', protocol, variants, bars: [{ ratio: 2.5 }, { time: 1.5 }] }
  return [
    { ...common, name: `up-${name}`, title: `50 MB up, ${version}`, body: BULK_BYTES, paths: ['/'] },
    { ...common, name: `down-${name}`, title: `50 MB down, ${version}`, paths: ['/bulk'] },
  ]
}

/** Each request calls another service, which Envoy calls too. */
function asked(name, title, extension, ratio) {
  return {
    name,
    title,
    kind: 'load',
    rps: 125,
    variants: ['envoy', 'portico'].map((peer) => ({ peer, label: peer, extension })),
    bars: [{ ratio, of: 'portico', to: 'envoy' }],
  }
}

/** Each request is exported, compared with and without; the cost for Envoy is listed beside it. */
function told(name, title, extension, ratio) {
  const variants = ['envoy', 'portico'].flatMap((peer) => [
    { peer, label: `${peer}, without` },
    { peer, label: `${peer}, with`, extension },
  ])
  const bars = [{ ratio, of: 'portico, with', to: 'portico, without' }]
  return { name, title, kind: 'load', rps: 250, variants, bars }
}

/** @type {Scenario[]} */
export const scenarios = [
  { name: 'get', title: 'plain GET 53 B', kind: 'load', rps: 250, bars: [{ ratio: 1.4 }] },
  {
    name: 'get-logs',
    title: 'plain GET 53 B, access logs on',
    kind: 'load',
    rps: 250,
    logs: true,
    variants: ['nginx', 'portico'].map((peer) => ({ peer, label: peer })),
    bars: [{ ratio: 1.6 }],
  },
  { name: 'post', title: 'POST 1 KiB', kind: 'load', rps: 250, body: 1024 },
  { name: '64k', title: '64 KiB reply', kind: 'load', rps: 64, paths: ['/64k.bin'] },
  { name: '1m', title: '1 MiB reply', kind: 'load', rps: 4, paths: ['/1m.bin'] },
  { name: 'tls', title: 'TLS 1.3, HTTP/1.1', kind: 'load', protocol: 'https', rps: 125, bars: [{ ratio: 1.6 }] },
  { name: 'h2c', title: 'h2c in, HTTP/1.1 out', kind: 'load', protocol: 'h2c', rps: 125, bars: [{ ratio: 2.2 }] },
  {
    name: 'policies',
    title: 'JWT, CEL rule, local limit',
    kind: 'load',
    rps: 250,
    // nginx forwards the same requests without checking the token.
    secured: true,
    variants: [
      { peer: 'nginx', label: 'nginx', routes: 1 },
      { peer: 'portico', label: 'portico', routes: 1 },
    ],
    bars: [{ ratio: 2 }],
  },
  {
    name: 'keys',
    title: 'local limit by key',
    kind: 'load',
    rps: 250,
    variants: [
      { peer: 'portico', label: 'portico, 1 key', keys: 1 },
      { peer: 'portico', label: 'portico, 100,000 keys', keys: 100_000 },
    ],
    bars: [{ ratio: 1.1, of: 'portico, 100,000 keys', to: 'portico, 1 key' }],
  },
  {
    name: 'shadow',
    title: 'plain GET 53 B, rules held and in a shadow',
    kind: 'load',
    rps: 250,
    variants: [
      { peer: 'portico', label: 'portico, enforced', rules: 'Enforce' },
      { peer: 'portico', label: 'portico, shadow', rules: 'Shadow' },
    ],
    bars: [{ ratio: 1.05, of: 'portico, shadow', to: 'portico, enforced' }],
  },
  asked('extauth-grpc', 'extAuth by gRPC', 'extAuthGrpc', 1),
  asked('extauth-http', 'extAuth by HTTP', 'extAuthHttp', 1),
  asked('extproc', 'extProc, headers only', 'extProc', 1.2),
  {
    name: 'picker',
    title: 'endpoint picker',
    kind: 'load',
    rps: 125,
    variants: [
      { peer: 'portico', label: 'portico, no call' },
      { peer: 'portico', label: 'portico, extProc', extension: 'extProc' },
      { peer: 'portico', label: 'portico, picker', extension: 'picker' },
    ],
    bars: [{ ratio: 1.3, of: 'portico, picker', to: 'portico, extProc', beyond: 'portico, no call' }],
  },
  {
    name: 'hbone',
    title: 'plain GET 53 B, backend in a mesh',
    kind: 'load',
    rps: 125,
    variants: [
      { peer: 'portico', label: 'portico, plain backend' },
      { peer: 'portico', label: 'portico, TLS backend', backend: 'tls' },
      { peer: 'portico', label: 'portico, HBONE backend', backend: 'hbone' },
    ],
    bars: [{ ratio: 1.3, of: 'portico, HBONE backend', to: 'portico, TLS backend' }],
  },
  asked('global-limit', 'limit by a server', 'globalLimit', 1),
  {
    name: 'recorder',
    title: 'plain GET 53 B, recorder',
    kind: 'load',
    rps: 250,
    variants: [
      { peer: 'portico', label: 'portico, recorder off', extension: 'recorderOff' },
      { peer: 'portico', label: 'portico, recorder on' },
    ],
    bars: [{ ratio: 1.05, of: 'portico, recorder on', to: 'portico, recorder off' }],
  },
  {
    name: 'live-tail',
    title: 'plain GET 53 B, a live tail of all requests',
    kind: 'load',
    rps: 250,
    variants: [
      { peer: 'portico', label: 'portico, no tail' },
      { peer: 'portico', label: 'portico, a tail open', tail: true },
    ],
    bars: [{ ratio: 1.05, of: 'portico, a tail open', to: 'portico, no tail' }],
  },
  told('accesslog-otlp', 'access log by OTLP', 'otlpLog', 1.15),
  told('tracing', 'spans of all requests', 'tracing', 1.35),
  told('tracing-some', 'spans of 1 % of requests', 'tracingSome', 1.05),
  {
    name: 'routes',
    title: '10,000 routes',
    kind: 'load',
    rps: 250,
    paths: manyPaths,
    variants: [
      { peer: 'nginx', label: 'nginx, 10,000', routes: MANY },
      { peer: 'portico', label: 'portico, 1', routes: 1 },
      { peer: 'portico', label: 'portico, 10,000', routes: MANY },
    ],
    bars: [{ ratio: 1.1, of: 'portico, 10,000', to: 'portico, 1' }],
  },
  { name: 'idle1000', title: 'GET beside 1,000 idle', kind: 'idle', rps: 250, crowd: 1000 },
  { name: 'idle5000', title: 'GET beside 5,000 idle', kind: 'idle', rps: 250, crowd: 5000 },
  { name: 'slow', title: 'GET beside 64 slow readers of 16 MiB', kind: 'slow', rps: 30, crowd: 64 },
  {
    name: 'chat',
    title: 'chat completion, 300 B in, 400 B out',
    kind: 'load',
    rps: 125,
    variants: [PLAIN, NATIVE, TO_OPENAI, TO_ANTHROPIC, PORTKEY, ...OTHERS],
    bars: [
      { ratio: 2, of: NATIVE.label, to: PLAIN.label },
      { ratio: 3, of: TO_OPENAI.label, to: PLAIN.label },
      { ratio: 3, of: TO_ANTHROPIC.label, to: PLAIN.label },
      // Portkey is saturated long before the fixed load, so only saturation is comparable.
      { ratio: 0.1, of: NATIVE.label, to: PORTKEY.label, saturated: true },
      ...[NATIVE, TO_OPENAI, TO_ANTHROPIC].flatMap(({ label }) => {
        const bar = { ratio: 0.8, of: label, to: label.replace('portico', 'before') }
        return [bar, { ...bar, saturated: true }]
      }),
    ],
  },
  {
    name: 'chat-cache',
    title: 'chat completion with a response cache, 300 B in, 400 B out',
    kind: 'load',
    rps: 125,
    variants: [MISS, HIT],
    bars: [{ ratio: 0.7, of: HIT.label, to: MISS.label }],
  },
  {
    name: 'chat-spend',
    title: 'chat completion charged to a key, 300 B in, 400 B out',
    kind: 'load',
    rps: 60,
    variants: [FREE, SPENT, SPENT_IN_REDIS, BIFROST_SPENT, LITELLM_SPENT],
    bars: [
      { ratio: 1.25, of: SPENT.label, to: FREE.label },
      { ratio: 1.6, of: SPENT_IN_REDIS.label, to: FREE.label },
      { ratio: 0.3, of: SPENT.label, to: BIFROST_SPENT.label },
      // Both proxies are compared at saturation, because LiteLLM cannot serve the fixed load.
      { ratio: 0.02, of: SPENT.label, to: LITELLM_SPENT.label, saturated: true },
    ],
  },
  {
    name: 'chat-keys',
    title: 'chat completion with keys of the store in turn, 300 B in, 400 B out',
    kind: 'load',
    rps: 60,
    variants: [FEW_KEYS, MANY_KEYS],
    // Saturation is compared, because at the fixed load all connections use the same key at nearly the same time.
    bars: [{ ratio: 1.05, of: MANY_KEYS.label, to: FEW_KEYS.label, saturated: true }],
  },
  {
    name: 'stream',
    title: '32 streams of 100 events, one each 5 ms; per event',
    kind: 'stream',
    crowd: 32,
    paceMs: 5,
    variants: [NGINX, FORWARDER, PLAIN, NATIVE, TO_OPENAI, TO_ANTHROPIC, ...OTHERS],
    bars: [
      { ratio: 1.2, of: NATIVE.label, to: FORWARDER.label },
      { ratio: 1.8, of: NATIVE.label },
      { ratio: 2.5, of: TO_OPENAI.label, to: FORWARDER.label },
      { ratio: 2.5, of: TO_ANTHROPIC.label, to: FORWARDER.label },
    ],
  },
  {
    name: 'stream-burst',
    title: '200 streams a second of 100 events, all at once; per event',
    kind: 'stream',
    crowd: 8,
    paceMs: 0,
    perSecond: 200,
    variants: [NGINX, FORWARDER, NATIVE, ...OTHERS],
    bars: [],
  },
  {
    name: 'stream-few',
    title: '4 streams a second of 100 events, one each 5 ms; per event',
    kind: 'stream',
    crowd: 4,
    paceMs: 5,
    perSecond: 4,
    variants: [NGINX, FORWARDER, NATIVE, ...OTHERS],
    bars: [{ ratio: 1.1, of: NATIVE.label, to: FORWARDER.label }],
  },
  {
    name: 'mcp',
    title: 'tools/call echo, one Streamable HTTP target',
    kind: 'tools',
    // The number of sessions, each with its own connection.
    crowd: 8,
    rps: 250,
    variants: [
      { peer: 'portico', label: 'portico, plain route' },
      { peer: 'portico', label: 'portico, MCP', tools: true },
      { peer: 'supergateway', label: 'supergateway', tools: true },
      { peer: 'mcp-proxy', label: 'mcp-proxy', tools: true },
    ],
    bars: [{ ratio: 3, of: 'portico, MCP', to: 'portico, plain route' }],
  },
  ...bulk('h1', 'HTTP/1.1', 'http'),
  ...bulk('tls', 'HTTP/1.1 over TLS', 'https'),
  ...bulk('h2', 'HTTP/2 over TLS', 'h2'),
  ...bulk('h2c', 'h2c', 'h2c'),
  {
    name: 'start',
    title: 'start, one worker, idle',
    kind: 'start',
    also: ['empty', 'bifrost', 'litellm'],
    bars: [{ readyMs: 250 }, { overEmptyMb: 25 }],
  },
  {
    name: 'workers',
    title: 'idle, one worker and three',
    kind: 'start',
    variants: [
      { peer: 'empty', label: 'empty, 1' },
      { peer: 'empty', label: 'empty, 3', workers: 3 },
      { peer: 'portico', label: 'portico, 1' },
      { peer: 'portico', label: 'portico, 3', workers: 3 },
    ],
    bars: [{ furtherWorkerMb: 5 }],
  },
  {
    name: 'start5000',
    title: 'start, 5,000 routes, idle',
    kind: 'start',
    variants: [
      EMPTY,
      { peer: 'nginx', label: 'nginx', routes: 5_000 },
      { peer: 'portico', label: 'portico', routes: 5_000 },
    ],
    bars: [{ readyMs: 600 }, { overEmptyMb: 60 }],
  },
  rest('get', 'plain GET', 'http'),
  rest('tls', 'TLS', 'https'),
  rest('h2c', 'h2c', 'h2c'),
  rest('chat', 'chat completions', 'http', NATIVE.chat),
  {
    name: 'reload',
    title: 'one route changed, in place; to the first answer',
    kind: 'reload',
    variants: [
      { peer: 'portico', label: 'portico, 1 route', routes: 1 },
      { peer: 'portico', label: 'portico, 5,000 routes', routes: 5_000 },
    ],
    bars: [
      { effectiveMs: 60, of: 'portico, 1 route' },
      { effectiveMs: 150, growth: 1.15, of: 'portico, 5,000 routes' },
    ],
  },
]

/** Names that select a group of scenarios. */
export const groups = {
  /** The scenarios that compare Portico with compiled gateways. */
  'last-rows': ['get', 'tls', 'h2c', 'chat', 'stream-burst', 'stream', 'stream-few', 'start', 'start5000', 'reload'],
}
