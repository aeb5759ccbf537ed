export interface Family {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly string[]
  /** Upper bounds of a histogram, rising; the last bucket (+Inf) is implied. */
  buckets?: readonly number[]
  /**
   * The unit in UCUM, when the name does not end with it (`_seconds`, `_bytes`); counted things are in braces, such
   * as `{request}`.
   */
  unit?: string
}

/** Returns the unit in UCUM: that of the family, the one in its name, or the counted thing in braces. */
export function unitOf(name: string, { unit }: Family): string {
  if (unit !== undefined) return unit
  if (/_seconds(_total)?$/.test(name)) return 's'
  if (/_bytes(_total)?$/.test(name)) return 'By'
  // Converters to Prometheus call a gauge with the unit 1 a ratio; a unit in braces does not change the name.
  return `{${countedBy(name)}}`
}

/** `requests_total` counts requests. */
function countedBy(name: string): string {
  return (
    name
      .replace(/_total$/, '')
      .split('_')
      .at(-1) ?? 'event'
  )
    .replace(/ies$/, 'y')
    .replace(/s$/, '')
}

const REQUEST = ['backend', 'protocol', 'method', 'status', 'reason', 'bind', 'gateway', 'listener', 'route'] as const
/** Models are what clients and providers name them: `model-metrics.ts` bounds the number of sets. */
const MODEL_CALL = [
  'gen_ai_operation_name',
  'gen_ai_system',
  'gen_ai_request_model',
  'gen_ai_response_model',
  'bind',
  'gateway',
  'listener',
  'route',
] as const
/** `provider` is its name in the config; `cause` a status, or the code of what went wrong. */
const PROVIDER_FAILURE = ['provider', 'gen_ai_system', 'cause', 'bind', 'gateway', 'listener', 'route'] as const
/** Tools and resources are what clients and targets name them: `mcp-metrics.ts` bounds the number of sets. */
const MCP_MESSAGE = [
  'method',
  'resource_type',
  'server',
  'resource',
  'outcome',
  'bind',
  'gateway',
  'listener',
  'route',
] as const
const CONNECTION = ['bind', 'gateway', 'listener', 'protocol'] as const

const REQUEST_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 80] as const
const CONNECT_SECONDS = [0.0005, 0.0015, 0.0043, 0.0126, 0.0368, 0.108, 0.316, 0.924, 2.71, 8] as const
const MODEL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92] as const
const FIRST_TOKEN_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
] as const
const PER_TOKEN_SECONDS = [0.001, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5] as const
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864] as const

