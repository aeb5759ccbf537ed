import type { Field } from '../core/yaml-field.ts'
import { memberAt } from './messages/message.ts'

/** Sets notes on the sections of a bootstrap that the importer does not read. */
export function noteBootstrap(root: Field): void {
  for (const [name, note] of Object.entries(NOTES)) memberAt(root, name)?.notCarried(note)
}

const NOTES: Readonly<Record<string, string>> = {
  admin: 'the gateway has an admin API: docs/admin-api.md',
  node: 'the gateway needs no node name, because it has no control plane of Envoy',
  dynamic_resources: 'the resources come from a control plane; export them with the admin server of Envoy',
  cluster_manager: "the gateway's backends have fixed limits: docs/backends.md",
  flags_path: 'the field sets up the process of Envoy',
  stats_sinks: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  stats_config: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  stats_flush_interval: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  stats_flush_on_admin: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  stats_server_version_override: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  watchdog: 'the field sets up the process of Envoy',
  watchdogs: 'the field sets up the process of Envoy',
  tracing: 'configure tracing in frontend.tracing: docs/tracing.md',
  layered_runtime: 'the gateway has no runtime values; the importer used the defaults in the config',
  runtime: 'the gateway has no runtime values; the importer used the defaults in the config',
  overload_manager: 'the gateway has no overload manager',
  enable_dispatcher_stats: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  header_prefix: "the gateway's headers have no prefix",
  use_tcp_for_dns_lookups: "the gateway resolves names with the system's resolver",
  dns_resolution_config: "the gateway resolves names with the system's resolver",
  typed_dns_resolver_config: "the gateway resolves names with the system's resolver",
  bootstrap_extensions: "Envoy's bootstrap extensions have no counterpart",
  fatal_actions: 'the field sets up the process of Envoy',
  config_sources: 'the gateway reads its config only from files',
  default_config_source: 'the gateway reads its config only from files',
  default_socket_interface: 'the field sets up the process of Envoy',
  certificate_provider_instances: 'configure certificate files: docs/tls.md',
  inline_headers: 'the gateway has no registry of headers',
  perf_tracing_file_path: 'the field sets up the process of Envoy',
  default_regex_engine: 'the gateway always uses RE2 patterns',
  xds_delegate_extension: 'the gateway reads its config only from files',
  xds_config_tracker_extension: 'the gateway reads its config only from files',
  listener_manager: 'the field sets up the process of Envoy',
  application_log_config: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  grpc_async_client_manager_config: 'the field sets up the process of Envoy',
  memory_allocator_manager: 'the field sets up the process of Envoy',
  hds_config: 'the gateway sends no health checks',
}
