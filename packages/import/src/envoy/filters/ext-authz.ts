import { guard } from '../../chain/effects.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import type { Field } from '../../core/yaml-field.ts'
import { isPlainPath } from '../../http/paths.ts'
import { listAt, memberAt, membersOf, runtimePercentOf, takeFlag } from '../messages/message.ts'
import { closing, type FilterReader } from './filter.ts'
import { readGrpcService } from './grpc-service.ts'
import { allowedNames, noteHeaderOptions } from './ext-authz-headers.ts'

/** Reads the filter `ext_authz`: a gRPC or HTTP service that allows or denies requests. */
export const extAuthz: FilterReader = (config, { services }) => {
  const isGrpc = memberAt(config, 'grpc_service') !== null
  const http = memberAt(config, 'http_service')
  const service = readGrpcService(memberAt(config, 'grpc_service') ?? memberAt(http, 'server_uri'), services)
  if (typeof service === 'string') return closing(config, 'ext_authz', service)
  const call = isGrpc ? grpcCall(config) : httpCall(http, config)
  if (typeof call === 'string') return closing(config, 'ext_authz', call)
  noteOptions(config)
  const body = memberAt(config, 'with_request_body')
  const size = memberAt(body, 'max_request_bytes')
  size?.carried()
  memberAt(body, 'allow_partial_message')?.changed('the gateway always sends the beginning of longer bodies')
  memberAt(body, 'pack_as_bytes')?.carried('the gateway sends the body both as text and as bytes')
  const isOpen = takeFlag(config, 'failure_mode_allow')
  const base = {
    backendRef: service.ref,
    ...call,
    forwardBody: body === null ? undefined : { maxSize: Math.max(1, size?.number ?? 8_192) },
    failureMode: isOpen ? 'FailOpen' : undefined,
    timeout: service.seconds === null ? undefined : durationText(service.seconds),
  }
  return (override) => {
    if (takeFlag(override, 'disabled')) return []
    const settings = memberAt(override, 'check_settings')
    const isWithoutBody = takeFlag(settings, 'disable_request_body_buffering')
    const extensions = isGrpc ? contextExtensions(settings) : undefined
    const grpc = 'grpc' in base ? { ...base.grpc, contextExtensions: extensions } : undefined
    const value = withoutAbsent({
      ...base,
      grpc: grpc === undefined ? undefined : withoutAbsent(grpc),
      forwardBody: isWithoutBody ? undefined : base.forwardBody,
    })
    return [guard('extAuth', value, (why) => config.notCarried(why, true))]
  }
}

function grpcCall(config: Field): { grpc: object } {
  const allowed = memberAt(config, 'allowed_headers')
  const names = allowed === null ? null : allowedNames(allowed)
  return { grpc: names === null || names.length === 0 ? {} : { allowedRequestHeaders: names } }
}

function contextExtensions(settings: Field | null): object | undefined {
  const extensions = memberAt(settings, 'context_extensions')
  const found = (extensions?.members ?? []).flatMap(([name, field]) =>
    field.text === null ? [] : [[name, field.text]],
  )
  extensions?.carried()
  return found.length === 0 ? undefined : Object.fromEntries(found.slice(0, 64))
}

/** Headers that Envoy sends to every HTTP authorizer. The gateway sends method, path and host without a setting. */
const ALWAYS_SENT = ['authorization']

function httpCall(http: Field | null, config: Field): { http: object } | string {
  const prefix = memberAt(http, 'path_prefix')
  const text = (prefix?.text ?? '').replace(/\/$/, '')
  if (text !== '' && !isPlainPath(text)) return 'the path of the authorizer contains unsupported characters'
  prefix?.carried()
  const [request, response] = [memberAt(http, 'authorization_request'), memberAt(http, 'authorization_response')]
  // The list of the filter is newer than that of the request to the authorizer.
  const lists = [memberAt(request, 'allowed_headers'), memberAt(config, 'allowed_headers')]
  const sent = [...ALWAYS_SENT, ...lists.flatMap(allowedNames)]
  const copied = allowedNames(memberAt(response, 'allowed_upstream_headers'))
  const added = listAt(request, 'headers_to_add').flatMap((field) => {
    const [name, value] = [memberAt(field, 'key')?.text?.toLowerCase(), memberAt(field, 'value')?.text]
    field.carried()
    return name == null || value == null ? [] : [[name, JSON.stringify(value)]]
  })
  noteHeaderOptions(response)
  return {
    http: withoutAbsent({
      path: text === '' ? undefined : `${JSON.stringify(text)} + request.pathAndQuery`,
      allowedRequestHeaders: [...new Set(sent)].slice(0, 64),
      addRequestHeaders: added.length === 0 ? undefined : Object.fromEntries(added.slice(0, 64)),
      allowedResponseHeaders: copied.length === 0 ? undefined : copied.slice(0, 64),
    }),
  }
}

function noteOptions(config: Field): void {
  for (const [name, field] of membersOf(config)) {
    const note = NOTES[name]
    if (note !== undefined) field.notCarried(note, name === 'disallowed_headers')
  }
  memberAt(config, 'transport_api_version')?.carried()
  const enabled = memberAt(config, 'filter_enabled')
  if (runtimePercentOf(enabled, 100) === 100) enabled?.carried()
  else enabled?.changed('the gateway applies the policy to all requests')
}

const NOTES: Readonly<Record<string, string>> = {
  stat_prefix: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  clear_route_cache: 'the gateway does not choose the route again after the call; configure phase: PreRouting',
  status_on_error: 'the gateway denies requests with status 403 when the call fails',
  failure_mode_allow_header_add: 'the gateway does not send this header',
  metadata_context_namespaces: 'the gateway sends the claims; configure requestMetadata for other values',
  typed_metadata_context_namespaces: 'configure requestMetadata with expressions',
  route_metadata_context_namespaces: "the gateway's routes have no metadata",
  include_peer_certificate: 'the gateway sends the identity in the client certificate, not the certificate',
  include_tls_session: 'the gateway does not send the TLS session',
  bootstrap_metadata_labels_key: 'the gateway does not send labels',
  disallowed_headers:
    'configure allowedRequestHeaders, the list of headers that are sent: docs/policies/traffic-ext-auth.md',
  filter_enabled_metadata: 'configure conditions of the policy',
  deny_at_disable: 'the gateway never disables the call',
  validate_mutations: 'the gateway always validates headers',
  encode_raw_headers: 'the gateway sends headers as text',
  decoder_header_mutation_rules: 'the gateway never lets a service change headers that frame a message',
  charge_cluster_response_stats: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
}