/** Every metric there is. The names get a prefix when they are shown, see `exposedName`. */
export const families = {
  requests_total: {
    type: 'counter',
    help: 'HTTP requests that were answered or abandoned',
    labels: REQUEST,
  },
  requests_active: {
    type: 'gauge',
    unit: '{request}',
    help: 'HTTP requests whose response has not ended',
    labels: [],
  },
  request_duration_seconds: {
    type: 'histogram',
    help: 'Time from the first byte of a request, or of a TCP connection, to the end of its response',
    labels: REQUEST,
    buckets: REQUEST_SECONDS,
  },
  request_bytes_total: {
    type: 'counter',
    help: 'Bytes of request bodies received from clients',
    labels: REQUEST,
  },
  response_bytes_total: {
    type: 'counter',
    help: 'Bytes of response bodies sent to clients',
    labels: REQUEST,
  },
  retries_total: {
    type: 'counter',
    help: 'Attempts after the first one of a request',
    labels: REQUEST,
  },
  gen_ai_client_token_usage: {
    type: 'histogram',
    unit: '{token}',
    help: 'Tokens of a model call, by type; cached tokens also count as input',
    labels: ['gen_ai_token_type', ...MODEL_CALL],
    buckets: TOKENS,
  },
  llm_cost_usd_total: {
    type: 'counter',
    unit: 'USD',
    help: 'Cost of model calls whose price is known',
    labels: MODEL_CALL,
  },
  llm_cache_requests_total: {
    type: 'counter',
    help: 'Model calls to providers with a response cache, by outcome: hit, miss, bypass',
    labels: ['outcome', ...MODEL_CALL],
  },
  llm_cache_saved_usd_total: {
    type: 'counter',
    unit: 'USD',
    help: 'Cost that answers from the response cache would have had, as far as it is known',
    labels: MODEL_CALL,
  },
  llm_cache_changes_total: {
    type: 'counter',
    unit: '{answer}',
    help: 'Answers of response caches, by store (memory, redis) and event: stored, rejected, evicted, purged',
    labels: ['store', 'event'],
  },
  llm_cache_entries: {
    type: 'gauge',
    unit: '{answer}',
    help: 'Answers in the memory of response caches',
    labels: [],
  },
  llm_cache_bytes: {
    type: 'gauge',
    help: 'Bytes of the answers in the memory of response caches',
    labels: [],
  },
  ledger_entries_total: {
    type: 'counter',
    help: 'Ledger entries, by outcome',
    labels: ['outcome'],
  },
  ledger_unjournaled_entries_total: {
    type: 'counter',
    help: 'Ledger entries that could not be written to the journal, and are lost if the process is killed now',
    labels: [],
  },
  ledger_store_up: {
    type: 'gauge',
    help: 'Whether the store of the ledger works: 1, or 0 while it fails and entries are spooled',
    labels: [],
  },
  key_store_up: {
    type: 'gauge',
    help: 'Whether the keys of the store are checked: 1, or 0 while the store fails and its keys are refused',
    labels: [],
  },
  key_store_entries: {
    type: 'gauge',
    help: 'Keys of the store, old keys of rotations, and teams',
    labels: [],
  },
  gen_ai_server_request_duration: {
    type: 'histogram',
    unit: 's',
    help: 'Seconds from the first byte of a model call to the end of its response',
    labels: MODEL_CALL,
    buckets: MODEL_SECONDS,
  },
  gen_ai_server_time_to_first_token: {
    type: 'histogram',
    unit: 's',
    help: 'Seconds from the first byte of a request to the first token of a streamed answer',
    labels: MODEL_CALL,
    buckets: FIRST_TOKEN_SECONDS,
  },
  gen_ai_server_time_per_output_token: {
    type: 'histogram',
    unit: 's',
    help: 'Seconds from the first token of a streamed answer to its end, divided by its tokens',
    labels: MODEL_CALL,
    buckets: PER_TOKEN_SECONDS,
  },
  gen_ai_provider_failures_total: {
    type: 'counter',
    help: 'Failed calls to a model provider that allow failover, by cause',
    labels: PROVIDER_FAILURE,
  },
  gen_ai_failovers_total: {
    type: 'counter',
    help: 'Failovers to another model provider, by failed provider and cause',
    labels: PROVIDER_FAILURE,
  },
  mcp_requests_total: {
    type: 'counter',
    help: 'MCP messages of clients, by method, item and outcome',
    labels: MCP_MESSAGE,
  },
  mcp_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from the first byte of an MCP request to the end of its response',
    labels: MCP_MESSAGE,
    buckets: REQUEST_SECONDS,
  },
  downstream_connections_total: {
    type: 'counter',
    help: 'Connections accepted from clients, and UDP sessions',
    labels: CONNECTION,
  },
  downstream_connections_refused_total: {
    type: 'counter',
    unit: '{connection}',
    help: 'Connections from clients that were closed instead of served, by reason',
    labels: [...CONNECTION, 'reason'],
  },
  downstream_connections_active: {
    type: 'gauge',
    unit: '{connection}',
    help: 'Connections and UDP sessions of clients that are open now',
    labels: CONNECTION,
  },
  downstream_received_bytes_total: {
    type: 'counter',
    help: 'Bytes received from clients',
    labels: CONNECTION,
  },
  downstream_sent_bytes_total: {
    type: 'counter',
    help: 'Bytes sent to clients',
    labels: CONNECTION,
  },
  downstream_datagrams_received_total: {
    type: 'counter',
    unit: '{datagram}',
    help: 'Datagrams received from clients',
    labels: CONNECTION,
  },
  downstream_datagrams_sent_total: {
    type: 'counter',
    unit: '{datagram}',
    help: 'Datagrams sent to clients',
    labels: CONNECTION,
  },
  downstream_datagrams_dropped_total: {
    type: 'counter',
    unit: '{datagram}',
    help: 'Datagrams of either direction that were not forwarded, by reason',
    labels: [...CONNECTION, 'reason'],
  },
  tls_handshake_duration_seconds: {
    type: 'histogram',
    help: 'Time of TLS handshakes with clients',
    labels: CONNECTION,
    buckets: CONNECT_SECONDS,
  },
  tls_certificate_not_after_seconds: {
    type: 'gauge',
    help: 'Expiry of each listener certificate, in seconds since the epoch',
    labels: ['bind', 'listener', 'use', 'name', 'serial'],
  },
  upstream_connect_duration_seconds: {
    type: 'histogram',
    help: 'Time to open a connection to a backend, with its TLS handshake',
    labels: ['transport'],
    buckets: CONNECT_SECONDS,
  },
  upstream_connect_failures_total: {
    type: 'counter',
    help: 'Connections to backends that could not be opened',
    labels: ['transport'],
  },
  upstream_connections_silent_total: {
    type: 'counter',
    unit: '{connection}',
    help: 'HTTP/2 connections to backends that were closed because a ping was not answered',
    labels: ['transport'],
  },
  upstream_connections_active: {
    type: 'gauge',
    unit: '{connection}',
    help: 'Connections to backends that are open now, including idle ones',
    labels: ['transport'],
  },
  upstream_call_duration_seconds: {
    type: 'histogram',
    help: 'Time from a call to a backend to the head of its response',
    labels: ['kind', 'subtype'],
    buckets: REQUEST_SECONDS,
  },
  callout_duration_seconds: {
    type: 'histogram',
    help: 'Time that a policy waited for an external service',
    labels: ['kind', 'outcome'],
    buckets: REQUEST_SECONDS,
  },
  budget_costs_lost_total: {
    type: 'counter',
    unit: '{request}',
    help: 'Requests whose cost is missing in their budgets, because the budget store was away for too long',
    labels: [],
  },
  inference_picks_total: {
    type: 'counter',
    unit: '{request}',
    help: 'Calls to inference pools by what became of the choice of an endpoint',
    labels: ['backend', 'outcome'],
  },
  rate_limit_keys_without_room_total: {
    type: 'counter',
    unit: '{request}',
    help: 'Requests whose key got no free budget slot of a local limit, by outcome',
    labels: ['policy', 'limit', 'outcome'],
  },
  rehearsals_total: {
    type: 'counter',
    unit: '{request}',
    help: 'Requests and backend calls that were delayed or aborted on purpose',
    labels: ['policy', 'kind'],
  },
  shadow_total: {
    type: 'counter',
    unit: '{request}',
    help: 'Requests that a shadow policy judged, by outcome',
    labels: ['policy', 'route', 'outcome'],
  },
  rehearsal_active: {
    type: 'gauge',
    help: 'Whether `porticoctl rehearse` delays or aborts calls now: 1 or 0',
    labels: [],
  },
  upstream_evictions_total: {
    type: 'counter',
    help: 'Evictions of backend addresses because of their health',
    labels: ['backend'],
  },
  otlp_exported_records_total: {
    type: 'counter',
    help: 'Records that an OTLP collector accepted',
    labels: ['signal'],
  },
  otlp_dropped_records_total: {
    type: 'counter',
    help: 'Records that no OTLP collector accepted, by reason',
    labels: ['signal', 'reason'],
  },
  config_synchronized: {
    type: 'gauge',
    help: 'Whether the running config is the one last read: 1, or 0 after a rejected reload',
    labels: [],
  },
  config_quarantined_units: {
    type: 'gauge',
    help: 'Parts of the live config that are closed because they cannot be compiled',
    labels: [],
  },
  config_verifications_total: {
    type: 'counter',
    help: 'Configs that `config.verify` verified before they went live, by result',
    labels: ['result'],
  },
  config_failed_tests: {
    type: 'gauge',
    help: 'Tests that failed in the last verification of a config',
    labels: ['test'],
  },
  config_generation: {
    type: 'gauge',
    help: 'Number of the running config',
    labels: [],
  },
  config_reloads_total: {
    type: 'counter',
    help: 'Configs read, by result',
    labels: ['result'],
  },
  controller_connected: {
    type: 'gauge',
    help: 'Whether this data plane is connected to its controller: 1 or 0',
    labels: [],
  },
  controller_config_age_seconds: {
    type: 'gauge',
    help: 'Time since a controller last confirmed the running config',
    labels: [],
  },
  controller_configs_total: {
    type: 'counter',
    help: 'Configs received from the controller, by result',
    labels: ['result'],
  },
  mesh_certificate_not_after_seconds: {
    type: 'gauge',
    help: 'Expiry of the mesh certificate, in seconds since the epoch',
    labels: [],
  },
  mesh_certificate_age_seconds: {
    type: 'gauge',
    help: 'Time since the mesh certificate was obtained',
    labels: [],
  },
  mesh_certificate_requests_total: {
    type: 'counter',
    help: 'Requests for a mesh certificate, by result',
    labels: ['result'],
  },
  internal_errors_total: {
    type: 'counter',
    help: 'Unexpected exceptions, by the scope that they ended',
    labels: ['scope'],
  },
  worker_restarts_total: {
    type: 'counter',
    help: 'Workers that died, or were replaced after an internal error',
    labels: [],
  },
  event_loop_lag_seconds: {
    type: 'gauge',
    help: 'Delay of the event loop of a thread',
    labels: ['thread', 'stat'],
  },
  metrics_overflow_total: {
    type: 'counter',
    unit: '{series}',
    help: 'Label sets beyond the limit, counted under the label value "overflow"',
    labels: [],
  },
  build_info: {
    type: 'gauge',
    help: 'The running version; always 1',
    labels: ['tag'],
  },
  process_cpu_seconds_total: {
    type: 'counter',
    help: 'User and system CPU time of the process',
    labels: [],
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    help: 'Resident memory of the process',
    labels: [],
  },
  process_start_time_seconds: {
    type: 'gauge',
    help: 'Start of the process in seconds since the epoch',
    labels: [],
  },
} as const satisfies Record<string, Family>

export type FamilyName = keyof typeof families
export type CounterName = NamesOf<'counter'>
export type GaugeName = NamesOf<'gauge'>
export type HistogramName = NamesOf<'histogram'>

/** One string for each label of the family, in the order of its declaration. */
export type LabelValues<N extends FamilyName> = Strings<(typeof families)[N]['labels']>

export function familyOf(name: FamilyName): Family {
  return families[name]
}

/** Metrics of the process keep the names that dashboards of every program know. */
export function exposedName(name: FamilyName): string {
  return name.startsWith('process_') ? name : `portico_${name}`
}

/** A histogram has a slot for each bucket, then one for +Inf and one for the sum. */
export function slotCount(family: Family): number {
  return family.buckets === undefined ? 1 : family.buckets.length + 2
}

type NamesOf<T extends Family['type']> = {
  [N in FamilyName]: (typeof families)[N]['type'] extends T ? N : never
}[FamilyName]

type Strings<T extends readonly string[]> = { readonly [I in keyof T]: string }

/** The methods that metrics and spans name; all other methods count as one, because clients may send any text. */
export const HTTP_METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
  'QUERY',
] as const
