import type { ConnectionSettings } from '../../../upstream/settings.ts'
import type { BackendTlsConfig } from './schema.ts'

export function applyTls(settings: ConnectionSettings, config: BackendTlsConfig): void {
  settings.tls = { ...config, caCertificateRefs: config.caCertificateRefs?.join('\n') }
}
