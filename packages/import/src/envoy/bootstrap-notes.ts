import type { Field } from '../core/yaml-field.ts'
import { memberAt } from './messages/message.ts'

/** Sets notes on the sections of a bootstrap that the importer does not read. */
export function noteBootstrap(root: Field): void {
  for (const [name, note] of Object.entries(NOTES)) memberAt(root, name)?.notCarried(note)
}

const NOTES: Readonly<Record<string, string>> = {
  admin: 'docs/admin-api.md',
  node: 'a gateway has no name for a control plane',
  dynamic_resources: 'resources come from a control plane: export them with the admin server of Envoy',
  cluster_manager: 'backends have fixed limits: docs/backends.md',
  flags_path: 'a setting of the process of Envoy',
  stats_sinks: 'docs/logs-and-metrics.md',
  stats_config: 'docs/logs-and-metrics.md',
  stats_flush_interval: 'docs/logs-and-metrics.md',
  stats_flush_on_admin: 'docs/logs-and-metrics.md',
  stats_server_version_override: 'docs/logs-and-metrics.md',
  watchdog: 'a setting of the process of Envoy',
  watchdogs: 'a setting of the process of Envoy',
  tracing: 'docs/tracing.md',
  layered_runtime: 'there is no runtime: values of the config count',
  runtime: 'there is no runtime: values of the config count',
  overload_manager: 'there is no overload manager',
  enable_dispatcher_stats: 'docs/logs-and-metrics.md',
  header_prefix: 'headers have no prefix',
  use_tcp_for_dns_lookups: 'the system resolves names',
  dns_resolution_config: 'the system resolves names',
  typed_dns_resolver_config: 'the system resolves names',
  bootstrap_extensions: 'extensions of Envoy have no counterpart',
  fatal_actions: 'a setting of the process of Envoy',
  config_sources: 'resources come from files alone',
  default_config_source: 'resources come from files alone',
  default_socket_interface: 'a setting of the process of Envoy',
  certificate_provider_instances: 'certificates are files: docs/tls.md',
  inline_headers: 'headers have no registry',
  perf_tracing_file_path: 'a setting of the process of Envoy',
  default_regex_engine: 'patterns are RE2',
  xds_delegate_extension: 'resources come from files alone',
  xds_config_tracker_extension: 'resources come from files alone',
  listener_manager: 'a setting of the process of Envoy',
  application_log_config: 'docs/logs-and-metrics.md',
  grpc_async_client_manager_config: 'a setting of the process of Envoy',
  memory_allocator_manager: 'a setting of the process of Envoy',
  hds_config: 'there are no health checks',
}
