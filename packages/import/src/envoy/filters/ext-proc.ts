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
  stat_prefix: 'metrics have other names: docs/logs-and-metrics.md',
  request_attributes: 'requestAttributes have expressions: docs/external-processing.md',
  response_attributes: 'responseAttributes have expressions: docs/external-processing.md',
  mutation_rules: 'headers that frame a message are never changed',
  forward_rules: 'all headers are sent',
  metadata_options: 'metadataContext has expressions: docs/external-processing.md',
  disable_clear_route_cache: 'the route does not change after the call',
  route_cache_action: 'the route does not change after the call',
  disable_immediate_response: 'the processor can respond itself',
  filter_metadata: 'there is no metadata of filters',
  deferred_close_timeout: 'the stream ends with the request',
  send_body_without_waiting_for_header_response: 'streamed bodies do not wait',
  allowed_override_modes: 'all modes are allowed',
}
