import type { ConnectionSettings } from '@portico/http/client'
import type { BackendTcpConfig } from './schema.ts'

export function applyTcp(settings: ConnectionSettings, config: BackendTcpConfig): void {
  if (config.connectTimeout !== undefined) settings.connectTimeoutMs = config.connectTimeout
  const keepalive = config.keepalive
  if (keepalive !== undefined) {
    settings.keepalive = { retries: keepalive.retries, timeMs: keepalive.time, intervalMs: keepalive.interval }
  }
}
