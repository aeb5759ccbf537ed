import type { Field } from '../core/yaml-field.ts'
import { authorization } from './policies/authorization.ts'
import { type Effects, type PolicyTable, reader, readPolicies } from './policies/effects.ts'
import { keepalive } from './policies/timing.ts'
import { accessLog, tracing } from './telemetry.ts'
import { capitalized, choice, list, mapping, type Members, missing, scalar, type Scope } from './values/convert.ts'

const HTTP_MEMBERS = [
  'maxBufferSize',
  'http1MaxHeaders',
  'http1IdleTimeout',
  'http2WindowSize',
  'http2ConnectionWindowSize',
  'http2FrameSize',
  'http2MaxHeaderSize',
  'http2KeepaliveInterval',
  'http2KeepaliveTimeout',
  'maxConnectionDuration',
]

const http: Members = {
  ...Object.fromEntries(HTTP_MEMBERS.map((name) => [name, scalar])),
  http1HeaderCase: missing('Portico sends header names in lower case'),
}

const version = choice({ TLS_V1_2: '1.2', TLS_V1_3: '1.3' })

const tls: Members = {
  handshakeTimeout: scalar,
  alpn: ['alpnProtocols', list(protocol)],
  minVersion: ['minProtocolVersion', version],
  maxVersion: ['maxProtocolVersion', version],
  cipherSuites: list((field, scope) => {
    const name = scalar(field, scope)
    return typeof name === 'string' ? name.replace(/^TLS_(?=AES|CHACHA20)/, 'TLS13_') : name
  }),
  keyExchangeGroups: list(scalar),
}

/** Reads the name of an ALPN protocol, which agentgateway files may write as a list of bytes. */
function protocol(field: Field, scope: Scope): unknown {
  if (field.items.length === 0) return scalar(field, scope)
  field.carried()
  return String.fromCodePoint(...field.items.map(({ number }) => number ?? 0))
}

const proxyProtocol = mapping({ version: capitalized('v1', 'v2', 'all'), mode: capitalized('strict', 'optional') })

const TABLE: PolicyTable = {
  http: reader('http', 'extra', mapping(http)),
  tcp: reader('tcp', 'extra', mapping({ keepalives: ['keepalive', keepalive] })),
  tls: reader('tls', 'protection', mapping(tls)),
  networkAuthorization: reader('networkAuthorization', 'protection', authorization('network')),
  networkExtAuthz: reader(
    'networkAuthorization',
    'protection',
    missing('Portico has no authorizer for TCP connections'),
  ),
  proxyProtocol: reader('proxyProtocol', 'protection', proxyProtocol),
  proxy: reader('proxyProtocol', 'protection', proxyProtocol),
  connect: reader(
    'http',
    'extra',
    missing('configure CONNECT tunnels with an upgrades policy: docs/policies/traffic-upgrades.md'),
  ),
  accessLog: reader('accessLog', 'extra', accessLog),
  logging: reader('accessLog', 'extra', accessLog),
  tracing: reader('tracing', 'extra', tracing),
}

export function readFrontend(field: Field | null, scope: Scope): Effects {
  return readPolicies(field, TABLE, scope, 'frontend')
}
