import type { ConnectionSettings } from '@portico/http/client'
import type { BackendHttpConfig } from './schema.ts'

export function applyHttp(settings: ConnectionSettings, config: BackendHttpConfig): void {
  settings.version = config.version ?? null
  settings.requestTimeoutMs = config.requestTimeout ?? 0
}
