import { guard } from '../../chain/effects.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import type { Field } from '../../core/yaml-field.ts'
import { enumOf, memberAt, secondsOf, takeFlag } from '../messages/message.ts'
import { closing, type FilterReader } from './filter.ts'
import { readGrpcService } from './grpc-service.ts'

const BODY_MODES: Readonly<Record<string, string>> = {
  NONE: 'None',
  STREAMED: 'Streamed',
  BUFFERED: 'Buffered',
  BUFFERED_PARTIAL: 'BufferedPartial',
  FULL_DUPLEX_STREAMED: 'FullDuplexStreamed',
}

export const extProc: FilterReader = (config, { services }) => {
  const service = readGrpcService(memberAt(config, 'grpc_service'), services)
  if (typeof service === 'string') return closing(config, 'ext_proc', service)
  const options = processingOptions(memberAt(config, 'processing_mode'))
  for (const [name, note] of Object.entries(NOTES)) memberAt(config, name)?.notCarried(note)
  const [message, most] = ['message_timeout', 'max_message_timeout'].map((name) => {
    const field = memberAt(config, name)
    field?.carried()
    return secondsOf(field)
  })
  const value = withoutAbsent({
    backendRef: service.ref,
    processingOptions: withoutAbsent({
      ...options,
      allowModeOverride: takeFlag(config, 'allow_mode_override') ? true : undefined,
    }),
    failureMode: takeFlag(config, 'failure_mode_allow') ? 'FailOpen' : undefined,
    messageTimeout: message == null || message === 0 ? '200ms' : durationText(message),
    maxMessageTimeout: most == null || most === 0 ? undefined : durationText(most),
    observabilityMode: takeFlag(config, 'observability_mode') ? true : undefined,
  })
  return (override) => {
    if (takeFlag(override, 'disabled')) return []
    const overrides = memberAt(override, 'overrides')
    const own = memberAt(overrides, 'processing_mode')
    const found = own === null ? value : { ...value, processingOptions: processingOptions(own) }
    return [guard('extProc', found, (why) => config.notCarried(why, true))]
  }
}

function processingOptions(mode: Field | null): Record<string, unknown> {
  const header = (name: string): string => (enumOf(memberAt(mode, name), 'SEND') === 'SKIP' ? 'Skip' : 'Send')
  const body = (name: string): string => BODY_MODES[enumOf(memberAt(mode, name), 'NONE')] ?? 'None'
  const trailer = (name: string): string => (enumOf(memberAt(mode, name), 'SKIP') === 'SEND' ? 'Send' : 'Skip')
  mode?.carried()
  return {
    requestHeaderMode: header('request_header_mode'),
    requestBodyMode: body('request_body_mode'),
    requestTrailerMode: trailer('request_trailer_mode'),
    responseHeaderMode: header('response_header_mode'),
    responseBodyMode: body('response_body_mode'),
    responseTrailerMode: trailer('response_trailer_mode'),
  }
}

const NOTES: Readonly<Record<string, string>> = {
  stat_prefix: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  request_attributes: 'configure requestAttributes with expressions: docs/external-processing.md',
  response_attributes: 'configure responseAttributes with expressions: docs/external-processing.md',
  mutation_rules: 'the gateway never lets a service change headers that frame a message',
  forward_rules: 'the gateway sends all headers',
  metadata_options: 'configure metadataContext with expressions: docs/external-processing.md',
  disable_clear_route_cache: 'the gateway does not choose the route again after the call',
  route_cache_action: 'the gateway does not choose the route again after the call',
  disable_immediate_response: 'the gateway lets the processor respond to requests',
  filter_metadata: "the gateway's filters have no metadata",
  deferred_close_timeout: 'the gateway closes the stream at the end of the request',
  send_body_without_waiting_for_header_response: 'the gateway sends streamed bodies without waiting',
  allowed_override_modes: 'the gateway lets the processor choose every mode',
}
