import type { AccessRecord } from '../telemetry/log/access-record.ts'

/** A request that went well. */
export const accessRecord: AccessRecord = {
  listenerName: 'web',
  routeName: 'default/api',
  endpoint: '127.0.0.1:9000',
  srcAddr: '127.0.0.1:5000',
  method: 'GET',
  host: 'example.com',
  target: '/a?b=c',
  version: 'HTTP/1.1',
  status: 200,
  grpcStatus: null,
  sni: 'example.com',
  traceContext: null,
  requestId: null,
  decisionId: null,
  protocol: 'http',
  retryAttempt: 0,
  requestBytes: 0,
  responseBytes: 53,
  error: null,
  reason: 'Upstream',
  startedAt: 0,
  durationMs: 12.4,
  llm: null,
  mcp: null,
}
